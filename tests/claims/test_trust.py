"""A paper's Python runs only where its folder is trusted by its content or by where it lies, or by the user's word."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import imlp_audit
from imlp_audit.claims.settings import Settings
from imlp_audit.pipeline import Options, audit, audit_equations
from imlp_audit.processes import code as installed
from imlp_audit.processes.code import bundled_folder, is_bundled, load_module
from imlp_audit.records.check import EquationCheck, Verdict
from imlp_audit.spec.load import digest_selection, load
from tests.bundled import bundled_papers
from tests.cli.running import call

PAPER = "paper: {id}\nabout: {{title: A paper, authors: A. Author, version: v1}}\n"
TABLE = """paper: {id}
table: "1"
title: Models
source: {{section: "4"}}
columns:
  params: {{measure: parameters, unit: M, heading: Parameters (M)}}
rows:
  - {{id: tiny, label: Tiny, model: {{timm: deit_tiny_patch16_224}}, printed: {{params: 5.72}}}}
"""
CLAIMS = """import pathlib
from imlp_audit.claims import claim, tensors
from ._helpers import double

pathlib.Path(__file__).with_name("marker").touch()
print("something on standard output")


@claim(x=tensors(), place="Eq. 1", printed="2 x = x + x")
def twice(x):
    '''Two times x is x plus x.'''
    return double(x), x + x


@claim(x=tensors(), place="Eq. 2", printed="x^2 = 2 x", nearest="twice")
def square(x):
    '''The square of x is two times x.'''
    return x * x, double(x)
"""
ONE = """
@claim(x=tensors(), place="Eq. 9", printed="x")
def {name}(x):
    '''Words.'''
    {body}
"""
IMPORTS = "from imlp_audit.claims import claim, tensors\n"


def write_paper(folder: Path, name: str = "mine", **modules: str) -> Path:
    """Write a paper of one table, with modules of claims."""
    (folder / "claims").mkdir(parents=True)
    (folder / "paper.yaml").write_text(PAPER.format(id=name))
    (folder / "table1.yaml").write_text(TABLE.format(id=name))
    for module, text in modules.items():
        (folder / "claims" / f"{module}.py").write_text(text)
    return folder


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    return write_paper(tmp_path / "mine", sec1=CLAIMS, _helpers="def double(x):\n    return 2 * x\n")


def was_run(paper: Path) -> bool:
    return (paper / "claims" / "marker").exists()


def equations(paper: Path, settings: Settings) -> dict[str, Any]:
    result = audit_equations(load([str(paper)]), (), settings, lambda _: lambda _: None)
    return {check.id.rpartition("/")[2]: check for check in result.checks}


def test_without_trust_the_checks_are_unverifiable_and_the_python_is_not_run(mine: Path) -> None:
    result = audit(load([str(mine)]), Options(only=("mine/equations/*",), jobs=1), lambda _: lambda _: None)
    assert [(check.id, check.verdict) for check in result.checks] == [
        ("mine/equations/square", Verdict.UNVERIFIABLE), ("mine/equations/twice", Verdict.UNVERIFIABLE)
    ]  # fmt: skip
    assert result.checks[0].reason == (
        f"the Python in {mine} was not run, because the folder is not trusted; pass --trust-code to run it"
    )
    assert result.of_kind(EquationCheck)[1].statement == "Two times x is x plus x."
    assert not was_run(mine)


def test_list_and_lint_run_nothing(mine: Path) -> None:
    assert "mine/equations/twice" in call("list", str(mine)).out
    assert call("lint", str(mine)).code == 0
    assert not was_run(mine)


def test_with_trust_a_users_own_paper_has_equations(mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(mine.parent)
    done = call("verify", "mine", "--trust-code", "--skip", "mine/1/*", "-f", "json", "--no-progress")
    found: dict[str, Any] = {check["id"]: check for check in json.loads(done.out)["checks"]}
    assert found["mine/equations/twice"]["verdict"] == "reproduced"
    square = found["mine/equations/square"]
    assert (square["verdict"], square["counterexample"]) == ("differs", ["x = 1", "left = 1", "right = 2"])
    assert square["hints"] == ["what holds is mine/equations/twice: 2 x = x + x"]
    assert square["source"] == {"file": "mine/claims/sec1.py", "line": 16}
    assert done.code == 1
    assert was_run(mine)


@pytest.mark.slow
def test_properties_takes_a_users_folder(mine: Path) -> None:
    done = call("properties", str(mine), "twice", "--trust-code", "--examples", "5", "-f", "json")
    assert [check["verdict"] for check in json.loads(done.out)["checks"]] == ["reproduced"]
    assert done.code == 0


@pytest.mark.parametrize("name", ["imlp", "specs"])
def test_neither_a_papers_id_nor_its_place_below_here_is_trust(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    paper = write_paper(tmp_path / "specs" / name, name, sec1=CLAIMS, _helpers="double = abs\n")
    found = equations(paper, Settings())
    assert {check.verdict for check in found.values()} == {Verdict.UNVERIFIABLE}
    assert not was_run(paper)


def test_a_link_to_a_trusted_folder_is_trusted_and_a_link_from_there_is_not(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(bundled_folder() / "imlp")
    assert is_bundled(tmp_path / "link")
    assert not is_bundled(tmp_path)
    assert not is_bundled(bundled_folder() / ".." / "tests")
    assert not is_bundled(bundled_folder() / "atlas_code" / "vim")  # where an author's code is cloned


@pytest.fixture
def copy(mine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of an installed paper in ./specs."""
    package = tmp_path / "site" / "imlp_audit"
    (package / "_specs").mkdir(parents=True)
    mine.rename(package / "_specs" / "mine")
    shutil.copytree(package / "_specs", tmp_path / "here" / "specs")
    monkeypatch.setattr(installed, "PACKAGE", package)
    monkeypatch.chdir(tmp_path / "here")
    return Path("specs", "mine")


def installed_paper(name: str = "mine") -> Path:
    return bundled_folder() / name


def test_of_a_copy_of_an_installed_paper_the_installed_python_runs_with_the_copys_yaml(copy: Path) -> None:
    table = copy / "table1.yaml"
    table.write_text(table.read_text(encoding="utf-8").replace("title: Models", "title: Our models"), encoding="utf-8")
    selection = load()
    assert selection.papers[0].tables[0].value.title == "Our models"
    found = equations(copy, Settings())
    assert {name: check.verdict.value for name, check in found.items()} == {"square": "differs", "twice": "reproduced"}
    assert found["twice"].source.file == "specs/mine/claims/sec1.py"
    assert was_run(installed_paper())
    assert not was_run(copy)


def link_file(copy: Path) -> None:
    (copy / "claims" / "sec1.py").unlink()
    (copy / "claims" / "sec1.py").symlink_to(installed_paper() / "claims" / "sec1.py")


def link_folder(copy: Path) -> None:
    (copy / "more").symlink_to(installed_paper() / "claims")


def make_fifo(copy: Path) -> None:
    (copy / "claims" / "_helpers.py").unlink()
    os.mkfifo(copy / "claims" / "_helpers.py")


def edit(copy: Path) -> None:
    (copy / "claims" / "_helpers.py").write_text("def double(x):\n    return 3 * x\n")


CHANGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "an edit of the same length": (edit, "claims/_helpers.py differs from the installed one"),
    "one more file": (
        lambda copy: (copy / "net.py").touch(), "net.py is not part of the installed paper"
    ),
    "a file is gone": (
        lambda copy: (copy / "claims" / "_helpers.py").unlink(),
        "claims/_helpers.py of the installed paper is missing",
    ),
    "a link to the installed file": (link_file, "claims/sec1.py differs from the installed one"),
    "a link to a folder": (link_folder, "more is not part of the installed paper"),
    "a pipe": (make_fifo, "claims/_helpers.py differs from the installed one"),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_a_copy_that_differs_is_not_run_and_one_line_says_in_which_file(copy: Path, change: str) -> None:
    make, why = CHANGES[change]
    assert digest_selection(load()) is not None  # its results are kept
    make(copy)
    line = f"the Python in specs/mine was not run, because {why}; pass --trust-code to run it"
    done = call("verify", "--only", "mine/equations/*", "-f", "json", "--no-progress", "--no-cache")
    assert done.err == f"imlp-audit: {line}\n"
    assert {check["reason"] for check in json.loads(done.out)["checks"]} == {line}
    assert not was_run(copy)
    assert not was_run(installed_paper())
    assert digest_selection(load()) is None
    assert "was not run" not in call("list").err  # which runs nothing


def test_what_is_kept_depends_on_the_python_that_runs(copy: Path) -> None:
    before = digest_selection(load())
    for folder in (copy, installed_paper()):
        edit(folder)
    assert digest_selection(load()) not in (before, None)


@pytest.mark.slow
def test_with_trust_a_copy_that_differs_is_run(copy: Path) -> None:
    edit(copy)
    done = call("verify", "--only", "mine/equations/twice", "--trust-code", "-f", "json", "--no-cache")
    assert [check["verdict"] for check in json.loads(done.out)["checks"]] == ["differs"]
    assert "was not run" not in done.err
    assert was_run(copy)


def test_no_command_writes_into_an_installed_paper(copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = installed_paper()
    before = {path.name for path in installed.rglob("*")}
    monkeypatch.chdir(tmp_path)  # without ./specs
    for arguments in ([], ["mine"], [str(installed)]):
        done = call("acknowledge", *arguments, "--no-progress")
        assert done.code == 2
        assert "acknowledge writes only into a folder of yours" in done.err
    assert {path.name for path in installed.rglob("*")} == before
    done = call("acknowledge", "here/specs/mine", "--no-progress", "--no-cache")
    assert done.code == 0


def test_two_papers_with_modules_of_one_name_do_not_meet(tmp_path: Path) -> None:
    one, other = (write_paper(tmp_path / name, sec1=f"NAME = '{name}'\n") for name in ("one", "other"))
    names = [load_module(folder, "claims.sec1").NAME for folder in (one, other)]
    assert names == ["one", "other"]
    assert "sec1" not in sys.modules


BROKEN = {
    "a_imports": IMPORTS + "import no_such_module\n" + ONE.format(name="lost", body="return x == x"),
    "b_dies": IMPORTS + ONE.format(name="dies", body="import os; os._exit(7 + 0 * len([x]))"),
    "c_raises": IMPORTS + ONE.format(name="raises", body="return 1 / 0 == x"),
    "d_good": IMPORTS + ONE.format(name="good", body="return x == x"),
    "e_unread": "def\n",
    "f_exits": IMPORTS + "raise SystemExit\n" + ONE.format(name="leaves", body="return x == x"),
}


@pytest.mark.slow
def test_a_module_that_cannot_be_imported_is_an_error_and_the_rest_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    modules = {name: BROKEN[name] for name in ("a_imports", "d_good")}
    found = equations(write_paper(Path("mine"), **modules), Settings(trust_code=True))
    assert found["lost"].verdict is Verdict.ERROR
    assert found["lost"].reason.startswith("mine/claims/a_imports.py:2: ModuleNotFoundError: ")
    assert found["good"].verdict is Verdict.REPRODUCED


@pytest.mark.slow
def test_what_is_broken_is_an_error_and_the_rest_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = equations(write_paper(Path("mine"), **BROKEN), Settings(trust_code=True))
    reasons = {name: check.reason for name, check in found.items() if check.verdict is Verdict.ERROR}
    assert reasons == {
        "dies": "mine/claims/b_dies.py:4: its process ended (exit code 7)",
        "e_unread": "mine/claims/e_unread.py:1: is not Python: invalid syntax",
        "leaves": "mine/claims/f_exits.py:2: SystemExit: ",
        "lost": "mine/claims/a_imports.py:2: ModuleNotFoundError: No module named 'no_such_module'",
        "raises": "mine/claims/c_raises.py:6: ZeroDivisionError: division by zero (for x = 0)",
    }
    assert found["good"].verdict is Verdict.REPRODUCED


@pytest.mark.slow
def test_what_hangs_is_an_error_and_the_rest_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    sleeping = IMPORTS + "from time import sleep\n"  # a loop without it would keep a core from other tests
    modules = {
        "a_import": sleeping + ONE.format(name="at_import", body="return x == x") + "while True:\n    sleep(1)\n",
        "b_judge": sleeping + ONE.format(name="at_run", body="\n    while x is not None:\n        sleep(1)"),
        "c_good": IMPORTS + ONE.format(name="good", body="return x == x"),
    }
    patient = Settings(examples=10, patience=8.0, trust_code=True, jobs=2)
    found = equations(write_paper(Path("mine"), **modules), patient)
    assert {name: check.verdict.value for name, check in found.items()} == {
        "at_import": "error", "at_run": "error", "good": "reproduced"
    }  # fmt: skip
    assert found["at_import"].reason == ("mine/claims/a_import.py:5: did not respond for 8 s and was stopped")


def test_a_paper_that_shares_its_folder_with_another_has_no_python(mine: Path) -> None:
    (mine / "other.yaml").write_text(PAPER.format(id="other"))
    (paper,) = load([str(mine / "paper.yaml")]).papers
    assert (paper.folder, paper.equations) == (None, ())


def test_the_engine_imports_nothing_of_a_paper_and_names_none_as_a_paper() -> None:
    """`imlp` and `resmlp` are also names of blocks and hosts; the names of the others stand for papers alone."""
    alone = set(bundled_papers()) - {"imlp", "resmlp"}
    package = Path(imlp_audit.__file__).parent
    for path in package.rglob("*.py"):
        if "_specs" in path.parts:
            continue
        text = path.read_text(encoding="utf-8")
        assert [name for name in alone if name in text] == [], path
        assert not re.search(r"^\s*(from|import) specs\b", text, re.MULTILINE), path
