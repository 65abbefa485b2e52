"""Specs that must pass and specs that must fail: adding a folder to `tests/examples` adds a test.

A good example may list its checks, `# check: ID` a line. A bad one says which problems it has, each as
`# expect: FILE:LINE:COLUMN: fragment of the message`; it has these and no others.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from imlp_audit.errors import Problem, SpecError
from imlp_audit.spec.load import load
from imlp_audit.spec.plan import plan

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


def folders(kind: str) -> list[Path]:
    return sorted(path for path in (EXAMPLES / kind).iterdir() if path.is_dir())


def stated(folder: Path, keyword: str) -> list[str]:
    """What the comments of an example's files say after `# keyword: `."""
    lines = [
        line
        for file in sorted(folder.rglob("*.y*ml"))
        for line in file.read_text(encoding="utf-8", errors="replace").splitlines()
    ]
    return [line.removeprefix(f"# {keyword}: ") for line in lines if line.startswith(f"# {keyword}: ")]


def test_there_are_examples_of_both_kinds() -> None:
    assert len(folders("good")) >= 5
    assert len(folders("bad")) >= 20


@pytest.mark.parametrize("folder", folders("good"), ids=lambda folder: folder.name)
def test_a_good_example_loads_and_has_the_checks_it_lists(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    selection = load(["."])
    checks = [check.id for paper in selection.papers for check in plan(paper, selection.known)]
    assert checks == (stated(folder, "check") or checks)
    assert len(checks) == len(set(checks)) > 0


@pytest.mark.parametrize("folder", folders("bad"), ids=lambda folder: folder.name)
def test_a_bad_example_has_the_problems_it_states_and_no_others(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    with pytest.raises(SpecError) as caught:
        load(["."])
    expected = stated(folder, "expect")
    assert expected, "the example does not say what is wrong with it"
    missed, surplus = unmatched(expected, list(caught.value.problems))
    assert (missed, surplus) == ([], [])


def unmatched(expected: list[str], problems: list[Problem]) -> tuple[list[str], list[str]]:
    """Pair expectations with problems one to one; return what is left of each."""
    surplus, missed = list(map(str, problems)), []
    for line in expected:
        place, _, fragment = line.partition(": ")
        found = next((told for told in surplus if told.startswith(f"{place}: ") and fragment in told), None)
        if found is None:
            missed.append(line)
        else:
            surplus.remove(found)
    return missed, surplus


@pytest.mark.parametrize("folder", folders("bad"), ids=lambda folder: folder.name)
def test_problems_are_reported_once_in_file_order_and_in_words(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    with pytest.raises(SpecError) as caught:
        load(["."])
    problems = caught.value.problems
    assert list(problems) == sorted(set(problems))
    for problem in problems:
        assert problem.line >= 1
        assert problem.column >= 1
        assert not any(word in problem.message for word in ("Tuple", "tuple", "dict[", "pydantic", "NoneType"))
