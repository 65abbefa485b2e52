"""What the parts of a spec must agree on."""

from __future__ import annotations

from pathlib import Path

import pytest

from imlp_audit.errors import Problem, SpecError
from imlp_audit.spec.load import load, papers_referred_to
from tests.checks.papers import Spec, write

TOP1 = 'top: {measure: score, unit: "%", metric: top1, data: imagenet-1k, heading: Top-1, needs: weights}'


def load_numbers(root: Path, *numbers: str) -> None:
    rows = (f"{{id: r{at}, label: R{at}, printed: {{top: {text}}}}}" for at, text in enumerate(numbers))
    write(root, Spec(tuple(rows), columns=(TOP1,)))


def test_most_numbers_above_100_are_no_accuracies(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"no accuracy in %: 2 of its 3 numbers are above 100, such as 100\.1; check"):
        load_numbers(tmp_path, "99.0", "100.1", "940")


def test_what_is_no_number_is_a_problem_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        load_numbers(tmp_path, "abc", "72.2", "940")
    assert [problem.message.partition(";")[0] for problem in caught.value.problems] == ["'abc' is not a printed number"]


def test_100_percent_and_a_single_misprint_are(tmp_path: Path) -> None:
    load_numbers(tmp_path / "all", "100", "100.0")
    load_numbers(tmp_path / "one", "72.2", "722")


FITTED_ROW = "{id: a, label: A, model: {timm: resnet18}, printed: {%s}}"
FITTED = (
    "flops: [{0}]\n  conventions: {{mine: {{linear: 1}}}}\n"
    "  fitted: {{mine: {{cells: [p/1/a/flops], explained: 1, of: {1}, by_chance: 0}}}}"
)


def problem(root: Path, flops: str, of: int, printed: str = "flops: 1.82") -> Problem:
    with pytest.raises(SpecError) as caught:
        write(root, Spec((FITTED_ROW % printed,), about=FITTED.format(flops, of)))
    (found,) = caught.value.problems
    return found


def test_a_fitted_convention_as_the_default_is_refused_where_it_stands(tmp_path: Path) -> None:
    found = problem(tmp_path, "mine, macs", 1)
    assert found.message == "mine was fitted and cannot be the default; put a named counter first, such as fvcore"
    assert (found.line, found.column) == (6, len("  flops: [") + 1)


@pytest.mark.parametrize(
    ("of", "printed", "sizes"),
    [
        (2, "flops: 1.82", ""),
        (2, "flops: 1.82, top1: 70.0", ""),  # a score is no size
        (3, "flops: 1.82, params: 11.7", ", or up to 2 with the paper's sizes"),
    ],
)
def test_no_more_cells_than_there_are_were_fitted_on(tmp_path: Path, of: int, printed: str, sizes: str) -> None:
    write(tmp_path / "all", Spec((FITTED_ROW % printed,), about=FITTED.format("macs, mine", of - 1)))
    counted = ", counted_by: {parameters: {convention: no_head, because: so it says}}, printed"
    sized = FITTED_ROW.replace(", printed", counted)
    write(tmp_path / "sized", Spec((sized % printed,), about=FITTED.format("macs, mine", of - 1)))
    found = problem(tmp_path / "more", "macs, mine", of, printed)
    assert found.message == f"of is {of}, but the globs match 1 cell that this counter may have counted{sizes}"


COVERED_ROW = "{{id: {0}, label: {0}, printed: {{params: 5.00}}}}"
FINDING = """\
findings:
  - {id: all, title: All is wrong, kind: ask, why: Nobody knows., checks: ["GLOB"]}
"""


@pytest.mark.parametrize(("rows", "glob"), [("a", "*"), ("ab", "*"), ("ab", "p/*"), ("ab", "p/1/?/params")])
def test_a_finding_covers_no_check_that_passes(tmp_path: Path, rows: str, glob: str) -> None:
    spec = Spec(tuple(COVERED_ROW.format(row) for row in rows), end=FINDING.replace("GLOB", glob))
    with pytest.raises(SpecError, match="covers every check, those that pass included"):
        write(tmp_path, spec)


@pytest.mark.parametrize(("rows", "glob"), [("a", "p/1/a/params"), ("a", "p/1/?/params"), ("ab", "p/1/a/*")])
def test_a_finding_may_cover_the_only_check_there_is(tmp_path: Path, rows: str, glob: str) -> None:
    spec = Spec(tuple(COVERED_ROW.format(row) for row in rows), end=FINDING.replace("GLOB", glob))
    assert len(write(tmp_path, spec).papers[0].findings) == 1


ROW = ("{id: a, label: A, printed: {params: 5.00}}",)


def write_papers(root: Path, claim: str, *others: str) -> str:
    """Write a paper with a claim, and other papers beside it; return the folder of the first."""
    end = f'claims:\n  - {{id: it, text: t, source: {{section: "1"}}, {claim}}}\n'
    for spec in (Spec(ROW, end=end), *(Spec(ROW, id=name) for name in others)):
        (root / spec.id).mkdir(parents=True)
        (root / spec.id / "paper.yaml").write_text(spec.text(), encoding="utf-8")
    return str(root / "p")


@pytest.mark.parametrize(
    ("claim", "named"),
    [
        ("rows: [p/1/a], conditions: [{value: params, above: 1}]", set()),
        ("rows: [p/1/a], conditions: [{ratio: params, against: q/1/a, above: 0.5}]", {"q"}),
        ("rows: [p/1/a], conditions: [{position: params, between: [q/1/a, r/1/a], above: 1%}]", {"q", "r"}),
        ("rows: [p/1/a, q/1/a], order: {change: params, against: r/1/a, direction: increasing}", {"q", "r"}),
        ("average: {cell: q/1/a/params, of: [p/1/a/params, r/1/a/params], count: 2}", {"q", "r"}),
        ('reference: {table: "1", holds: [p/1/a/params, q/1/a/params]}', {"q"}),
        ("rows: [q/1/*], conditions: [{value: params, above: 1}]", {"q"}),
    ],
)
def test_papers_that_a_claim_names_are_looked_up_beside_its_own(tmp_path: Path, claim: str, named: set[str]) -> None:
    folder = write_papers(tmp_path, claim, "q", "r", "s")
    selection = load([folder])
    (paper,) = selection.papers
    assert set(papers_referred_to(paper)) - {"p"} == named
    assert {one.id for one in selection.known} >= {"p", *named}


def test_a_paper_that_is_not_there_is_missed(tmp_path: Path) -> None:
    folder = write_papers(tmp_path, "rows: [p/1/a], conditions: [{ratio: params, against: q/1/a, above: 1}]")
    with pytest.raises(SpecError, match="no row 'q/1/a' that prints 'params'"):
        load([folder])
