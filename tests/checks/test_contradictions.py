"""Two totals of one model that cannot be one number: the paper contradicts itself, whatever the model has."""

from __future__ import annotations

from pathlib import Path

import pytest

from imlp_audit.records.check import Verdict
from tests.checks.papers import Count, Spec, checked


def row(name: str, flops: str, model: str = "timm: m", more: str = "") -> str:
    return f"{{id: {name}, label: R-50, model: {{{model}}}, {more}printed: {{params: 25.6, flops: {flops}}}}}"


def repeats(root: Path, rows: list[str], more: tuple[str, ...] = (), about: str = "flops: [macs]") -> dict[str, str]:
    """Return the checks of repeats, which must all be inconsistent: no model can be built."""
    checks = checked(root, {}, Spec(tuple(rows), more_rows=more, about=about))
    assert checks["p/1/a/flops"].verdict is Verdict.ERROR
    found = {name: check for name, check in checks.items() if name.startswith("p/repeats/")}
    assert {check.verdict for check in found.values()} <= {Verdict.INCONSISTENT}
    return {name: check.reason for name, check in found.items()}


SAID = "p/1/a/flops prints 4.1, here it is 3.8; both are flops of one model on inputs of one size"


def test_two_numbers_of_one_model_are_a_contradiction_and_said_once(tmp_path: Path) -> None:
    rows = [row("a", "4.1"), row("b", "3.8"), row("c", "3.8"), row("d", "4.1")]
    assert repeats(tmp_path, rows) == {"p/repeats/1/b/flops": SAID}


@pytest.mark.parametrize(
    ("flops", "model", "more"),
    [
        ("4.12", "timm: m", ""),  # one value prints as both
        ("3.8", "timm: other", ""),
        ("3.8", "timm: m, image: 288", ""),
        ("3.8", "timm: m", "counted_by: {flops: {convention: fvcore, because: the text}}, "),
    ],
)
def test_what_may_be_another_number_is_no_contradiction(tmp_path: Path, flops: str, model: str, more: str) -> None:
    assert repeats(tmp_path, [row("a", "4.1"), row("b", flops, model, more)]) == {}


def test_tables_are_compared_where_the_paper_has_one_counter(tmp_path: Path) -> None:
    rows, more = [row("a", "4.1")], (row("b", "3.8"),)
    assert repeats(tmp_path / "one", rows, more) == {"p/repeats/2/b/flops": SAID}
    assert repeats(tmp_path / "two", rows, more, "flops: [macs, fvcore]") == {}
    within = [*rows, row("b", "3.8")]
    assert repeats(tmp_path / "table", within, (), "flops: [macs, fvcore]") == {"p/repeats/1/b/flops": SAID}


def test_two_columns_may_count_two_things(tmp_path: Path) -> None:
    """MACs and FLOPs, or the parameters of the whole and of a part, are no contradiction, even by one convention."""
    cells = "{id: a, label: R-50, model: {timm: m}, printed: {params: 25.6, flops: 4.1, doubled: 8.2, part: 23.5}}"
    doubled = "doubled: {measure: flops, unit: G, heading: MACs (G)}"
    part = "part: {measure: parameters, unit: M, heading: Params of the backbone}"
    checks = checked(tmp_path, {}, Spec((cells,), columns=(doubled, part), about="flops: [macs]"))
    assert [name for name in checks if name.startswith("p/repeats/")] == []


@pytest.mark.parametrize(
    ("first", "second", "where"),
    [("", "repeats: p/1/a, ", "b"), ("repeats: p/1/b, ", "", "a"), ("repeats: p/1/b, ", "repeats: p/1/a, ", "ab")],
)
def test_what_a_row_says_it_repeats_is_checked_as_it_says(tmp_path: Path, first: str, second: str, where: str) -> None:
    rows = [row("a", "4.1", more=first), row("b", "3.8", more=second)]
    checks = checked(tmp_path, {}, Spec(tuple(rows), about="flops: [macs]"))
    found = [name for name in checks if name.startswith("p/repeats/")]
    assert found == [f"p/repeats/1/{one}/{column}" for one in where for column in ("params", "flops")]


def test_it_is_said_where_the_model_can_be_built_too(tmp_path: Path) -> None:
    spec = Spec((row("a", "4.10"), row("b", "3.80")), about="flops: [macs]")
    checks = checked(tmp_path, {"m": Count(25_600_000, macs=4_100_000_000)}, spec)
    verdicts = {name: check.verdict for name, check in checks.items() if name.endswith("/flops")}
    assert verdicts == {
        "p/1/a/flops": Verdict.REPRODUCED,
        "p/1/b/flops": Verdict.DIFFERS,
        "p/repeats/1/b/flops": Verdict.INCONSISTENT,
    }
