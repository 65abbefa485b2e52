from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from imlp_audit.numbers.interval import Interval
from imlp_audit.numbers.parsing import parse_printed
from imlp_audit.records.check import Verdict
from tests.checks.papers import SomeCheck, Spec, checked

YES, NO, OPEN = Verdict.REPRODUCED, Verdict.INCONSISTENT, Verdict.UNVERIFIABLE
NAMES = tuple("abcdefgh")


def columns(count: int) -> tuple[str, ...]:
    return tuple(f'{name}: {{measure: score, unit: "%", heading: {name}, needs: weights}}' for name in NAMES[:count])


def spec(average: str, *members: str, count: int, at_most: str = "", about: str = "rounding: [half_up]") -> Spec:
    """A row with an average and its first members, and the claim that the one is the mean of the others."""
    printed = ", ".join(f"{name}: {text}" for name, text in zip(NAMES, members, strict=False))
    row = f"{{id: r, label: R, printed: {{top1: {average}, {printed}}}}}"
    of = ", ".join(f"p/1/r/{name}" for name in NAMES[: len(members)])
    limit = f", at_most: {at_most}" if at_most else ""
    form = f"average: {{cell: p/1/r/top1, of: [{of}], count: {count}{limit}}}"
    end = f'claims:\n  - {{id: it, text: Avg, source: {{section: "1"}}, {form}}}\n'
    return Spec((row,), columns=columns(len(members)), about=about, end=end)


def claim(root: Path, average: str, *members: str, count: int, at_most: str = "", about: str = "") -> SomeCheck:
    one = spec(average, *members, count=count, at_most=at_most, about=about or "rounding: [half_up]")
    return checked(root, {}, one)["p/claims/it"]


@pytest.mark.parametrize(
    ("average", "members", "verdict"),
    [
        # at least 79.95, and less than 80.05
        ("80.0", ("70.0", "80.0", "90.0"), YES),
        ("80.1", ("70.0", "80.0", "90.0"), NO),
        ("79.9", ("70.0", "80.0", "90.0"), NO),
        ("80", ("70.0", "80.0", "90.0"), YES),
        # with 70 for 69.5 to 70.5: at least 79.8, and less than 80.2
        ("79.7", ("70", "80.0", "90.0"), NO),
        ("79.8", ("70", "80.0", "90.0"), YES),
        ("80.2", ("70", "80.0", "90.0"), YES),
        ("80.3", ("70", "80.0", "90.0"), NO),
        ("50.0", ("50.0",), YES),
        ("50.1", ("50.0",), NO),
    ],
)
def test_an_average_of_printed_members(
    tmp_path: Path, average: str, members: tuple[str, ...], verdict: Verdict
) -> None:
    assert claim(tmp_path, average, *members, count=len(members)).verdict is verdict


@pytest.mark.parametrize(
    ("average", "members", "count", "at_most", "verdict"),
    [
        # 5 x 90 - 80 = 370, to be shared by four
        ("90.00", ("80.00",), 5, "", OPEN),
        ("96.00", ("80.00",), 5, "", OPEN),  # 100 each
        ("96.02", ("80.00",), 5, "", NO),  # 100.025 each, 100.016 with every digit at its end
        ("90.00", ("80.00",), 5, "92.50", OPEN),
        ("90.00", ("80.00",), 5, "92.48", NO),
        ("15.00", ("80.00",), 5, "", NO),  # less than nothing
        ("16.00", ("80.00",), 5, "", OPEN),
        ("15.99", ("80.00",), 5, "", NO),
        ("99.00", ("98.00", "97.00"), 3, "", NO),  # 102
        ("98.00", ("98.00", "97.00"), 3, "", OPEN),
        ("9.00", ("8.00",), 2, "10", OPEN),
        ("9.10", ("8.00",), 2, "10", NO),
    ],
)
def test_an_average_whose_members_are_not_all_printed(
    tmp_path: Path, average: str, members: tuple[str, ...], count: int, at_most: str, verdict: Verdict
) -> None:
    assert claim(tmp_path, average, *members, count=count, at_most=at_most).verdict is verdict


@pytest.mark.parametrize(
    ("about", "verdict"),
    [
        ("rounding: [half_up, truncation]", OPEN),  # at least 2 x 90.5 - 81.5 = 99.5
        ("rounding: [truncation, half_up]", NO),  # more than 2 x 91 - 82 = 100
    ],
)
def test_an_average_is_judged_under_the_papers_default_rounding_rule(
    tmp_path: Path, about: str, verdict: Verdict
) -> None:
    assert claim(tmp_path, "91", "81", count=2, about=about).verdict is verdict


def test_the_results_of_each_row_are_recorded(tmp_path: Path) -> None:
    check = claim(tmp_path / "all", "81.0", "70.0", "80.0", "90.0", count=3)
    assert (check.reason, check.measured, check.printed) == ("the mean of the 3 is 80 ± 0.05", "80 ± 0.05", "Avg")
    check = claim(tmp_path / "some", "90.00", "80.00", count=5)
    told = "the 4 that are not printed must average 92.5 ± 0.008, which is possible"
    assert (check.reason, check.measured) == (told, "92.5 ± 0.008")
    check = claim(tmp_path / "none", "90.00", "80.00", count=5, at_most="90")
    assert check.reason == "the 4 that are not printed must average 92.5 ± 0.008, but each lies between 0 and 90"


@pytest.mark.parametrize(("about", "verdict"), [("half_up", NO), ("truncation", YES)])
def test_digits_are_read_by_the_papers_rounding(tmp_path: Path, about: str, verdict: Verdict) -> None:
    """1.0 and 1.0 cut are less than 1.1 each."""
    assert claim(tmp_path, "1.09", "1.0", "1.0", count=2, about=f"rounding: [{about}]").verdict is verdict


def test_an_average_that_is_not_one_in_a_stated_meaning_differs(tmp_path: Path) -> None:
    one = spec("90.0", "80.0", "81.0", count=2)
    stated = Spec(one.rows, columns=one.columns, end=one.end.replace("text: Avg", "text: Avg, meaning: the mean"))
    assert checked(tmp_path / "a", {}, one)["p/claims/it"].verdict is NO
    assert checked(tmp_path / "b", {}, stated)["p/claims/it"].verdict is Verdict.DIFFERS


def test_members_may_be_of_another_paper(tmp_path: Path) -> None:
    form = "average: {cell: p/1/r/top1, of: [p/1/r/a, q/1/r/top1], count: 2}"
    end = f'claims:\n  - {{id: it, text: Avg, source: {{section: "1"}}, {form}}}\n'
    ours = Spec(("{id: r, label: R, printed: {top1: 85.0, a: 80.0}}",), columns=columns(1), end=end)
    for text, verdict in (("90.0", YES), ("91.0", NO)):
        theirs = Spec((f"{{id: r, label: R, printed: {{top1: {text}}}}}",), id="q")
        assert checked(tmp_path / text, {}, ours, theirs)["p/claims/it"].verdict is verdict


def rounded(value: Fraction, places: int) -> str:
    """Write a positive number with so many decimals, half up."""
    digits = int(value * 10**places + Fraction(1, 2))
    return f"{Decimal(digits).scaleb(-places):f}"


scores = st.lists(st.integers(0, 100_000).map(lambda n: Fraction(n, 1000)), min_size=1, max_size=6)


@given(scores=scores, shown=st.integers(1, 6), places=st.integers(0, 2), other=st.integers(0, 2))
@settings(max_examples=40, deadline=None)
def test_a_true_average_is_never_found_false(scores: list[Fraction], shown: int, places: int, other: int) -> None:
    """Whatever is rounded, and however many members are left out."""
    mean = rounded(sum(scores, Fraction(0)) / len(scores), other)
    members = [rounded(score, places) for score in scores[:shown]]
    with TemporaryDirectory() as folder:
        verdict = claim(Path(folder), mean, *members, count=len(scores)).verdict
    assert verdict is (YES if shown >= len(scores) else OPEN)


@given(
    members=st.lists(st.integers(0, 100), min_size=1, max_size=3), missing=st.integers(1, 3), mean=st.integers(0, 100)
)
@settings(max_examples=40, deadline=None)
def test_an_average_is_false_where_no_members_make_it(members: list[int], missing: int, mean: int) -> None:
    """Exactly where no scores from 0 to 100 in the places that are left give the mean."""
    known = sum((parse_printed(str(score)).interval() for score in members), Interval.point(0))
    whole = known + Interval(Fraction(0), Fraction(100 * missing))
    possible = whole.meets(parse_printed(str(mean)).interval() * (len(members) + missing))
    count = len(members) + missing
    with TemporaryDirectory() as folder:
        verdict = claim(Path(folder), str(mean), *map(str, members), count=count).verdict
    assert verdict is (OPEN if possible else NO)
