import json
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings

from imlp_audit.cli.output import ExitCode, exit_code
from imlp_audit.errors import UsageError
from imlp_audit.records.base import from_json, to_json
from imlp_audit.records.check import CellCheck, Source, Verdict
from imlp_audit.records.result import AuditResult, PaperHead
from tests.strategies import results

CHECK = CellCheck(
    id="p/1/a/params",
    verdict=Verdict.REPRODUCED,
    reason="5 lies in [4.5, 5.5)",
    source=Source(file="table.yaml", line=7),
)


def result(*verdicts: Verdict) -> AuditResult:
    checks = tuple(CHECK.model_copy(update={"verdict": verdict}) for verdict in verdicts)
    return AuditResult(papers=(), versions={}, checks=checks)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(results)
def test_a_result_is_read_back_as_written(written: AuditResult) -> None:
    text = to_json(written)
    assert from_json(AuditResult, text, "a.json") == written
    assert to_json(from_json(AuditResult, text, "a.json")) == text


def test_equal_results_are_equal_bytes_with_sorted_keys() -> None:
    one = AuditResult(papers=(), versions={"b": "1", "a": "2"}, checks=(CHECK,))
    other = AuditResult(papers=(), versions={"a": "2", "b": "1"}, checks=(CHECK.model_copy(),))
    assert to_json(one) == to_json(other)
    document = json.loads(to_json(one))
    assert to_json(one) == json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def test_the_format_and_the_summary_head_the_document() -> None:
    document = json.loads(to_json(result(Verdict.DIFFERS, Verdict.DIFFERS)))
    assert document["format"] == "imlp-audit/3"
    assert document["summary"] == dict.fromkeys(Verdict, 0) | {"differs": 2, "acknowledged": 0, "fitted": 0, "weak": 0}


def test_what_a_check_lacks_is_not_written() -> None:
    (check,) = json.loads(to_json(result(Verdict.REPRODUCED)))["checks"]
    assert set(check) == {"id", "kind", "verdict", "reason", "source"}


VALID = json.loads(to_json(result(Verdict.REPRODUCED)))


def changed(change: Callable[[dict[str, object]], object]) -> str:
    document = json.loads(json.dumps(VALID))
    change(document)
    return json.dumps(document)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", f"not a result of format {AuditResult.FORMAT}"),
        ("5", f"not a result of format {AuditResult.FORMAT}"),
        ("null", f"not a result of format {AuditResult.FORMAT}"),
        ("{}", f"not a result of format {AuditResult.FORMAT}"),
        (changed(lambda d: d.pop("format")), f"not a result of format {AuditResult.FORMAT}"),
        (changed(lambda d: d.update(format=[])), f"not a result of format {AuditResult.FORMAT}"),
        (changed(lambda d: d.pop("checks")), "checks: it is missing"),
        (changed(lambda d: d.update(extra=1)), "extra: it is not a known key"),
        (changed(lambda d: d.update(checks=[{**VALID["checks"][0], "verdict": "fine"}])), "checks.0.verdict: "),
        (changed(lambda d: d.update(checks=[{**VALID["checks"][0], "verdict": "PASS"}])), "checks.0.verdict: "),
        (changed(lambda d: d.update(checks=[{**VALID["checks"][0], "measured": 5}])), "checks.0.measured: "),
        (changed(lambda d: d.update(checks=[{**VALID["checks"][0], "colour": "red"}])), "checks.0.colour: "),
    ],
)  # fmt: skip
def test_anything_else_is_refused_with_advice(text: str, told: str) -> None:
    with pytest.raises(UsageError) as raised:
        from_json(AuditResult, text, "a.json")
    assert str(raised.value).startswith("a.json: ")
    assert told in str(raised.value)
    assert str(raised.value).endswith("give a file written by `imlp-audit verify --format json`")


def test_a_result_of_another_version_is_refused_with_what_to_run() -> None:
    with pytest.raises(UsageError) as raised:
        from_json(AuditResult, changed(lambda d: d.update(format="imlp-audit/1")), "a.json")
    assert str(raised.value) == (
        "a.json: format imlp-audit/1 was written by another version of imlp-audit, and this one reads imlp-audit/3; "
        "run `imlp-audit verify --format json` again"
    )


def test_counts_are_of_all_verdicts_in_order() -> None:
    counts = result(Verdict.DIFFERS, Verdict.REPRODUCED, Verdict.DIFFERS).counts()
    assert list(counts) == list(Verdict)
    assert {verdict: count for verdict, count in counts.items() if count} == {
        Verdict.REPRODUCED: 1,
        Verdict.DIFFERS: 2,
    }


def test_the_part_of_one_paper() -> None:
    empty = {"rounding": (), "parameters": (), "flops": (), "readings": (), "tables": ()}
    heads = [PaperHead(id=i, title=i, authors="", version="", **empty) for i in ("p", "pp")]
    checks = tuple(CHECK.model_copy(update={"id": f"{i}/1/a/params"}) for i in ("p", "pp", "p"))
    whole = AuditResult(papers=tuple(heads), versions={"v": "1"}, checks=checks)
    assert whole.of(heads[0]) == AuditResult(papers=(heads[0],), versions={"v": "1"}, checks=checks[::2])


@pytest.mark.parametrize(
    ("verdicts", "code", "strict"),
    [
        ([], 0, 0),
        ([Verdict.REPRODUCED, Verdict.REPRODUCED_UNDER], 0, 0),
        ([Verdict.UNVERIFIABLE], 0, 1),
        ([Verdict.REPRODUCED, Verdict.DIFFERS], 1, 1),
        ([Verdict.REPRODUCED, Verdict.INCONSISTENT], 1, 1),
        ([Verdict.ERROR], 3, 3),
        ([Verdict.DIFFERS, Verdict.ERROR, Verdict.UNVERIFIABLE], 3, 3),
    ],
)
def test_exit_codes(verdicts: list[Verdict], code: int, strict: int) -> None:
    assert exit_code(result(*verdicts), strict=False) == ExitCode(code)
    assert exit_code(result(*verdicts), strict=True) == ExitCode(strict)
