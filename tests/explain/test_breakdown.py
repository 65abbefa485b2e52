from __future__ import annotations

import pytest

from imlp_audit.explain.body import Item
from imlp_audit.explain.breakdown import Side, breakdown, by_kind, by_part, saved_and_given_back

BASE = Side(
    "base",
    (
        Item("stem", "weights", 10),
        Item("class token", "class token and positions", 1000),
        Item("FC1", "weights", 4000),
        Item("FC1", "biases", 40),
        Item("norm", "norms", 20),
    ),
)
OURS = Side(
    "ours",
    (
        Item("stem", "weights", 10),
        Item("FC1", "weights", 2000),
        Item("FC1", "biases", 20),
        Item("AGeLU", "AGeLU coefficients", 160),
        Item("norm", "norms", 20),
    ),
)


def numbers(line: str) -> list[int]:
    words = line.replace("+", " ").split("  ")
    return [int(word.replace(" ", "")) for word in words if word.replace(" ", "").lstrip("-").isdigit()]


def test_differences_add_up_part_by_part() -> None:
    lines = breakdown(OURS, BASE, by_part, "part")
    body = [numbers(line) for line in lines[1:]]
    assert body[-1] == [5070, 2210, -2860]
    assert [sum(column) for column in zip(*body[:-1], strict=True)] == body[-1]
    assert all(ours - base == difference for base, ours, difference in body)
    assert lines[-1].endswith("(-56.4 %)")


def test_parts_of_the_baseline_alone_stand_where_it_has_them() -> None:
    lines = breakdown(OURS, BASE, by_part, "part")
    assert [line.split("  ")[1] for line in lines] == [
        "part", "class token", "FC1", "AGeLU", "other parts, all unchanged", "total",
    ]  # fmt: skip


def test_small_parts_that_stay_are_one_row_and_large_ones_are_not() -> None:
    whole = Side("ours", (*OURS.items, Item("attention", "weights", 5000)))
    base = Side("base", (*BASE.items, Item("attention", "weights", 5000)))
    lines = breakdown(whole, base, by_part, "part")
    assert any(line.startswith("  attention ") and line.endswith(" 0") for line in lines)
    rest = next(line for line in lines if line.startswith("  other parts, all unchanged"))
    assert numbers(rest) == [30, 30, 0]
    one = Side("base", tuple(item for item in BASE.items if item.part != "stem"))
    alone = Side("ours", tuple(item for item in OURS.items if item.part != "stem"))
    assert any(line.startswith("  norm ") for line in breakdown(alone, one, by_part, "part"))


def test_kinds_stand_in_their_own_order() -> None:
    lines = breakdown(OURS, BASE, by_kind, "kind")
    assert [line.split("  ")[1] for line in lines] == [
        "kind", "weights", "biases", "AGeLU coefficients", "norms", "class token and positions", "total",
    ]  # fmt: skip
    work = Side("ours", (Item("a", "batch norm", 1), Item("a", "layer norm x 4", 1), Item("a", "linear", 1)))
    kinds = [line.split("  ")[1] for line in breakdown(work, None, by_kind, "class")]
    assert kinds == ["class", "linear", "layer norm x 4", "batch norm", "total"]


def test_savings_and_what_is_given_back_are_the_signs_of_the_parts() -> None:
    assert saved_and_given_back(OURS, BASE) == ["  saved 3 020, of which 160 is given back (5.3 %)"]


@pytest.mark.parametrize(("ours", "base"), [(BASE, BASE), (Side("ours", BASE.items[1:]), BASE)])
def test_nothing_is_said_where_nothing_is_given_back(ours: Side, base: Side) -> None:
    assert saved_and_given_back(ours, base) == []


def test_one_model_alone_has_shares() -> None:
    lines = breakdown(BASE, None, by_part, "part")
    assert lines[3].split() == ["FC1", "4", "040", "79.7", "%"]
    assert lines[-1].split() == ["total", "5", "070"]
