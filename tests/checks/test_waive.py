from pathlib import Path

import pytest

from imlp_audit.checks.waive import waive
from imlp_audit.cli.exits import ExitCode, exit_code
from imlp_audit.records.check import Check, CheckKind, Measurement, Source, Verdict
from imlp_audit.records.result import AuditResult
from imlp_audit.spec.paper import LocatedWaiver
from imlp_audit.spec.parse_yaml import parse_tree
from imlp_audit.spec.schema import Expected
from imlp_audit.spec.tree import Located, SpecText
from tests.checks.papers import Count, Spec, run, write

CHECK = Check(
    id="p/1/a/params",
    kind=CheckKind.CELL,
    verdict=Verdict.DIFFERS,
    reason="4 is outside [5, 6)",
    source=Source(file="table.yaml", line=7),
    printed="5.00",
    measured="4",
    reading="plain",
    convention="all",
    also=(
        Measurement(reading="skip", convention="all", measured="3", verdict=Verdict.DIFFERS),
        Measurement(reading="plain", convention="no_head", measured="2", verdict=Verdict.DIFFERS),
    ),
)
MEASURED = {"plain/all": "4", "plain/no_head": "2", "skip/all": "3"}
OTHER = CHECK.model_copy(update={"id": "p/1/b/params", "verdict": Verdict.REPRODUCED})


def waiver(
    verdict: Verdict = Verdict.DIFFERS,
    printed: str | None = "5.00",
    measured: str | dict[str, str] | None = MEASURED,
    check: str = CHECK.id,
) -> LocatedWaiver:
    tree, _ = parse_tree("\n\n- {id: x}\n", "waivers.yaml")
    assert tree is not None
    expected = Expected(id=check, verdict=verdict, printed=printed, measured=measured)
    return LocatedWaiver(Located(expected, SpecText("waivers.yaml", tree), (0,)), "the row's recipe is not told")


def exits(checks: list[Check]) -> ExitCode:
    return exit_code(AuditResult(papers=(), versions={}, checks=tuple(checks)), strict=False)


def test_a_finding_that_is_as_expected_is_waived() -> None:
    checks = waive([CHECK, OTHER], [waiver()])
    told = {"verdict": Verdict.WAIVED, "finding": Verdict.DIFFERS, "waiver": "the row's recipe is not told"}
    assert checks == [CHECK.model_copy(update=told), OTHER]
    assert exits([CHECK]) is ExitCode.FINDINGS
    assert exits(checks) is ExitCode.CLEAN


DRIFTED_ALSO = (CHECK.also[0], CHECK.also[1].model_copy(update={"measured": "2.000000000001"}))


@pytest.mark.parametrize(
    "change",
    [
        {"verdict": Verdict.INCONSISTENT},
        {"printed": "5.0"},
        {"printed": "5.01"},
        {"printed": None},
        {"measured": "4.000000000001"},
        {"measured": None},
        {"also": DRIFTED_ALSO},
        {"also": CHECK.also[:1]},
        {"also": (*CHECK.also, Measurement(reading="skip", measured="1", verdict=Verdict.DIFFERS))},
        {"reading": "another"},
        {"convention": "another"},
    ],
)
def test_any_change_of_a_finding_breaks_its_waiver(change: dict[str, object]) -> None:
    changed = CHECK.model_copy(update=change)
    (check,) = waive([changed], [waiver()])
    assert check.verdict is changed.verdict
    assert check.reason.startswith(f"{CHECK.reason}; its waiver no longer holds: it expects ")
    assert check == changed.model_copy(update={"reason": check.reason})
    assert exits([check]) is ExitCode.FINDINGS


@pytest.mark.parametrize(
    "expected",
    [
        waiver(verdict=Verdict.INCONSISTENT),
        waiver(printed="5.0"),
        waiver(printed=None),
        waiver(measured="4"),
        waiver(measured=None),
        waiver(measured={}),
        waiver(measured={"plain/all": "4"}),
        waiver(measured={**MEASURED, "plain/all": "4.0"}),
        waiver(measured={**MEASURED, "skip/no_head": "1"}),
    ],
)
def test_a_waiver_that_expects_anything_else_does_not_hold(expected: LocatedWaiver) -> None:
    (check,) = waive([CHECK], [expected])
    assert check.verdict is Verdict.DIFFERS
    assert exits([check]) is ExitCode.FINDINGS


def test_one_value_for_all_is_expected_where_all_are_the_same() -> None:
    same = CHECK.model_copy(update={"also": (CHECK.also[0].model_copy(update={"measured": "4"}),)})
    assert [one.verdict for one in waive([same], [waiver(measured="4")])] == [Verdict.WAIVED]
    assert [one.verdict for one in waive([same], [waiver(measured={"plain/all": "4", "skip/all": "4"})])] == [
        Verdict.DIFFERS
    ]


def test_a_finding_about_the_paper_itself_has_nothing_measured() -> None:
    bare = {"verdict": Verdict.INCONSISTENT, "measured": None, "reading": None, "convention": None, "also": ()}
    check = CHECK.model_copy(update=bare)
    expected = waiver(Verdict.INCONSISTENT, measured=None)
    assert [one.verdict for one in waive([check], [expected])] == [Verdict.WAIVED]
    assert [one.verdict for one in waive([check], [waiver(Verdict.INCONSISTENT, measured="4")])] == [check.verdict]


@pytest.mark.parametrize("verdict", [Verdict.REPRODUCED, Verdict.REPRODUCED_UNDER, Verdict.UNVERIFIABLE])
def test_a_waiver_of_a_check_that_now_passes_is_a_finding(verdict: Verdict) -> None:
    fine = CHECK.model_copy(update={"verdict": verdict})
    check, broken = waive([fine], [waiver()])
    assert check == fine
    assert (broken.id, broken.kind, broken.verdict) == ("p/waivers/1/a/params", CheckKind.WAIVER, Verdict.DIFFERS)
    assert broken.source == Source(file="waivers.yaml", line=3)
    assert f"it expects differs, found {verdict}" in broken.reason
    assert exits([check]) is ExitCode.CLEAN
    assert exits([check, broken]) is ExitCode.FINDINGS


def test_an_error_stays_one() -> None:
    error = CHECK.model_copy(update={"verdict": Verdict.ERROR, "measured": None, "also": ()})
    assert waive([error], [waiver()]) == [error]
    assert exits([error]) is ExitCode.INCOMPLETE


def test_checks_without_a_waiver_are_left_alone_and_in_order() -> None:
    checks = [CHECK, OTHER, CHECK.model_copy(update={"id": "q/1/a/params"})]
    assert waive(checks, [waiver(check="p/1/c/params")]) == checks
    assert waive(checks, []) == checks


ROW = "{id: a, label: A, model: {timm: host}, printed: {params: 5.00}}"
WAIVED = """\
waivers:
  - reason: the recipe is not told
    checks:
      - {id: p/1/a/params, verdict: differs, printed: "5.00", measured: "6000000"}
"""


@pytest.mark.parametrize(
    ("row", "params", "verdicts"),
    [
        (ROW, 6_000_000, {"p/1/a/params": Verdict.WAIVED}),
        (ROW, 6_000_001, {"p/1/a/params": Verdict.DIFFERS}),
        (ROW.replace("5.00", "5.01"), 6_000_000, {"p/1/a/params": Verdict.DIFFERS}),
        (ROW.replace("5.00", "5.0"), 6_000_000, {"p/1/a/params": Verdict.DIFFERS}),
        (ROW, 5_000_000, {"p/1/a/params": Verdict.REPRODUCED, "p/waivers/1/a/params": Verdict.DIFFERS}),
        (
            ROW.replace("5.00", "6.00"),
            6_000_000,
            {"p/1/a/params": Verdict.REPRODUCED, "p/waivers/1/a/params": Verdict.DIFFERS},
        ),
    ],
)  # fmt: skip
def test_from_a_spec_to_an_exit_code(tmp_path: Path, row: str, params: int, verdicts: dict[str, Verdict]) -> None:
    selection = write(tmp_path, Spec((row,), end=WAIVED))
    checks = run(selection, {"host": Count(params)})
    waived = waive([checks["p/1/a/params"]], selection.papers[0].waivers)
    assert {one.id: one.verdict for one in waived} == verdicts
    assert exits(waived) is (ExitCode.CLEAN if Verdict.WAIVED in verdicts.values() else ExitCode.FINDINGS)


EQUATION = Check(
    id="p/equations/eq1",
    kind=CheckKind.EQUATION,
    verdict=Verdict.DIFFERS,
    reason="false",
    source=Source(file="eq1.py", line=1),
    printed="y = x",
    counterexample=("x = 1", "left = 2"),
)


@pytest.mark.parametrize(
    ("counterexample", "told"),
    [
        ("x = 1; left = 2", None),
        ("x = 1; left = 3", "it expects counterexample: x = 1; left = 3, found counterexample: x = 1; left = 2"),
        (None, "it expects counterexample: None, found counterexample: x = 1; left = 2"),
    ],
)
def test_an_equation_is_waived_by_its_counterexample(counterexample: str | None, told: str | None) -> None:
    expected = waiver(printed="y = x", measured=None, check=EQUATION.id)
    value = expected.expected.value.model_copy(update={"counterexample": counterexample})
    located = LocatedWaiver(Located(value, expected.expected.file, (0,)), expected.reason)
    (found,) = waive([EQUATION], [located])
    assert (found.verdict is Verdict.WAIVED) == (told is None)
    assert told is None or told in found.reason
