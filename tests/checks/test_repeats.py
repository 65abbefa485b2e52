from itertools import product
from pathlib import Path

import pytest

from imlp_audit.pipeline import Options, audit
from imlp_audit.records.check import Verdict
from imlp_audit.spec.columns import Column, hold_the_same, parse_column
from imlp_audit.spec.load import load, select_checks
from tests.checks.papers import Count, Spec, checked, write

BASE = "{id: base, label: Base, printed: {params: 5.72, top1: 72.2}}"
ONE = "{id: a, label: A, baseline: base, printed: {params: 5.00, top1: 72.6}, delta: {params: -12.6%}}"


def again(params: str = "5.00", top1: str = "72.6", delta: str = "-12.6%", repeats: str = "p/1/a") -> str:
    return (
        f"{{id: a, label: A, baseline: base, repeats: {repeats},"
        f" printed: {{params: {params}, top1: {top1}}}, delta: {{params: {delta}}}}}"
    )


@pytest.mark.parametrize(
    ("row", "different"),
    [
        (again(), set()),
        (again(params="5.0"), set()),  # one value can print as 5.00 and 5.0
        (again(params="5.01"), {"params"}),
        (again(top1="72.5"), {"top1"}),
        (again(delta="-12.5%"), {"params.delta"}),
        (again(delta="-13%"), set()),
        (again("5.72", "72.2", "12.6%"), {"params", "top1", "params.delta"}),
    ],
)
def test_a_row_that_repeats_another(tmp_path: Path, row: str, different: set[str]) -> None:
    checks = checked(tmp_path, {}, Spec((BASE, ONE), more_rows=(BASE, row)))
    names = ("params", "top1", "params.delta")
    assert {one for one in checks if "/repeats/" in one} == {f"p/repeats/2/a/{name}" for name in names}
    for name in names:
        check = checks[f"p/repeats/2/a/{name}"]
        assert check.verdict is (Verdict.INCONSISTENT if name in different else Verdict.REPRODUCED)
        assert check.reason.startswith(f"p/1/a/{name} prints ")


@pytest.mark.parametrize(("one", "other"), [("p", "q"), ("q", "p")])
def test_two_papers_that_print_different_numbers_contradict_each_other_and_not_themselves(
    tmp_path: Path, one: str, other: str
) -> None:
    again = "{id: b, label: B, repeats: %s/1/base, printed: {params: 5.73}}"
    specs = (Spec((BASE, again % one), id=one), Spec((again % one,), id=other))
    checks = checked(tmp_path, {}, *specs)
    assert checks[f"{one}/repeats/1/b/params"].verdict is Verdict.INCONSISTENT
    assert checks[f"{other}/repeats/1/b/params"].verdict is Verdict.DIFFERS


def test_a_table_that_repeats_another_papers(tmp_path: Path) -> None:
    first = Spec((BASE, ONE))
    rows = ("{id: base, label: Base, printed: {params: 5.72, top1: 72.3}}",
            "{id: b, label: B, repeats: p/1/a, printed: {params: 5.01}}")  # fmt: skip
    checks = checked(tmp_path, {}, first, Spec(rows, table="repeats: p/1", id="q"))
    assert {one: check.verdict for one, check in checks.items() if "/repeats/" in one} == {
        "q/repeats/1/base/params": Verdict.REPRODUCED,
        "q/repeats/1/base/top1": Verdict.DIFFERS,
        "q/repeats/1/b/params": Verdict.DIFFERS,
    }


def test_a_repeated_number_is_right_or_wrong_apart_from_its_model(tmp_path: Path) -> None:
    row = "{id: a, label: A, model: {timm: host}, printed: {params: 5.00}}"
    twin = "{id: b, label: B, repeats: p/1/a, model: {timm: host}, printed: {params: 5.00}}"
    checks = checked(tmp_path, {"host": Count(6_000_000)}, Spec((row, twin)))
    assert checks["p/1/b/params"].verdict is Verdict.DIFFERS
    assert checks["p/repeats/1/b/params"].verdict is Verdict.REPRODUCED


@pytest.mark.parametrize(
    ("about", "verdict"),
    [
        ("rounding: [half_up]", Verdict.INCONSISTENT),
        ("rounding: [half_up, truncation]", Verdict.REPRODUCED_UNDER),  # 5.07 can be cut to both
        ("rounding: [truncation]", Verdict.REPRODUCED),
        ("rounding: [half_up, ceiling]", Verdict.INCONSISTENT),
    ],
)
def test_a_declared_rounding_rule_excuses_a_repeated_number(tmp_path: Path, about: str, verdict: Verdict) -> None:
    rows = ("{id: a, label: A, printed: {params: 5.0}}", "{id: b, label: B, repeats: p/1/a, printed: {params: 5.07}}")
    check = checked(tmp_path, {}, Spec(rows, about=about))["p/repeats/1/b/params"]
    assert check.verdict is verdict
    assert check.under == (("rounding truncation",) if verdict is Verdict.REPRODUCED_UNDER else ())
    assert check.measured == "5.0"


SPEED = "speed: {measure: throughput, unit: im/s, heading: Speed, needs: a GPU, hardware: v100, batch: 32}"


def printing_speed(column: str, number: str) -> Spec:
    return Spec(
        (f"{{id: a, label: A, repeats: p/1/a, printed: {{{column.partition(':')[0]}: {number}}}}}",),
        columns=(column,), id="q",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("column", "verdict"),
    [
        (SPEED, Verdict.DIFFERS),
        (SPEED.replace("speed", "gpu"), Verdict.DIFFERS),  # under another id
        (SPEED.replace("speed", "gpu").replace("v100", "a100"), None),
        (SPEED.replace("speed", "gpu").replace(", batch: 32", ", batch: 1"), None),
        (SPEED.replace("speed", "gpu").replace(", batch: 32", ""), None),  # at which batch is not known
        (SPEED.replace("speed", "gpu").replace(", hardware: v100", ""), None),
        (SPEED.replace(", batch: 32", "").replace(", hardware: v100", ""), Verdict.DIFFERS),  # but of the same name
    ],
)
def test_numbers_are_held_together_by_what_they_measure(tmp_path: Path, column: str, verdict: Verdict | None) -> None:
    one = Spec(("{id: a, label: A, printed: {speed: 940.4}}",), columns=(SPEED,))
    checks = checked(tmp_path, {}, one, printing_speed(column, "596.6"))
    found = [check for name, check in checks.items() if "/repeats/" in name]
    assert [check.verdict for check in found] == ([verdict] if verdict else [])
    for check in found:
        assert (check.repeats, check.measured) == ("p/1/a/speed", "940.4")
        named = "both are throughput (hardware v100, batch 32)"
        assert named in check.reason or "both are called speed" in check.reason


def test_a_number_has_one_twin(tmp_path: Path) -> None:
    """Where two columns measure the same as its own, the first one counts."""
    columns = (SPEED, SPEED.replace("speed", "again"))
    one = Spec(("{id: a, label: A, printed: {speed: 940.4, again: 940.5}}",), columns=columns)
    checks = checked(tmp_path, {}, one, printing_speed(SPEED.replace("speed", "gpu"), "940.4"))
    assert [check.repeats for name, check in checks.items() if "/repeats/" in name] == ["p/1/a/speed"]


@pytest.mark.parametrize(("ours", "theirs", "twins"), [("", ", image: 384", 0), (", image: 384", ", image: 384", 1)])
def test_work_on_other_images_is_no_twin(tmp_path: Path, ours: str, theirs: str, twins: int) -> None:
    column = "{}: {{measure: flops, unit: G, heading: FLOPs{}}}"
    first = Spec(("{id: a, label: A, printed: {work: 17.5}}",), columns=(column.format("work", ours),))
    row = "{id: a, label: A, repeats: p/1/a, printed: {more: 17.5}}"
    checks = checked(tmp_path, {}, first, Spec((row,), columns=(column.format("more", theirs),), id="q"))
    assert sum("/repeats/" in name for name in checks) == twins


def test_a_change_that_is_printed_once_has_no_twin(tmp_path: Path) -> None:
    bare = again().replace(", delta: {params: -12.6%}", "")
    for first, second in ((ONE, bare), (ONE.replace(", delta: {params: -12.6%}", ""), again())):
        checks = checked(tmp_path / str(second == bare), {}, Spec((BASE, first), more_rows=(BASE, second)))
        assert [one for one in checks if "/repeats/" in one] == ["p/repeats/2/a/params", "p/repeats/2/a/top1"]


def test_a_score_is_matched_by_its_metric_and_data(tmp_path: Path) -> None:
    column = "{{measure: score, unit: '%', heading: T, needs: weights, metric: {}, data: {}}}"
    one = Spec(
        ("{id: a, label: A, printed: {one: 72.2, five: 91.0, real: 80.0}}",),
        columns=(f"one: {column.format('top1', 'photos')}", f"five: {column.format('top5', 'photos')}",
                 f"real: {column.format('top1', 'drawings')}"),
    )  # fmt: skip
    other = Spec(
        ("{id: a, label: A, repeats: p/1/a, printed: {accuracy: 72.3}}",),
        columns=(f"accuracy: {column.format('top1', 'photos')}",), id="q",
    )  # fmt: skip
    checks = checked(tmp_path, {}, one, other)
    assert [name for name in checks if "/repeats/" in name] == ["q/repeats/1/a/accuracy"]
    check = checks["q/repeats/1/a/accuracy"]
    assert check.reason == ("p/1/a/one prints 72.2, here it is 72.3; both are score (metric top1, data photos)")


def test_a_repeat_is_checked_whichever_paper_is_selected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = Spec(("{id: a, label: A, printed: {params: 5.00, top1: 72.6}}",))
    again = Spec(
        ("{id: a, label: A, repeats: p/1/a, printed: {params: 5.01}}", "{id: b, label: B, printed: {params: 1}}"),
        id="q",
    )
    write(tmp_path / "specs", first, again)
    monkeypatch.chdir(tmp_path)

    def ids(*papers: str, only: tuple[str, ...] = ()) -> list[str]:
        return [plan.id for plan in select_checks(load(papers), only)]

    repeat = "q/repeats/1/a/params"
    assert ids("p") == ["p/1/a/params", "p/1/a/top1", repeat]
    assert ids("q") == ["q/1/a/params", "q/1/b/params", repeat]
    assert sorted(ids()) == sorted(ids("p", "q")) == sorted([*ids("p")[:2], *ids("q")])
    assert ids("p", only=("p/*",)) == ["p/1/a/params", "p/1/a/top1"]
    result = audit(load(["p"]), Options(), lambda total: lambda name: None)
    assert [check.id for check in result.of(result.papers[0]).checks] == ids("p")
    assert result.counts()[Verdict.DIFFERS] == 1


def test_a_broken_paper_beside_it_has_no_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "specs", Spec(("{id: a, label: A, printed: {params: 5.00}}",)))
    (tmp_path / "specs" / "q").mkdir()
    (tmp_path / "specs" / "q" / "paper.yaml").write_text("paper: q\nrepeats: p/1/a\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert [plan.id for plan in select_checks(load(["p"]))] == ["p/1/a/params"]


COLUMNS: list[dict[str, str | int]] = [
    {"measure": "parameters"},
    {"measure": "flops"},
    {"measure": "setting", "of": "layers", "unit": ""},
    {"measure": "memory", "batch": 32, "unit": "MB"},
    {"measure": "score", "unit": "%"},
    {"measure": "throughput", "unit": "images/s"},
    {"measure": "cost", "unit": "days"},
]


@pytest.mark.parametrize(("one", "other"), list(product(range(len(COLUMNS)), repeat=2)))
def test_columns_of_two_measures_never_hold_the_same(one: int, other: int) -> None:
    columns = [parse_column({"unit": "M", "heading": "X", "needs": "a GPU", **COLUMNS[n]}) for n in (one, other)]
    ours, theirs = columns
    assert isinstance(ours, Column)
    assert isinstance(theirs, Column)
    assert hold_the_same(ours, theirs) == (one == other)
