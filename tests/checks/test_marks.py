from pathlib import Path

import pytest

from imlp_audit.records.check import Verdict
from tests.checks.papers import Count, Counts, SomeCheck, Spec, checked

CHANGES = "marked: {mlp: {imlp: {kernel: 5}}}, otherwise: {mlp: {imlp: {kernel: 3}}}"
FOOTNOTE = f'footnote: {{mark: "*", meaning: n = 5, {CHANGES}, decided_by: params}}'
FITS, MISSES = Count(5_000_000, macs=1_100_000_000), Count(5_100_000, macs=1_200_000_000)


def row(mark: str, kernel: int, model: bool = True, part: str = "channel_and_spatial") -> str:
    recipe = f"model: {{timm: host, mlp: {{imlp: {{kernel: {kernel}, part: {part}}}}}}}, " if model else ""
    return f'{{id: b, label: B, baseline: a, mark: "{mark}", {recipe}printed: {{params: 5.00, flops: 1.10}}}}'


BASE = "{id: a, label: A, model: {timm: host}, printed: {params: 5.72}}"
MARKED, UNMARKED = row("*", 5), row("", 3)


def mark(root: Path, counts: Counts, second: str = MARKED, footnote: str = FOOTNOTE) -> SomeCheck:
    return checked(root, {"host": Count(5_720_000), **counts}, Spec((BASE, second), table=footnote))["p/marks/1/b"]


@pytest.mark.parametrize(
    ("second", "three", "five", "verdict", "fitting"),
    [
        (MARKED, MISSES, FITS, Verdict.REPRODUCED, "kernel 5 fits"),
        (MARKED, FITS, MISSES, Verdict.DIFFERS, "kernel 3 fits"),
        (MARKED, FITS, FITS, Verdict.UNVERIFIABLE, "kernel 3 and kernel 5 fit"),
        (MARKED, MISSES, MISSES, Verdict.DIFFERS, "neither fits"),
        (UNMARKED, FITS, MISSES, Verdict.REPRODUCED, "kernel 3 fits"),
        (UNMARKED, MISSES, FITS, Verdict.DIFFERS, "kernel 5 fits"),
        (UNMARKED, FITS, FITS, Verdict.UNVERIFIABLE, "kernel 3 and kernel 5 fit"),
        (UNMARKED, MISSES, MISSES, Verdict.DIFFERS, "neither fits"),
    ],
)
def test_a_mark_holds_where_the_number_needs_its_kernel(
    tmp_path: Path, second: str, three: Count, five: Count, verdict: Verdict, fitting: str
) -> None:
    check = mark(tmp_path, {"host+3": three, "host+5": five}, second)
    assert (check.verdict, check.under) == (verdict, ())
    assert f"under plain {fitting}" in check.reason
    assert check.printed == ("marked *: kernel 5" if second is MARKED else "no mark: kernel 3")


@pytest.mark.parametrize(
    ("fitting", "verdict", "under"),
    [
        ({"host+5", "host+5@skip"}, Verdict.REPRODUCED, ()),
        ({"host+5", "host+3@skip"}, Verdict.REPRODUCED, ()),
        ({"host+5@skip"}, Verdict.REPRODUCED_UNDER, ("reading skip",)),
        ({"host+3", "host+5@skip"}, Verdict.REPRODUCED_UNDER, ("reading skip",)),
        ({"host+3", "host+5", "host+5@skip"}, Verdict.REPRODUCED_UNDER, ("reading skip",)),
        ({"host+3@skip", "host+5@skip"}, Verdict.UNVERIFIABLE, ()),
        ({"host+3@skip"}, Verdict.DIFFERS, ()),
        (set(), Verdict.DIFFERS, ()),
    ],
)
def test_a_mark_under_each_reading(tmp_path: Path, fitting: set[str], verdict: Verdict, under: tuple[str, ...]) -> None:
    names = ("host+3", "host+5", "host+3@skip", "host+5@skip")
    check = mark(tmp_path, {one: FITS if one in fitting else MISSES for one in names})
    assert (check.verdict, check.under) == (verdict, under)


@pytest.mark.parametrize(("chosen", "fits", "under"), [("skip", "", ("reading plain",)), ("skip", "@skip", ())])
def test_the_reading_that_a_user_chooses_is_the_usual_one(
    tmp_path: Path, chosen: str, fits: str, under: tuple[str, ...]
) -> None:
    counts = {"host": Count(5_720_000)} | dict.fromkeys(("host+3", "host+5", "host+3@skip", "host+5@skip"), MISSES)
    spec = Spec((BASE, MARKED), table=FOOTNOTE)
    check = checked(tmp_path, {**counts, f"host+5{fits}": FITS}, spec, reading=chosen)["p/marks/1/b"]
    assert (check.verdict, check.under) == (Verdict.REPRODUCED_UNDER if under else Verdict.REPRODUCED, under)


def test_the_place_of_a_mark_is_its_line(tmp_path: Path) -> None:
    """That of a row that lacks one is the row's."""
    broken = MARKED.replace('mark: "*"', '\n         mark: "*"')
    check = mark(tmp_path / "marked", {"host+3": MISSES, "host+5": FITS}, broken)
    text = (tmp_path / "marked" / "p" / "paper.yaml").read_text(encoding="utf-8").splitlines()
    assert text[check.source.line - 1].strip().startswith('mark: "*"')
    broken = UNMARKED.replace("label: B", "\n         label: B")
    check = mark(tmp_path / "plain", {"host+3": FITS, "host+5": MISSES}, broken)
    text = (tmp_path / "plain" / "p" / "paper.yaml").read_text(encoding="utf-8").splitlines()
    assert text[check.source.line - 1].strip().startswith("- {id: b")


def test_a_mark_may_be_decided_by_flops(tmp_path: Path) -> None:
    footnote = FOOTNOTE.replace("params", "flops")
    counts = {"host+3": FITS, "host+5": Count(5_000_000, macs=1_200_000_000)}  # by params it would be open
    assert mark(tmp_path / "a", counts, UNMARKED, footnote).verdict is Verdict.REPRODUCED
    assert mark(tmp_path / "b", counts, MARKED, footnote).verdict is Verdict.DIFFERS
    assert mark(tmp_path / "c", counts, UNMARKED).verdict is Verdict.UNVERIFIABLE


def test_a_row_without_a_recipe_cannot_be_judged(tmp_path: Path) -> None:
    check = mark(tmp_path, {}, row("*", 5, model=False))
    assert (check.verdict, check.reason) == (Verdict.UNVERIFIABLE, "the spec gives no model")


def test_rows_without_a_depthwise_convolution_have_no_such_check(tmp_path: Path) -> None:
    checks = checked(tmp_path, {}, Spec((BASE, row("", 3, part="channel")), table=FOOTNOTE))
    assert not [one for one in checks if "/marks/" in one]


def test_a_row_is_not_judged_to_do_without_its_kernel_if_a_reading_failed(tmp_path: Path) -> None:
    counts = {"host+3": FITS, "host+5": MISSES, "host+5@skip": None}
    assert mark(tmp_path, counts).verdict is Verdict.ERROR


@pytest.mark.parametrize("missing", ["host+3", "host+5"])
def test_a_kernel_that_cannot_be_built_is_an_error(tmp_path: Path, missing: str) -> None:
    counts = {one: FITS for one in ("host+3", "host+5") if one != missing}
    assert mark(tmp_path, counts).verdict is Verdict.ERROR
