"""Changes, claims about sizes, marks and ratios are judged under each cell's own hypothesis.

Four rows or more make the choice of a counter clear: fvcore counts a tenth more than macs.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from imlp_audit.records.check import Verdict
from tests.checks.papers import Count, SomeCheck, Spec, checked

YES, NO, OPEN, UNDER = Verdict.REPRODUCED, Verdict.DIFFERS, Verdict.UNVERIFIABLE, Verdict.REPRODUCED_UNDER
G = 10**9
SIZES = (11, 14, 17, 23, 29, 31)
COUNTS = {f"m{n}": Count(n * 10**6, macs=n * G + 10**6, norms=n * G // 40) for n in SIZES}
BOTH = "flops: [fvcore, macs]"


def own(convention: str) -> str:
    return f"counted_by: {{flops: {{convention: {convention}, because: its source}}}}, "


def row(n: int, printed: str, more: str = "", tail: str = "") -> str:
    return f"{{id: r{n}, label: R, model: {{timm: m{n}}}, {more}printed: {{flops: {printed}}}{tail}}}"


def by_fvcore(sizes: Sequence[int]) -> tuple[str, ...]:
    return tuple(row(n, f"{n * 1.1:.2f}") for n in sizes)


def change(root: Path, rows: Sequence[str], about: str = BOTH, **counts: Count) -> SomeCheck:
    return checked(root, {**COUNTS, **counts}, Spec(tuple(rows), about=about))["p/1/r14/flops.delta.measured"]


CHANGE = ", delta: {flops: 27.3%}"  # 14/11 - 1; across the two counters it would be 40.0 % or 15.7 %


@pytest.mark.parametrize(
    ("base", "variant"),
    [
        (row(11, "11.00", own("macs")), row(14, "15.40", "baseline: r11, ", CHANGE)),
        (row(11, "12.10"), row(14, "14.00", f"baseline: r11, {own('macs')}", CHANGE)),
        (row(11, "11.00", own("macs")), row(14, "15.40", f"baseline: r11, {own('fvcore')}", CHANGE)),
    ],
)
def test_where_two_counters_meet_no_change_is_measured(tmp_path: Path, base: str, variant: str) -> None:
    check = change(tmp_path, [base, variant, *by_fvcore(SIZES[2:])])
    assert (check.verdict, "counted by different conventions" in check.reason) == (OPEN, True)


@pytest.mark.parametrize(
    ("base", "variant", "verdict", "under"),
    [
        (own("macs"), own("macs"), YES, ()),
        (own("fvcore"), "", YES, ()),
        ("", own("fvcore"), YES, ()),
    ],
)
def test_one_counter_on_both_sides_measures_a_change(
    tmp_path: Path, base: str, variant: str, verdict: Verdict, under: tuple[str, ...]
) -> None:
    rows = [row(11, "9.99", base), row(14, "9.99", f"baseline: r11, {variant}", CHANGE), *by_fvcore(SIZES[2:])]
    check = change(tmp_path, rows)
    assert (check.verdict, check.under, check.weak) == (verdict, under, False)


def test_a_row_that_nothing_decides_follows_its_baselines_counter_and_says_so(tmp_path: Path) -> None:
    """Two rows make no clear choice; the baseline's counter is not the paper's default."""
    rows = [row(11, "11.00", own("macs")), row(14, "14.00", "baseline: r11, ", CHANGE)]
    check = change(tmp_path, rows)
    assert (check.verdict, check.under, check.weak) == (UNDER, ("convention macs",), True)


def test_a_counter_by_another_name_is_the_same_counter(tmp_path: Path) -> None:
    about = "flops: [macs]\n  conventions: {ours: {linear: 1, product: 1, conv: 1, upsample_nearest: 0}}"
    rows = [row(11, "11.00", own("ours")), row(14, "14.00", "baseline: r11, ", CHANGE)]
    assert change(tmp_path, rows, about).verdict is YES


@pytest.mark.parametrize(("about", "verdict"), [("[macs, none]", YES), ("[none]", Verdict.ERROR)])
def test_a_convention_that_counts_nothing_has_no_say_in_a_change(tmp_path: Path, about: str, verdict: Verdict) -> None:
    about = f"flops: {about}\n  conventions: {{none: {{upsample_nearest: 1}}}}"
    rows = [row(11, "11.00"), row(14, "14.00", "baseline: r11, ", CHANGE)]
    assert change(tmp_path, rows, about).verdict is verdict


@pytest.mark.parametrize(
    ("delta", "hint"),
    [
        ("-27.3%", "27.3% would follow: the sign is wrong"),
        ("(-27.3%)", "(+27.3%) would follow: the sign is wrong"),
        ("-27.6%", None),
    ],
)
def test_a_change_of_the_other_sign_is_a_hint(tmp_path: Path, delta: str, hint: str | None) -> None:
    rows = [row(11, "11.00"), row(14, "14.00", "baseline: r11, ", f", delta: {{flops: {delta}}}")]
    found = checked(tmp_path, COUNTS, Spec(tuple(rows), about="flops: [macs]"))
    for name, verdict in (("", Verdict.INCONSISTENT), (".measured", NO)):
        check = found[f"p/1/r14/flops.delta{name}"]
        assert check.verdict is verdict
        assert [one for one in check.hint_texts if "would follow" in one] == ([hint] if hint else [])


def block(n: int, printed: int, more: str = "", tail: str = "") -> str:
    model = f"{{timm: b{n}, mlp: {{imlp: {{kernel: 3}}}}}}"
    return f"{{id: b{n}, label: B, model: {model}, {more}printed: {{params: {printed}.0}}{tail}}}"


def text(n: int) -> str:
    return f"{{id: t{n}, label: T, model: {{resmlp: {{layers: {n}, width: 64}}}}, printed: {{params: {n}.0}}}}"


@pytest.mark.parametrize(("delta", "verdict"), [("118.2%", UNDER), ("100.0%", NO), ("109.1%", NO)])
def test_families_that_are_read_differently_have_a_change_between_them(
    tmp_path: Path, delta: str, verdict: Verdict
) -> None:
    """From 11 M as equations to 24 M with the skip: 118.2 %; both as plain it were 109.1 %, both as skip 100.0 %."""
    rows = [*map(text, SIZES), *(block(n, n) for n in SIZES[2:])]
    rows += [block(24, 24, "baseline: t11, ", f", delta: {{params: {delta}}}")]
    counts = {f"b{n}+3": Count((n - 1) * 10**6) for n in (*SIZES, 24)}
    counts |= {f"b{n}+3@skip": Count(n * 10**6) for n in (*SIZES, 24)}
    counts |= {
        f"{{'layers': {n}, 'width': 64}}{skip}": Count((n + bool(skip)) * 10**6)
        for n in SIZES
        for skip in ("", "@skip")
    }
    check = checked(tmp_path, counts, Spec(tuple(rows)))["p/1/b24/params.delta.measured"]
    assert (check.verdict, check.reading) == (verdict, "skip (baseline plain)")
    assert check.under == (("reading skip (baseline plain)",) if verdict is UNDER else ())


def size_claim(root: Path, printed: str, about: str, counts: dict[str, Count]) -> SomeCheck:
    """Judge whether the first of six models takes images of 64; five others are counted clearly."""
    end = 'claims: [{id: it, text: t, source: {section: "1"}, rows: [p/1/r11], input: {size: 64, decided_by: flops}}]\n'
    rows = (row(11, printed), *by_fvcore(SIZES[1:]))
    return checked(root, {**COUNTS, **counts}, Spec(rows, about=about, end=end))["p/claims/it"]


@pytest.mark.parametrize(
    ("printed", "about", "verdict", "under"),
    [
        ("12.10", BOTH, YES, ()),
        ("11.00", BOTH, OPEN, ()),  # by macs, which the other rows speak against
        ("12.10", "flops: [macs, fvcore]", UNDER, ("convention fvcore",)),
        ("12.11", f"{BOTH}\n  rounding: [half_up, ceiling]", OPEN, ()),  # 12.1004 rounded up; the others are not
    ],
)
def test_a_size_is_judged_under_the_hypothesis_of_its_cell(
    tmp_path: Path, printed: str, about: str, verdict: Verdict, under: tuple[str, ...]
) -> None:
    at_64 = Count(1, macs=11 * G + 4 * 10**5 * ("ceiling" in about), norms=11 * G // 40)
    check = size_claim(tmp_path, printed, about, {"m11:64": at_64})
    assert (check.verdict, check.under, check.weak) == (verdict, under, False)


CHANGES = "marked: {mlp: {imlp: {kernel: 5}}}, otherwise: {mlp: {imlp: {kernel: 3}}}"
FOOTNOTE = f'footnote: {{mark: "*", meaning: n = 5, {CHANGES}, decided_by: flops}}'


@pytest.mark.parametrize(
    ("printed", "about", "verdict", "under"),
    [
        ("13.20", BOTH, YES, ()),
        ("12.00", BOTH, NO, ()),  # by macs
        ("13.20", "flops: [macs, fvcore]", UNDER, ("convention fvcore",)),
        ("13.21", f"{BOTH}\n  rounding: [half_up, ceiling]", NO, ()),
    ],
)
def test_a_mark_is_judged_under_the_hypothesis_of_its_cell(
    tmp_path: Path, printed: str, about: str, verdict: Verdict, under: tuple[str, ...]
) -> None:
    model = "model: {timm: host, mlp: {imlp: {kernel: 5}}}"
    marked = f'{{id: b, label: B, mark: "*", {model}, printed: {{flops: {printed}}}}}'
    five = Count(1, macs=12 * G + 4 * 10**5 * ("ceiling" in about), norms=12 * G // 40)
    counts = {**COUNTS, "host+5": five, "host+3": Count(1, macs=8 * G, norms=8 * G // 40)}
    spec = Spec((*by_fvcore(SIZES), marked), about=about, table=FOOTNOTE)
    check = checked(tmp_path, counts, spec)["p/marks/1/b"]
    assert (check.verdict, check.under, check.weak) == (verdict, under, False)


@pytest.mark.parametrize(("weight", "verdict"), [(1, YES), (2, OPEN)])
def test_counters_of_two_papers_are_told_apart_by_what_they_count(
    tmp_path: Path, weight: int, verdict: Verdict
) -> None:
    """Both papers call their counter `ours`; 14 G against 11 G is above 1.2, 28 G against 11 G is no ratio at all."""

    def about(each: int) -> str:
        return f"flops: [ours]\n  conventions: {{ours: {{linear: {each}, product: {each}, conv: {each}}}}}"

    end = 'claims: [{id: it, text: t, source: {section: "1"}, rows: [q/1/r14], '
    end += "conditions: [{ratio: flops, against: p/1/r11, above: 1.2}]}]\n"
    ours = Spec((row(14, f"{14 * weight}.00"),), about=about(weight), end=end, id="q")
    found = checked(tmp_path, COUNTS, Spec((row(11, "11.00"),), about=about(1)), ours)
    check = found["q/claims/it.measured"]
    assert (check.verdict, "counted by different conventions" in check.reason) == (verdict, verdict is OPEN)
