"""The formats for other programs: valid by their schemas, and true to the result."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jsonschema
import pytest

from imlp_audit.records.check import FAILS, CellCheck, CheckKind, Source, Verdict
from imlp_audit.records.finding import Finding, FindingKind
from imlp_audit.records.result import AuditResult
from imlp_audit.report.github_and_sarif import MOST, file_uri, render_annotations, render_sarif
from imlp_audit.report.verdicts import explain_command

from .results import BENIGN, check, everywhere, full, head
from .test_inert import MARKUP

SCHEMAS = Path(__file__).parent / "schemas"
EMPTY = AuditResult(papers=(head(),), versions={}, checks=())
EVERYTHING = " ".join(MARKUP)


def sarif(result: AuditResult) -> dict[str, Any]:
    """The one run of a result's SARIF log."""
    (run,) = json.loads(render_sarif(result))["runs"]
    return dict(run)


def of_kind(kind: FindingKind, *, acknowledged: bool) -> AuditResult:
    """A result with one failing check, of a finding of that kind."""
    one = check("claims/a", CheckKind.CLAIM, Verdict.DIFFERS, finding="f", acknowledged=acknowledged)
    finding = Finding(id="f", paper="p", title="T", kind=kind, why="w", checks=(one.id,), acknowledged=acknowledged)
    return AuditResult(papers=(head(),), versions={}, checks=(one,), findings=(finding,))


@pytest.mark.parametrize("result", [EMPTY, full(), everywhere(EVERYTHING)], ids=["empty", "full", "hostile"])
def test_sarif_is_valid_by_the_official_schema(result: AuditResult) -> None:
    schema = json.loads(gzip.decompress((SCHEMAS / "sarif-schema-2.1.0.json.gz").read_bytes()))
    log = json.loads(render_sarif(result))
    assert log["$schema"] == schema["id"]
    jsonschema.Draft4Validator(schema).validate(log)
    log["runs"][0]["results"] = [{"message": {}}]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft4Validator(schema).validate(log)


def test_sarif_has_each_failing_and_broken_check_at_its_line() -> None:
    result = full()
    found = {one["locations"][0]["logicalLocations"][0]["fullyQualifiedName"]: one for one in sarif(result)["results"]}
    assert list(found) == [one.id for one in result.checks if one.verdict in (*FAILS, Verdict.ERROR)]
    for one in result.checks:
        if one.id in found:
            place = found[one.id]["locations"][0]["physicalLocation"]
            assert (place["artifactLocation"]["uri"], place["region"]) == ("specs/p/paper.yaml", {"startLine": 7})
            acknowledged = [{"kind": "external", "status": "accepted", "justification": BENIGN}]
            assert found[one.id]["suppressions"] == (acknowledged if one.acknowledged else [])


def test_sarif_rules_are_stable_and_named_by_every_result() -> None:
    run = sarif(full())
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == [
        "printed-number", "printed-change", "footnote-mark", "repeated-number", "column-heading", "claim", "equation",
        "not-completed",
    ]  # fmt: skip
    assert {one["ruleId"] for one in run["results"]} == {rule["id"] for rule in rules}
    assert all(rules[one["ruleIndex"]]["id"] == one["ruleId"] for one in run["results"])
    assert run["invocations"] == [{"executionSuccessful": False}]
    assert sarif(EMPTY)["invocations"] == [{"executionSuccessful": True}]


@pytest.mark.parametrize(
    ("kind", "level"), [(FindingKind.ASK, "error"), (FindingKind.MISPRINT, "warning"), (FindingKind.NOTE, "note")]
)
def test_sarif_levels_follow_the_kind_of_a_finding(kind: FindingKind, level: str) -> None:
    (one,) = sarif(of_kind(kind, acknowledged=False))["results"]
    assert (one["level"], one["properties"]) == (level, {"verdict": "differs", "finding": "f"})


def test_an_alert_is_followed_by_the_id_of_its_check_and_not_by_its_line() -> None:
    result = full()
    moved = result.model_copy(
        update={"checks": tuple(c.model_copy(update={"source": Source(file="x", line=99)}) for c in result.checks)}
    )
    prints = [[one["partialFingerprints"] for one in sarif(found)["results"]] for found in (result, moved)]
    assert prints[0] == prints[1]
    assert len({json.dumps(one) for one in prints[0]}) == len(prints[0])


@pytest.mark.parametrize(
    ("file", "uri"),
    [
        ("specs/imlp/table1.yaml", "specs/imlp/table1.yaml"),
        ("./mine.yaml", "mine.yaml"),
        ("../my paper/50%.yaml", "../my%20paper/50%25.yaml"),
        ("a:b/ü#?.yaml", "a%3Ab/%C3%BC%23%3F.yaml"),
        ("/home/me/p.yaml", "file:///home/me/p.yaml"),
        ("C:/papers/p.yaml", "file:///C:/papers/p.yaml"),
        ("javascript:alert(1)", "javascript%3Aalert%281%29"),
    ],
)
def test_a_file_is_a_uri(file: str, uri: str) -> None:
    assert file_uri(file) == uri
    assert unquote(uri).removeprefix("file:///").endswith(file.removeprefix("./").lstrip("/"))


@pytest.mark.parametrize("count", [0, 1, MOST, MOST + 1, 35])
def test_github_shows_the_worst_ten_and_counts_the_rest(count: int) -> None:
    tables = [check(f"{at}/r/params", CheckKind.CELL, Verdict.DIFFERS, printed="1") for at in range(count)]
    lines = render_annotations(EMPTY.model_copy(update={"checks": tuple(tables)})).splitlines()
    errors = [line for line in lines if line.startswith("::error ")]
    assert len(errors) == min(count, MOST)
    assert len(lines) == len(errors) + 1
    assert lines[-1].startswith("::notice title=imlp-audit::")
    assert (f"{count - MOST} more problem" in lines[-1]) is (count > MOST)


def test_github_escapes_as_its_documentation_says() -> None:
    one = check(
        "claims/a", CheckKind.CLAIM, Verdict.DIFFERS, "50 %, a: b\nc", source=Source(file="a,b:c%.yaml", line=3)
    )
    line = render_annotations(EMPTY.model_copy(update={"checks": (one,)})).splitlines()[0]
    place = "file=a%2Cb%3Ac%25.yaml,line=3,title=p%3A ask%3A a%3A 1 claim about the numbers does not hold"
    assert line == f"::error {place}::p/claims/a: 50 %25, a: b%0Ac%0AAsk: imlp-audit explain p/claims/a a,b:c%25.yaml"


def test_github_says_what_is_acknowledged_and_what_no_longer_is_once() -> None:
    lines = render_annotations(of_kind(FindingKind.MISPRINT, acknowledged=True)).splitlines()
    assert len(lines) == 1
    assert lines[0].endswith("::1 check: 1 fails (known)%0A1 known finding")
    assert [line for line in render_annotations(full()).splitlines() if line.startswith("::warning ")] == [
        "::warning file=p.lock,line=3,title=p/1/gone/params is known%2C and has changed::plain words"
    ]


@pytest.mark.parametrize(
    ("file", "command"),
    [
        ("specs/imlp/table1.yaml", "imlp-audit explain p/1/a"),
        ("my paper.yaml", "imlp-audit explain p/1/a 'my paper.yaml'"),
        ("mine/equations/sec2.py", "imlp-audit explain p/1/a mine --trust-code"),
        ("equations/sec2.py", "imlp-audit explain p/1/a . --trust-code"),
    ],
)
def test_the_command_that_explains_a_check_names_its_spec(file: str, command: str) -> None:
    check = CellCheck(
        id="p/1/a", verdict=Verdict.DIFFERS, reason="", source=Source(file=file, line=1)
    )  # fmt: skip
    assert explain_command(check) == command


def test_messages_have_the_place_in_the_paper_first() -> None:
    one = check("claims/a", CheckKind.CLAIM, Verdict.DIFFERS, "it is 3", printed="4", place="Sec. 5.1")
    result = EMPTY.model_copy(update={"checks": (one,)})
    said = "Sec. 5.1 (p/claims/a): printed 4; it is 3"
    assert f"::{said}%0AAsk: " in render_annotations(result).splitlines()[0]
    (found,) = json.loads(render_sarif(result))["runs"][0]["results"]
    assert found["message"]["text"] == said
