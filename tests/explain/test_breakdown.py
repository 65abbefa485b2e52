"""Amounts of two models side by side: their order, and how a document shows them."""

from __future__ import annotations

import pytest

from imlp_audit.explain.body import Portion
from imlp_audit.explain.total_document import describe_breakdown
from imlp_audit.explain.totals import break_down, by_kind, by_part
from imlp_audit.records.explanation import Breakdown
from imlp_audit.report.document import Paragraph, Table, plain_text

BASE = (
    Portion("stem", "weights", 10),
    Portion("class token", "class token and positions", 1000),
    Portion("FC1", "weights", 4000),
    Portion("FC1", "biases", 40),
    Portion("norm", "norms", 20),
)
OURS = (
    Portion("stem", "weights", 10),
    Portion("FC1", "weights", 2000),
    Portion("FC1", "biases", 20),
    Portion("AGeLU", "AGeLU coefficients", 160),
    Portion("norm", "norms", 20),
)


def tables(ours: tuple[Portion, ...], base: tuple[Portion, ...] | None) -> tuple[list[list[list[str]]], list[str]]:
    """Return the tables of a breakdown as texts, and its paragraphs."""
    section = Breakdown(
        counted="all parameters",
        reading=None,
        model="ours",
        baseline="base" if base is not None else None,
        baseline_name="base" if base is not None else None,
        parts=break_down(ours, base, by_part),
        kinds_of="kind of parameter",
        kinds=break_down(ours, base, by_kind),
    )
    blocks = list(describe_breakdown(section))
    texts = [[[plain_text(cell) for cell in row] for row in b.rows] for b in blocks if isinstance(b, Table)]
    return texts, [plain_text(block.text) for block in blocks if isinstance(block, Paragraph)]


def numbers(row: list[str]) -> list[int]:
    return [int(cell.replace(" ", "").replace("+", "")) for cell in row[1:]]


def test_differences_add_up_part_by_part() -> None:
    (parts, kinds), _ = tables(OURS, BASE)
    for table in (parts, kinds):
        body = [numbers(row) for row in table]
        assert body[-1] == [5070, 2210, -2860]
        assert [sum(column) for column in zip(*body[:-1], strict=True)] == body[-1]
        assert all(ours - base == difference for base, ours, difference in body)


def test_parts_that_only_the_baseline_has_stand_where_it_has_them() -> None:
    names = [one.name for one in break_down(OURS, BASE, by_part)]
    assert names == ["stem", "class token", "FC1", "AGeLU", "norm"]


def test_small_parts_that_stay_share_a_line_and_large_ones_do_not() -> None:
    attention = Portion("attention", "weights", 5000)
    (parts, _), _ = tables((*OURS, attention), (*BASE, attention))
    rows = {row[0]: numbers(row) for row in parts}
    assert rows["attention"] == [5000, 5000, 0]
    assert rows["other parts, all unchanged"] == [30, 30, 0]
    (alone, _), _ = tables(OURS[1:], BASE[1:])
    assert "norm" in [row[0] for row in alone]


def test_kinds_stand_in_their_own_order() -> None:
    assert [one.name for one in break_down(OURS, BASE, by_kind)] == [
        "weights", "biases", "AGeLU coefficients", "norms", "class token and positions",
    ]  # fmt: skip
    work = (Portion("a", "batch norm", 1), Portion("a", "layer norm x 4", 1), Portion("a", "linear", 1))
    assert [one.name for one in break_down(work, None, by_kind)] == ["linear", "layer norm x 4", "batch norm"]


def test_savings_and_additions_are_the_signs_of_the_parts() -> None:
    _, paragraphs = tables(OURS, BASE)
    assert paragraphs[-1] == (
        "The total changes by -2 860 (-56.4 %). Some parts save 3 020; others add 160, 5.3 % of that."
    )


@pytest.mark.parametrize(("ours", "base"), [(BASE, BASE), (BASE[1:], BASE)])
def test_no_savings_are_reported_where_nothing_is_added_back(
    ours: tuple[Portion, ...], base: tuple[Portion, ...]
) -> None:
    assert "save" not in tables(ours, base)[1][-1]


def test_a_model_without_baseline_has_shares() -> None:
    (parts, _), paragraphs = tables(BASE, None)
    assert ["FC1", "4 040", "79.7 %"] in parts
    assert parts[-1] == ["total", "5 070", ""]
    assert paragraphs == ["All parameters:"]
