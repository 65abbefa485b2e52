"""A statement that a paper shares with another is printed in its own words and tested as the other's claim."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from imlp_audit.claims.catalogue import BrokenClaim, ClaimText
from imlp_audit.errors import SpecError, UsageError
from imlp_audit.spec.load import load, select_equations
from imlp_audit.spec.plan import EquationPlan, claims_of

from .papers import about, write_paper

CLAIM = """
@claim(place="Eq. 1", printed="{name} = x", tolerance=1e-3, because="of {name}")
def {name}():
    '''{name} in words.'''
"""
ENTRY = "  - {{id: {id}, same_as: {same_as}, text: In our words., place: Eq. 9, {more}}}\n"


def write(root: Path, paper: str, *names: str, entries: str = "") -> None:
    """Write a paper with claims of its own, and with statements that it shares."""
    folder = write_paper(root / "specs", paper)
    (folder / "claims").mkdir()
    code = "".join(CLAIM.format(name=name) for name in names)
    (folder / "claims" / "sec1.py").write_text(f"from imlp_audit.claims import claim\n{code}")
    shared = f"equations:\n{entries}" if entries else ""
    (folder / "paper.yaml").write_text(f"{about(paper)}{shared}", encoding="utf-8")


def entry(more: str = "printed: y = x", *, name: str = "mine", same_as: str = "theirs/equations/second") -> str:
    return ENTRY.format(id=name, same_as=same_as, more=more)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to stand in, with a paper that has three claims."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "theirs", "first", "second", "third")
    return tmp_path


@pytest.mark.parametrize(
    ("more", "form", "literal", "nearest"),
    [
        ("printed: y = x", "y = x", True, None),
        ("corrected: y = 2 x", "y = 2 x", False, None),
        ("printed: y = x, nearest: own", "y = x", True, "own"),
    ],
)
def test_a_shared_statement_has_its_papers_words_and_the_others_code(
    here: Path, more: str, form: str, literal: bool, nearest: str | None
) -> None:
    write(here, "ours", "own", entries=entry(more))
    selection = load(["ours"])
    claims = claims_of(selection.papers[0], selection.known)
    assert list(claims) == ["mine", "own"]
    claim = claims["mine"]
    assert isinstance(claim, ClaimText)
    assert (claim.id, claim.statement, claim.place) == ("ours/equations/mine", "In our words.", "Eq. 9")
    assert (claim.form, claim.literal, claim.nearest) == (form, literal, nearest)
    (plan,) = select_equations(selection, ["ours/equations/mine"])
    assert isinstance(plan, EquationPlan)
    assert (plan.nearest and plan.nearest.id) == (nearest and f"ours/equations/{nearest}")
    assert claim.tolerance == "0.001: of second"
    assert (claim.file, claim.line) == ("specs/ours/paper.yaml", 4)
    assert (claim.code.function, claim.code.file) == ("second", "specs/theirs/claims/sec1.py")


@pytest.mark.parametrize(
    ("entries", "problem"),
    [
        (entry(name="own"), "4:10: a function of the paper's equations is called 'own' already"),
        (
            entry(same_as="theirs/equations/secnd"),
            "4:25: no equation is called 'theirs/equations/secnd'; did you mean 'theirs/equations/second'?",
        ),
        (entry("printed: y = x, nearest: onw"), "4:110: the paper has no equation called 'onw'; did you mean 'own'?"),
        (entry("printed: y = x, nearest: mine"), "4:110: the paper has no equation called 'mine'; known: own"),
        (entry() + entry(), "5:10: the id 'mine' is taken already"),
        (entry("nearest: own"), "4:5: give exactly one of printed, corrected; given: none"),
    ],
)
def test_what_cannot_be_shared_is_a_problem_at_its_place(here: Path, entries: str, problem: str) -> None:
    write(here, "ours", "own", entries=entries)
    with pytest.raises(SpecError) as caught:
        load(["ours"])
    (found,) = caught.value.problems
    assert str(found).startswith(f"specs/ours/paper.yaml:{problem}")


def test_papers_that_are_shared_with_are_known_to_the_end_of_the_chain(here: Path) -> None:
    write(here, "ours", "own", entries=entry())
    write(here, "third", "own", entries=entry(same_as="ours/equations/own"))
    assert [paper.id for paper in load(["third"]).referred] == ["ours", "theirs"]


def test_a_claim_that_cannot_be_read_is_no_ones(here: Path) -> None:
    write(here, "ours", "own", entries=entry())
    selection = load(["ours"])
    (paper,), (theirs,) = selection.papers, selection.referred
    broken = BrokenClaim("theirs", "second", "sec1.py", 1, "it has no docstring")
    claim = claims_of(paper, [replace(theirs, equations=(broken,))])["mine"]
    assert isinstance(claim, BrokenClaim)
    assert (claim.id, claim.problem) == ("ours/equations/mine", "theirs/equations/second cannot be read")


@pytest.mark.parametrize(
    ("targets", "patterns", "found"),
    [
        (["theirs"], [], ["first", "second", "third"]),
        (["theirs"], ["second"], ["second"]),
        (["theirs"], ["theirs/equations/second"], ["second"]),
        (["theirs"], ["*ir*", "second"], ["first", "second", "third"]),
        (["theirs/equations/second"], [], ["second"]),
        (["theirs/equations/second", "theirs/equations/first"], ["f*"], ["first"]),
    ],
)
def test_statements_are_selected_by_target_and_by_pattern(
    here: Path, targets: list[str], patterns: list[str], found: list[str]
) -> None:
    assert [plan.id for plan in select_equations(load(targets), patterns)] == [f"theirs/equations/{n}" for n in found]


@pytest.mark.parametrize(
    ("target", "pattern", "problem"),
    [
        ("theirs", "frist", "no claim matches 'frist'; did you mean 'first'?"),
        ("theirs", "nothing_like_it", "no claim matches 'nothing_like_it'; claims: first, second, third"),
        ("theirs", "theirs/equations/frist", "did you mean 'theirs/equations/first'?"),
        ("theirs/equations/frist", "*", "no claim 'theirs/equations/frist'; did you mean 'theirs/equations/first'?"),
    ],
)
def test_an_unknown_statement_suggests_a_near_one(here: Path, target: str, pattern: str, problem: str) -> None:
    with pytest.raises(UsageError) as raised:
        select_equations(load([target]), [pattern])
    assert problem in str(raised.value)
