"""Commands that need only the base dependencies, and what the others say in such an environment."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from imlp_audit.cli.main import MODELS, PDF, missing_library
from imlp_audit.records.base import to_json
from imlp_audit.report.formats import AuditFormat
from tests.report.results import result

from .light import PROJECT, TOOLS, base_distributions, make_light, run_light
from .papers import TOP1, write

MISSING = "imlp-audit: this needs {}, which is not installed; run: pip install 'imlp-audit[models]'\n"


@pytest.fixture(scope="module")
def light(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment without the libraries of `models`."""
    return make_light(tmp_path_factory.mktemp("light") / "site")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a paper that has no model."""
    write(tmp_path, "scores", TOP1, "{id: a, label: A, printed: {top1: 72.2}}")
    return tmp_path


def test_the_libraries_are_those_of_the_extra() -> None:
    models = [Requirement(text).name for text in PROJECT["optional-dependencies"]["models"]]
    assert sorted(MODELS.values()) == sorted(models)
    assert not base_distributions() & set(models)
    assert {Requirement(text).name for text in PROJECT["optional-dependencies"]["pdf"]} == set(PDF.values())
    assert [name for name in (*MODELS, *PDF) if find_spec(name) is None] == []


def test_lint_imports_forbids_them_where_specs_are_read() -> None:
    contracts = TOOLS["importlinter"]["contracts"]
    (fast,) = [contract for contract in contracts if contract["name"].startswith("Parts that must start fast")]
    assert set(fast["forbidden_modules"]) == MODELS.keys()


def test_a_spec_is_linted_without_them(light: Path, folder: Path) -> None:
    done = run_light(light, "lint", cwd=folder)
    assert (done.code, done.out.strip(), done.err) == (0, "scores:  1 table, 1 check, 0 findings: no problems", "")


def test_verify_says_what_is_missing_and_how_to_install_it(light: Path, folder: Path) -> None:
    done = run_light(light, "verify", cwd=folder)
    assert (done.code, done.out, done.err) == (3, "", MISSING.format("torch"))


@pytest.mark.slow
def test_a_result_is_reported_without_them(light: Path, tmp_path: Path) -> None:
    (tmp_path / "audit.json").write_text(to_json(result()), encoding="utf-8")
    outputs = [word for form in AuditFormat for word in ("-o", f"{form}:{form}")]
    done = run_light(light, "report", "--from", "audit.json", *outputs, cwd=tmp_path)
    assert (done.code, done.out) == (3, ""), "the result has a check with an error"
    assert [form for form in AuditFormat if not (tmp_path / form).stat().st_size] == []
    compared = run_light(light, "diff", "audit.json", "audit.json", cwd=tmp_path)
    assert (compared.code, compared.out, compared.err) == (0, "No difference.\n", "")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "library"),
    [
        ("properties", "torch"),  # other processes would run into it one by one
        ("demo paper", "torch"),
        ("solve imlp", "numpy"),
    ],
)
def test_each_command_names_what_is_missing(light: Path, tmp_path: Path, command: str, library: str) -> None:
    done = run_light(light, *command.split(), cwd=tmp_path)
    assert (done.code, done.out, done.err) == (3, "", MISSING.format(library))
    assert list(tmp_path.iterdir()) == [], "nothing is left half done"


@pytest.mark.parametrize("name", ["a_library_of_a_paper", "torch.no_such_part", "imlp_audit.typo", ""])
def test_any_other_module_that_is_missing_is_a_bug(name: str) -> None:
    assert missing_library(ModuleNotFoundError(f"No module named {name!r}", name=name or None)) is None
