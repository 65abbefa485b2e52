"""Rows that say who counted them, and models that have no head to leave out."""

from pathlib import Path

import pytest

from imlp_audit.records.check import Verdict
from tests.checks.papers import Count, SomeCheck, Spec, checked

COUNT = Count(10**6, macs=10**9, norms=25 * 10**6)  # 1.00 G by macs, 1.10 G by fvcore's weights


def flops(root: Path, counted_by: str, printed: str, about: str = "flops: [macs]") -> SomeCheck:
    by = f"counted_by: {{flops: {{convention: {counted_by}, because: the text}}}}, " if counted_by else ""
    row = f"{{id: a, label: A, model: {{timm: host}}, {by}printed: {{flops: {printed}}}}}"
    return checked(root, {"host": COUNT}, Spec((row,), about=about))["p/1/a/flops"]


@pytest.mark.parametrize(
    ("counted_by", "printed", "verdict", "convention", "under"),
    [
        ("", "1.00", Verdict.REPRODUCED, "macs", ()),
        ("", "1.10", Verdict.DIFFERS, "macs", ()),
        ("fvcore", "1.10", Verdict.REPRODUCED, "fvcore", ()),
        ("fvcore", "1.00", Verdict.DIFFERS, "fvcore", ()),  # what the paper's other rows are counted by is not declared
    ],
)
def test_a_row_is_counted_by_its_own_conventions(
    tmp_path: Path, counted_by: str, printed: str, verdict: Verdict, convention: str, under: tuple[str, ...]
) -> None:
    check = flops(tmp_path, counted_by, printed)
    assert (check.verdict, check.convention, check.under) == (verdict, convention, under)


def test_a_convention_that_a_row_does_not_declare_is_only_a_hint(tmp_path: Path) -> None:
    check = flops(tmp_path, "fvcore", "1.00")
    assert any("1 000 000 000 would fit under convention macs" in hint for hint in check.hint_texts)


@pytest.mark.parametrize(
    ("printed", "norms", "near"),
    [  # fvcore counts 4 for each of the norms
        ("1.04", 60_000_000, True),  # 0.20 from fvcore's 1.24 is five times 0.04 from 1.00
        ("1.04", 59_999_999, False),
        ("1.02", 30_500_000, True),  # 0.102 from fvcore's 1.122 is a tenth of 1.02
        ("1.02", 30_499_999, False),
    ],
)
def test_another_way_to_count_is_named_from_a_tenth_and_a_fifth_on(
    tmp_path: Path, printed: str, norms: int, near: bool
) -> None:
    row = f"{{id: a, label: A, model: {{timm: host}}, printed: {{flops: {printed}}}}}"
    count = Count(10**6, macs=10**9, norms=norms)
    check = checked(tmp_path, {"host": count}, Spec((row,), about="flops: [fvcore, macs]"))["p/1/a/flops"]
    assert any("the nearest is" in one for one in check.hint_texts) == near


@pytest.mark.parametrize(
    ("printed", "norms", "about", "near"),
    [
        ("1.02", 100, "flops: [fvcore, macs]", True),  # fvcore has 37 % more, macs 2 % less
        ("1.02", 100, "flops: [macs, fvcore]", False),  # judged by the nearest
        ("1.02", 100, "flops: [fvcore]", False),
        ("1.20", 100, "flops: [fvcore, macs]", False),  # as far from both
        ("1.36", 100, "flops: [fvcore, macs]", False),  # fvcore is near
        ("1.008", 15, "flops: [fvcore, macs]", False),  # both are
    ],
)
def test_the_nearest_of_the_declared_ways_to_count_is_named(
    tmp_path: Path, printed: str, norms: int, about: str, near: bool
) -> None:
    """As where fvcore counts no LSTM: the gap under the first convention says nothing of the model."""
    row = f"{{id: a, label: A, model: {{timm: host}}, printed: {{flops: {printed}}}}}"
    count = Count(10**6, macs=10**9, norms=norms * 10**6)  # 1.40 or 1.06 G by fvcore's weights
    check = checked(tmp_path, {"host": count}, Spec((row,), about=about))["p/1/a/flops"]
    hint = "the nearest is 1 000 000 000 under convention macs, also declared: a gap of 1.96 %"
    assert check.verdict is Verdict.DIFFERS
    assert (hint in check.hint_texts) == near
    assert near or not any("the nearest is" in one for one in check.hint_texts)


@pytest.mark.parametrize(
    ("about", "verdict", "reason"),
    [
        ("parameters: [all]", Verdict.REPRODUCED, None),
        ("parameters: [all, no_head]", Verdict.REPRODUCED, None),
        ("parameters: [no_head, all]", Verdict.REPRODUCED, None),
        ("parameters: [no_head]", Verdict.ERROR, "host has no head for no_head"),
    ],
)
def test_a_model_without_a_head_is_counted_with_all_its_parameters(
    tmp_path: Path, about: str, verdict: Verdict, reason: str | None
) -> None:
    row = "{id: a, label: A, model: {timm: host}, printed: {params: 5.00}}"
    check = checked(tmp_path, {"host": Count(5_000_000, head=None)}, Spec((row,), about=about))["p/1/a/params"]
    assert check.verdict is verdict
    assert reason is None or check.reason == reason


def test_a_model_without_a_head_has_no_work_without_it(tmp_path: Path) -> None:
    row = "{id: a, label: A, model: {timm: host}, printed: {flops: 5.00}}"
    counts = {"host": Count(1, macs=5_000_000_000, head=None)}
    alone = checked(tmp_path / "a", counts, Spec((row,), about="flops: [no_head]"))["p/1/a/flops"]
    differs = checked(tmp_path / "b", counts, Spec((row,), about="flops: [no_products]"))["p/1/a/flops"]
    other = checked(tmp_path / "c", counts, Spec((row.replace("5.00", "6.00"),), about="flops: [macs]"))["p/1/a/flops"]

    assert (alone.verdict, alone.reason) == (Verdict.ERROR, "host has no head for no_head")
    assert differs.verdict is Verdict.REPRODUCED
    assert not any("no_head" in hint for hint in other.hint_texts)


def sized(counted_by: str, printed: int, name: str) -> str:
    by = f"counted_by: {{parameters: {{convention: {counted_by}, because: the caption}}}}, " if counted_by else ""
    return f"{{id: {name}, label: A, model: {{timm: {name}}}, {by}printed: {{params: {printed}}}}}"


def test_parameters_too_are_counted_by_what_a_source_says(tmp_path: Path) -> None:
    """Heads of 1 M: of five rows four count them, and the fifth says that it does not."""
    counts = {name: Count(10**6 * (10 + 3 * place), head=10**6) for place, name in enumerate("abcde")}
    rows = (*(sized("", 10 + 3 * place, name) for place, name in enumerate("abcd")), sized("no_head", 21, "e"))
    found = checked(tmp_path, counts, Spec(rows, about="parameters: [all, no_head]"))
    assert [found[f"p/1/{name}/params"].verdict for name in "abcde"] == [Verdict.REPRODUCED] * 5
    assert (found["p/1/e/params"].convention, found["p/1/e/params"].weak) == ("no_head", False)


def test_a_row_that_says_what_counted_it_does_not_vote(tmp_path: Path) -> None:
    """Without their sources, four rows without heads would make the fifth, with its head, differ."""
    counts = {name: Count(10**6 * (10 + 3 * place), head=10**6) for place, name in enumerate("abcde")}
    fifth = sized("", 22, "e")
    for source, verdict in (("no_head", Verdict.REPRODUCED), ("", Verdict.DIFFERS)):
        rows = (*(sized(source, 9 + 3 * place, name) for place, name in enumerate("abcd")), fifth)
        found = checked(tmp_path / f"of{source}", counts, Spec(rows, about="parameters: [all, no_head]"))
        assert found["p/1/e/params"].verdict is verdict


OWN = "conventions: {mine: {linear: 1, layer_norm: 4}}"
FITTED = "flops: [macs], " + OWN + ", fitted: {mine: {cells: [%s], explained: 1, of: %d, by_chance: 0}}"


@pytest.mark.parametrize(
    ("cells", "verdict", "fitted", "ending"),
    [
        ("p/1/*/flops", Verdict.REPRODUCED_UNDER, True, " under convention mine"),
        ("p/1/other/flops", Verdict.REPRODUCED_UNDER, False, ", a prediction: it was fitted on other numbers"),
        ("", Verdict.REPRODUCED, False, ")"),
    ],
)
def test_a_counter_of_a_row_that_was_found_by_its_fit_says_so(
    tmp_path: Path, cells: str, verdict: Verdict, fitted: bool, ending: str
) -> None:
    """1 G and 4 x 25 M of norms: what the row states is no more than that it fits."""
    lines = FITTED % (cells, 2 if "*" in cells else 1) if cells else "flops: [macs], " + OWN
    about = lines.replace(", conventions", "\n  conventions").replace(", fitted:", "\n  fitted:")
    own = "counted_by: {flops: {convention: mine, because: the fit}}, "
    rows = tuple(
        f"{{id: {name}, label: A, model: {{timm: host}}, {by}printed: {{flops: {printed}}}}}"
        for name, by, printed in (("a", own, "1.10"), ("other", "", "1.00"))
    )
    check = checked(tmp_path, {"host": COUNT}, Spec(rows, about=about))["p/1/a/flops"]
    assert (check.verdict, check.fitted) == (verdict, fitted)
    assert check.under == (("convention mine",) if cells else ())
    assert check.reason.endswith(ending)
