from __future__ import annotations

from pathlib import Path

import pytest

from imlp_audit.errors import SpecError
from imlp_audit.spec.library import load, papers_referred_to
from tests.checks.papers import Spec

ROW = ("{id: a, label: A, printed: {params: 5.00}}",)


def write(root: Path, claim: str, *others: str) -> str:
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
    folder = write(tmp_path, claim, "q", "r", "s")
    selection = load([folder])
    (paper,) = selection.papers
    assert set(papers_referred_to(paper)) - {"p"} == named
    assert {one.id for one in selection.known} >= {"p", *named}


def test_a_paper_that_is_not_there_is_missed(tmp_path: Path) -> None:
    folder = write(tmp_path, "rows: [p/1/a], conditions: [{ratio: params, against: q/1/a, above: 1}]")
    with pytest.raises(SpecError, match="no row 'q/1/a' that prints 'params'"):
        load([folder])
