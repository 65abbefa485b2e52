from pathlib import Path

import pytest

from imlp_audit.records.check import Verdict
from tests.checks.papers import Count, Counts, SomeCheck, Spec, checked

YES, NO, OPEN, UNDER = Verdict.REPRODUCED, Verdict.INCONSISTENT, Verdict.UNVERIFIABLE, Verdict.REPRODUCED_UNDER
ROWS = (
    "{id: a, label: A, model: {timm: small}, printed: {params: 1.0, flops: 1.00}}",
    "{id: b, label: B, model: {timm: large, image: 32}, printed: {params: 1.0, flops: 4.00}}",
)
BLOCK = "{id: a, label: A, model: {timm: small, mlp: {imlp: {kernel: 3}}}, printed: {params: 1.0, flops: 1.00}}"
ONE, FOUR, NINE = (Count(10**6, macs=n * 10**9) for n in (1, 4, 9))


def spec(body: str, rows: tuple[str, ...] = ROWS, about: str = "flops: [macs]") -> Spec:
    end = f'claims:\n  - {{id: it, text: all take 64 x 64, source: {{section: "1"}}, {body}}}\n'
    return Spec(rows, about=about, end=end)


def claim(
    root: Path, body: str, counts: Counts, about: str = "flops: [macs]", rows: tuple[str, ...] = ROWS
) -> SomeCheck:
    return checked(root, counts, spec(body, rows, about))["p/claims/it"]


def size(*rows: str, tried: str = "", holds_for: str = "all") -> str:
    also = f", tried: {{{tried}}}" if tried else ""
    return f"rows: [{', '.join(rows)}], input: {{size: 64, decided_by: flops{also}}}, holds_for: {holds_for}"


@pytest.mark.parametrize(
    ("at_64", "at_32", "at_96", "verdict", "measured"),
    [
        (ONE, FOUR, NINE, YES, "a: 64"),
        (ONE, ONE, ONE, YES, "a: 64"),  # whatever else gives it too
        (ONE, None, None, YES, "a: 64"),
        (FOUR, ONE, NINE, NO, "a: 32"),
        (FOUR, NINE, ONE, NO, "a: 96"),
        (FOUR, ONE, ONE, NO, "a: 32 or 96"),
        (FOUR, NINE, FOUR, OPEN, "a: none"),  # the model may be another one, counted another way
        (FOUR, None, ONE, NO, "a: 96"),  # a model that cannot take images of a size is not counted at it
        (FOUR, None, None, OPEN, "a: none"),
    ],
)
def test_flops_decide_which_size_it_was(
    tmp_path: Path, at_64: Count, at_32: Count | None, at_96: Count | None, verdict: Verdict, measured: str
) -> None:
    counts = {"small": ONE, "small:64": at_64, "small:32": at_32, "small:96": at_96}
    check = claim(tmp_path, size("p/1/a", tried="a: [32, 96]"), counts)
    assert (check.verdict, check.measured) == (verdict, measured)


def test_reasons_give_the_numbers(tmp_path: Path) -> None:
    counts = {"small:64": FOUR, "small:32": ONE}
    no = claim(tmp_path / "no", size("p/1/a", tried="a: [32]"), counts)
    assert no.reason == "a: 4 000 000 000 at 64, not 1.00, which follows at 32"
    unsure = claim(tmp_path / "open", size("p/1/a"), counts)
    assert (unsure.verdict, unsure.measured) == (OPEN, "a: none")
    assert "4 000 000 000 at 64, not 1.00; none of the sizes tried gives it" in unsure.reason
    yes = claim(tmp_path / "yes", size("p/1/a"), {"small:64": ONE})
    assert yes.reason == "a: 1.00 follows at 64"


@pytest.mark.parametrize(
    ("a", "b", "holds_for", "verdict"),
    [
        (ONE, FOUR, "all", YES),
        (ONE, ONE, "all", OPEN),
        (ONE, ONE, "at least 50%", YES),
        (FOUR, FOUR, "all", NO),
        (FOUR, FOUR, "at least 50%", YES),
        (FOUR, NINE, "at least 50%", OPEN),
    ],
)
def test_all_rows_or_some_take_it(tmp_path: Path, a: Count, b: Count, holds_for: str, verdict: Verdict) -> None:
    """Row a has a size that was tried, row b has none."""
    counts = {"small:64": a, "small:32": ONE, "large:64": b, "large:32": FOUR}
    body = size("p/1/a", "p/1/b", tried="a: [32]", holds_for=holds_for)
    assert claim(tmp_path, body, counts).verdict is verdict


def test_a_size_of_the_recipes_own_is_not_the_claims(tmp_path: Path) -> None:
    """Row b's recipe has images of 32, its number follows from 64."""
    counts = {"large:32": NINE, "large:64": FOUR}
    checks = checked(tmp_path, counts, spec(size("p/1/b")))
    assert checks["p/claims/it"].verdict is YES
    assert checks["p/1/b/flops"].verdict is Verdict.DIFFERS


@pytest.mark.parametrize(
    ("about", "count", "verdict"),
    [
        ("flops: [macs]", Count(1, macs=10**9 - 4 * 10**7, norms=10**7), NO),
        ("flops: [fvcore]", Count(1, macs=10**9 - 4 * 10**7, norms=10**7), YES),  # four for a norm's element
        ("flops: [macs, fvcore]", Count(1, macs=10**9 - 4 * 10**7, norms=10**7), UNDER),
        ("flops: [macs]\n  rounding: [half_up, truncation]", Count(1, macs=10**9 + 9 * 10**6), UNDER),
        ("flops: [macs]", Count(1, macs=10**9 + 9 * 10**6), NO),
    ],
)
def test_any_declared_convention_and_rounding_rule_may_give_it(
    tmp_path: Path, about: str, count: Count, verdict: Verdict
) -> None:
    counts = {"small:64": count, "small:32": ONE}
    assert claim(tmp_path, size("p/1/a", tried="a: [32]"), counts, about).verdict is verdict


def test_uncounted_work_leaves_it_open(tmp_path: Path) -> None:
    lacking = Count(1, macs=10**9, unknown=("fft",))
    assert claim(tmp_path / "a", size("p/1/a", tried="a: [32]"), {"small:64": lacking, "small:32": ONE}).verdict is OPEN
    # nor does a size at which not all is counted speak against the one that was claimed
    assert (
        claim(tmp_path / "b", size("p/1/a", tried="a: [32]"), {"small:64": FOUR, "small:32": lacking}).verdict is OPEN
    )


def test_a_model_that_cannot_take_the_claimed_size_is_an_error(tmp_path: Path) -> None:
    check = claim(tmp_path, size("p/1/a", tried="a: [32]"), {"small": ONE, "small:32": ONE})
    assert (check.verdict, check.reason) == (Verdict.ERROR, "no model small:64")


@pytest.mark.parametrize(
    ("plain", "skip", "verdict"),
    [
        (ONE, FOUR, YES),
        (FOUR, ONE, UNDER),
        (FOUR, FOUR, NO),
        (ONE, None, YES),
        (FOUR, None, Verdict.ERROR),  # the reading that failed might have given it
        (None, ONE, Verdict.ERROR),
    ],
)
def test_any_declared_reading_may_give_it(
    tmp_path: Path, plain: Count | None, skip: Count | None, verdict: Verdict
) -> None:
    counts = {"small:64+3": plain, "small:64+3@skip": skip, "small:32+3": ONE}
    assert claim(tmp_path, size("p/1/a", tried="a: [32]"), counts, rows=(BLOCK,)).verdict is verdict
