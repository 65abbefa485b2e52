"""The action, the hook and the workflow: that they are sound, and that the documentation shows them as they are."""

from __future__ import annotations

import ast
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

from imlp_audit import __version__
from imlp_audit.report.formats import AuditFormat
from tests.cli.light import PROJECT

ROOT = Path(__file__).parent.parent
SOURCE = PROJECT["urls"]["Repository"]
SLUG = SOURCE.removeprefix("https://github.com/")
ACTION, WORKFLOW = ROOT / "action.yml", ROOT / ".github/workflows/ci.yml"
PAGES = [ROOT / "README.md", ROOT / "docs/ci.md"]
PYTHON = "Programming Language :: Python :: "
STUB = '#!/bin/bash\nprintf \'%s\\0\' "$0" "$@" >>"$CALLS"; printf \'\\n\' >>"$CALLS"\n'


def load(path: Path) -> Any:  # noqa: ANN401  # YAML of others' formats
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def steps(path: Path) -> list[dict[str, Any]]:
    """The steps of the action, or of all jobs of a workflow."""
    document = load(path)
    jobs = [document["runs"]] if "runs" in document else document["jobs"].values()
    return [step for job in jobs for step in job["steps"]]


def examples(page: Path) -> list[Any]:
    """The examples in a page that show the action or the hook."""
    blocks = re.findall(r"^```yaml\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)
    return [yaml.safe_load(block) for block in blocks if SLUG in block]


def used(example: Any) -> list[dict[str, Any]]:  # noqa: ANN401
    """The steps of an example that use the action."""
    found = example if isinstance(example, list) else [s for job in example["jobs"].values() for s in job["steps"]]
    return [step for step in found if step.get("uses", "").startswith(f"{SLUG}@")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_use_the_action_and_the_hook_as_they_are(page: Path) -> None:
    of_the_action = [step for one in examples(page) if "repos" not in one for step in used(one)]
    assert of_the_action
    for step in of_the_action:
        assert step["uses"] == f"{SLUG}@v{__version__}"
        assert set(step["with"]) <= set(load(ACTION)["inputs"])
        assert {name for name, one in load(ACTION)["inputs"].items() if one.get("required")} <= set(step["with"])
    (of_the_hook,) = [one["repos"] for one in examples(page) if "repos" in one]
    (repository,) = of_the_hook
    assert (repository["repo"], repository["rev"]) == (SOURCE, f"v{__version__}")
    assert [hook["id"] for hook in repository["hooks"]] == [
        hook["id"] for hook in load(ROOT / ".pre-commit-hooks.yaml")
    ]


def test_one_source_is_named_everywhere() -> None:
    text = "".join(
        page.read_text(encoding="utf-8") for page in [*PAGES, ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md"]
    )
    sources = re.findall(r"git\+(https://[^@'\s]+)", text)
    assert sources
    assert set(sources) == {SOURCE}
    assert {url for url in PROJECT["urls"].values() if not url.startswith(SOURCE)} == set()


def test_every_input_of_the_action_is_documented_with_its_default() -> None:
    rows = re.findall(r"^\| `([a-z-]+)` \| ([^|]+) \| [^|]+\|$", PAGES[1].read_text(encoding="utf-8"), re.M)
    stated = {name: one.get("default") for name, one in load(ACTION)["inputs"].items()}
    written = {None: "required", "": "empty"}
    assert rows == [(name, written.get(value) or f"`{value}`") for name, value in stated.items()]


def test_formats_that_are_named_exist() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in [*PAGES, ACTION])
    named = re.findall(r"-f ([a-z]+)", text) + re.findall(r"-o \"?([a-z]+):", text)
    named += re.findall(r"^\| `([a-z]+)(?::audit\.[a-z]+)?` \|", text.partition("| format | for |")[2], re.M)
    assert {"github", "sarif"} <= set(named) <= set(AuditFormat)


@pytest.mark.parametrize("path", [ACTION, WORKFLOW], ids=lambda path: path.name)
def test_steps_are_sound(path: Path) -> None:
    for step in steps(path):
        if "run" in step:
            assert "${{" not in step["run"], "an input in the text of a script can run commands"
            subprocess.run(["bash", "-n"], input=step["run"], text=True, check=True)
        else:
            assert step["uses"] == "./" or re.fullmatch(r"[\w.-]+/[\w./-]+@v\d+", step["uses"])


def test_the_workflow_runs_what_ci_runs_on_each_python() -> None:
    (matrix,) = [job["strategy"]["matrix"] for job in load(WORKFLOW)["jobs"].values() if "strategy" in job]
    assert f">={matrix['python-version'][0]}" == PROJECT["requires-python"]
    stated = [text.removeprefix(PYTHON) for text in PROJECT["classifiers"] if text.startswith(PYTHON)]
    assert matrix["python-version"] == stated == ["3.11", "3.12", "3.13"]
    scripts = [ROOT / step["run"] for step in steps(WORKFLOW) if step.get("run", "").startswith(".ci/")]
    assert [os.access(script, os.X_OK) for script in scripts] == [True]
    (own,) = [step for step in steps(WORKFLOW) if step.get("uses") == "./"]
    assert set(own["with"]) <= set(load(ACTION)["inputs"])


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("specs/imlp/table1.yaml", True),
        ("paper/specs/mine.yml", True),
        ("specs/imlp/findings.lock", True),
        ("specs/imlp/claims/learned_weights.py", False),
        ("myspecs/a.yaml", False),
        ("action.yml", False),
    ],
)
def test_the_hook_takes_specs(path: str, wanted: bool) -> None:
    (hook,) = load(ROOT / ".pre-commit-hooks.yaml")
    assert (re.search(hook["files"], path) is not None) == wanted
    assert hook["entry"].split() == ["imlp-audit", "lint"]


def run_action(folder: Path, name: str, **inputs: str) -> tuple[subprocess.CompletedProcess[str], list[list[str]]]:
    """Run a step of the action as a runner does, with commands that only write down how they were called."""
    (step,) = [step for step in steps(ACTION) if step.get("name") == name]
    defaults = {name: one.get("default", "") for name, one in load(ACTION)["inputs"].items()}
    values = {
        f"${{{{ inputs.{name} }}}}": inputs.get(name.replace("-", "_"), given) for name, given in defaults.items()
    }
    calls = folder / "calls"
    for command in ("python", "imlp-audit"):
        (folder / command).write_text(STUB, encoding="utf-8")
        (folder / command).chmod(0o755)
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]],
        cwd=folder,
        env={
            **{variable: values.get(text, text) for variable, text in step["env"].items()},
            "PATH": f"{folder}:{os.environ['PATH']}",
            "CALLS": str(calls),
            "GITHUB_ACTION_PATH": "/an action/v1",
            "GITHUB_STEP_SUMMARY": "/a summary",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    lines = calls.read_text(encoding="utf-8").splitlines() if calls.exists() else []
    return done, [line.split("\0")[1:-1] for line in lines]


def test_the_action_passes_its_inputs_on_and_runs_nothing_in_them(tmp_path: Path) -> None:
    specs = "a paper.yaml\n\n$(touch planted)\n--trust-code\n*\n"
    done, calls = run_action(
        tmp_path, "Audit", specs=specs, args="--strict  --only */1/*\n`touch planted`;", sarif="a b"
    )
    assert done.returncode == 0
    assert calls == [
        ["verify", "--no-progress", "-f", "github", "-o", "sarif:a b", "-o", "markdown:/a summary", "--strict",
         "--only", "*/1/*", "`touch", "planted`;", "--", "a paper.yaml", "$(touch planted)", "--trust-code", "*"]
    ]  # fmt: skip
    assert not (tmp_path / "planted").exists()


def test_the_action_wants_specs(tmp_path: Path) -> None:
    done, calls = run_action(tmp_path, "Audit", specs="\n")
    assert (done.returncode, calls) == (2, [])
    assert "the input specs is empty" in done.stdout


def test_the_action_installs_its_own_copy_with_the_cpu_build_of_torch(tmp_path: Path) -> None:
    pip = ["-m", "pip", "install", "--quiet"]
    torch = [*pip, "--index-url", "https://download.pytorch.org/whl/cpu", "torch", "torchvision"]
    assert run_action(tmp_path, "Install")[1] == [torch, [*pip, "/an action/v1[models]"]]
    (tmp_path / "calls").unlink()
    wanted = "imlp-audit[models]==0.1.0"
    assert run_action(tmp_path, "Install", install=wanted, torch_index="")[1] == [[*pip, wanted]]


def test_a_class_name_is_defined_once() -> None:
    found: dict[str, list[str]] = {}
    for path in sorted((ROOT / "imlp_audit").rglob("*.py")):
        if "_specs" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, []).append(path.relative_to(ROOT).as_posix())
    assert {name: paths for name, paths in found.items() if len(paths) > 1} == {}


_IMPORTED_AS = {
    "markdown-it-py": "markdown_it",
    "axe-playwright-python": "axe_playwright_python",
    "pillow": "PIL",
    "pyyaml": "yaml",
    "scikit-learn": "sklearn",
}
_RUN = {"import-linter": "lint-imports", "mypy": "mypy", "ruff": "ruff check", "pytest-xdist": "pytest -n"}


def test_what_a_spec_is_read_to_and_what_is_counted_and_judged_cannot_be_changed() -> None:
    folders = [ROOT / "imlp_audit" / name for name in ("numbers", "checks", "spec")]
    changeable = {
        node.name
        for folder in folders
        for path in folder.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
        and any(
            "dataclass" in ast.unparse(one) and "frozen=True" not in ast.unparse(one) for one in node.decorator_list
        )
    }
    assert changeable == {"PaperReader"}  # it collects what it finds, within one function


def test_every_dependency_is_imported_by_the_package_or_serves_the_tests() -> None:
    imported = {folder: _imports(ROOT / folder) for folder in ("imlp_audit", "specs", "tests", "docs", "benchmarks")}
    ci = "".join((ROOT / name).read_text(encoding="utf-8") for name in (".ci/run", "README.md"))
    extras = PROJECT["optional-dependencies"]
    shipped = {_name(text) for text in (*PROJECT["dependencies"], *extras["models"], *extras["pdf"])}
    assert {
        one for one in shipped if _IMPORTED_AS.get(one, one) not in imported["imlp_audit"] | imported["specs"]
    } == set()
    tools = {_name(text) for text in extras["dev"]} - {"imlp-audit"}
    needed = {one for one in tools if not one.startswith("types-") and not (one in _RUN and _RUN[one] in ci)}
    assert {one for one in needed if _IMPORTED_AS.get(one, one) not in set().union(*imported.values())} == set()


def _name(requirement: str) -> str:
    return Requirement(requirement).name.lower()


def _imports(folder: Path) -> set[str]:
    """Return the libraries that a folder's modules import."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in folder.rglob("*.py"))
    return set(re.findall(r"(?:^\s*(?:import|from) |importorskip\(\")(\w+)", text, re.MULTILINE))
