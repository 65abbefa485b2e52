"""Who votes on a paper's hypothesis, and what binds a cell: a number printed twice votes once, a rounding rule is clear
or it is not, and a convention that was fitted is never what the text says.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from imlp_audit.checks.comparison import Measured
from imlp_audit.checks.hypothesis_clarity import Clarity, VoteGroup
from imlp_audit.checks.judged_under import Frame
from imlp_audit.errors import SpecError
from imlp_audit.numbers.printed import Rounding
from imlp_audit.records.check import Verdict
from tests.checks.papers import Count, Spec, checked

# Multiply-accumulates in G; fvcore counts a tenth more, as the norms have a fortieth of as many elements, at 4 each.
SIZES = {"a": 11, "b": 13, "c": 17, "d": 19, "e": 23}
COUNTS = {name: Count(n * 10**6, macs=n * 10**9, norms=n * 25 * 10**6) for name, n in SIZES.items()}
BOTH = "flops: [fvcore, macs]"


def row(name: str, model: str, printed: str, more: str = "") -> str:
    return f"{{id: {name}, label: {name}, model: {{timm: {model}}}, {more}printed: {{flops: {printed}}}}}"


def flops(tmp_path: Path, rows: tuple[str, ...], about: str = BOTH) -> dict[str, Any]:
    found = checked(tmp_path, COUNTS, Spec(rows, about=about))
    return {
        name.split("/")[2]: check for name, check in found.items() if name.endswith("/flops") and "repeats" not in name
    }


@pytest.mark.parametrize("winner", ["a", "m", "z"])
def test_the_best_supported_options_come_first_and_the_others_are_told_apart(winner: str) -> None:
    group = VoteGroup("g", winner, 9, {"a": 2, "m": 3, "z": 4}, 9, Clarity.WEAK)
    frame = Frame((Rounding.HALF_UP,), reading=group, convention=group)
    every = [Measured(Fraction(1), reading, convention) for reading in "amz" for convention in "amz"]
    found = frame.select(every)
    assert (found[0].reading, found[0].convention) == (winner, winner)
    assert all(winner in (one.reading, one.convention) for one in found[1:5])
    assert not any(winner in (one.reading, one.convention) for one in found[5:])
    scores = {name: f"{group.scores[winner]} of 9 numbers follow under {winner}, {n} under {name}"
              for name, n in group.scores.items() if name != winner}  # fmt: skip
    assert frame.support == {(kind, name): text for kind in ("reading", "convention") for name, text in scores.items()}


@pytest.mark.parametrize(
    "repeats",
    [
        [("11.00", "")] * 3,
        [("11.0", "repeats: p/1/same0, "), ("11", "repeats: p/1/same1, "), ("11.000", "repeats: p/1/same0, ")],
    ],
    ids=["equal models", "said to be repeated, with other digits"],
)
def test_equal_rows_vote_once(tmp_path: Path, repeats: list[tuple[str, str]]) -> None:
    """Four times the same number by macs, three different ones by fvcore: it is three to one."""
    same = tuple(row(f"same{n}", "a", *one) for n, one in enumerate([("11.00", ""), *repeats]))
    others = tuple(row(name, name, f"{1.1 * SIZES[name]:.2f}") for name in "bcd")
    found = flops(tmp_path, (*same, *others))
    assert {found[name].verdict for name in "bcd"} == {Verdict.REPRODUCED}
    assert {found[f"same{n}"].verdict for n in range(4)} == {Verdict.DIFFERS}
    assert not any(check.weak for check in found.values())


@pytest.mark.parametrize(
    "rows",
    [
        (row("x", "a", "11.00", "repeats: p/1/y, "), row("y", "a", "11.00", "repeats: p/1/x, ")),
        (row("x", "a", "11.00", "repeats: p/1/y, "), "{id: y, label: y, printed: {flops: 11.00}}"),
    ],
    ids=["each repeats the other", "repeats a row without a model"],
)
def test_a_number_that_is_only_repeated_is_judged_all_the_same(tmp_path: Path, rows: tuple[str, ...]) -> None:
    found = flops(tmp_path, rows)
    assert (found["x"].verdict, found["x"].under) == (Verdict.REPRODUCED_UNDER, ("convention macs",))
    assert found["x"].weak


@pytest.mark.parametrize(("cut_off", "weak", "verdict"), [(4, False, Verdict.DIFFERS), (2, True, Verdict.REPRODUCED)])
def test_a_rounding_rule_binds_only_where_it_is_clear(
    tmp_path: Path, cut_off: int, weak: bool, verdict: Verdict
) -> None:
    """Models of n + 0.7 M parameters print n if they are cut off, and n + 1 if they are rounded, as the last one is."""
    sizes = [10 + 3 * n for n in range(cut_off + 1)]
    printed = [*sizes[:-1], sizes[-1] + 1]
    rows = tuple(
        f"{{id: r{n}, label: R, model: {{timm: m{n}}}, printed: {{params: {text}}}}}"
        for n, text in zip(sizes, printed, strict=True)
    )
    counts = {f"m{n}": Count(n * 10**6 + 700_000) for n in sizes}
    found = checked(tmp_path, counts, Spec(rows, about="rounding: [half_up, truncation]"))
    *cut, rounded = (found[f"p/1/r{n}/params"] for n in sizes)
    assert {(one.verdict, one.under, one.weak) for one in cut} == {
        (Verdict.REPRODUCED_UNDER, ("rounding truncation",), weak)
    }
    assert (rounded.verdict, rounded.weak) == (verdict, weak)


FIT = "flops: [%s]\n  conventions: {mine: {linear: 1}}\n  fitted: {mine: {cells: [%s], undecided: [%s], %s}}"
PROVEN, UNPROVEN = "explained: 5, of: 5, by_chance: 2", "explained: 5, of: 5, by_chance: 5"


def test_what_a_fit_leaves_open_is_unverifiable_whether_it_fits_or_not(tmp_path: Path) -> None:
    rows = (*(row(name, name, f"{SIZES[name]}.00") for name in "abcd"), row("e", "e", "24.00"))
    found = flops(tmp_path, rows, FIT % ("macs, mine", "p/1/*/flops", "", PROVEN))
    assert found["e"].verdict is Verdict.DIFFERS
    found = flops(tmp_path / "open", rows, FIT % ("fvcore, mine", "p/1/*/flops", "p/1/e/flops", PROVEN))
    assert found["e"].verdict is Verdict.UNVERIFIABLE


def test_a_number_that_a_fit_predicts_does_not_follow_from_the_text(tmp_path: Path) -> None:
    rows = (*(row(name, name, f"{SIZES[name]}.00") for name in "abcd"), row("other", "e", f"{SIZES['e']}.00"))
    found = flops(tmp_path, rows, FIT % ("fvcore, mine", "p/1/?/flops", "", "explained: 4, of: 4, by_chance: 2"))
    assert {check.under for check in found.values()} == {("convention mine",)}
    assert [check.fitted for check in found.values()] == [True, True, True, True, False]
    assert found["other"].reason.endswith("a prediction: it was fitted on other numbers")


@pytest.mark.parametrize(("worth", "weak"), [(PROVEN, False), (UNPROVEN, True)])
def test_a_fit_that_chance_explains_is_no_clear_choice(tmp_path: Path, worth: str, weak: bool) -> None:
    rows = tuple(row(name, name, f"{SIZES[name]}.00") for name in "abcde")
    found = flops(tmp_path, rows, FIT % ("fvcore, mine", "p/1/*/flops", "", worth))
    assert {check.weak for check in found.values()} == {weak}


def test_one_row_is_judged_under_one_reading_where_it_explains_more_of_it(tmp_path: Path) -> None:
    """Both readings give the parameters as printed; only the second gives the work, so the first is not the row's."""
    block = "{timm: %s, mlp: {imlp: {ratio: 2, kernel: 3}}}"
    both = {"a+3": Count(5_010_000, macs=11 * 10**9), "a+3@skip": Count(5_020_000, macs=12 * 10**9)}
    spec = Spec(
        (f"{{id: x, label: x, model: {block % 'a'}, printed: {{params: 5.0, flops: 12.00}}}}",), about="flops: [macs]"
    )
    found = checked(tmp_path, both, spec)
    assert {found[f"p/1/x/{name}"].reading for name in ("params", "flops")} == {"skip"}


def test_a_model_without_the_number_that_the_others_follow_from_is_an_error_of_its_own(tmp_path: Path) -> None:
    """Five sizes are printed without heads; the sixth model has none to leave out."""
    sizes = (11, 14, 17, 23, 29)
    rows = tuple(f"{{id: r{n}, label: R, model: {{timm: m{n}}}, printed: {{params: {n}.0}}}}" for n in sizes)
    counts = {f"m{n}": Count((n + 3) * 10**6, head=3 * 10**6) for n in sizes} | {"x": Count(7 * 10**6, head=None)}
    last = "{id: x, label: X, model: {timm: x}, printed: {params: 7.0}}"
    found = checked(tmp_path, counts, Spec((*rows, last), about="parameters: [all, no_head]"))
    assert {found[f"p/1/r{n}/params"].verdict for n in sizes} == {Verdict.REPRODUCED_UNDER}
    check = found["p/1/x/params"]
    assert (check.verdict, check.reason) == (
        Verdict.ERROR,
        "x has no number under convention no_head, which the others follow from",
    )


def test_a_fitted_counter_is_never_the_default(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="mine was fitted and cannot be the default"):
        flops(
            tmp_path, (row("a", "a", "11.00"),), FIT % ("mine", "p/1/a/flops", "", "explained: 1, of: 1, by_chance: 0")
        )
