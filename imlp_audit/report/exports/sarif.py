"""SARIF 2.1.0: a result for each check that fails or could not be made, at its line of the spec.

Written for GitHub's code scanning, which shows a rule's short description as the title of an alert and its help below
it, and follows an alert from run to run by `partialFingerprints`: they come from the check's id, so that an edit
elsewhere in the spec opens no new alert.
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import NamedTuple
from urllib.parse import quote

from imlp_audit.records.check import FAILS, Check, CheckKind, Verdict
from imlp_audit.records.document import dump_json
from imlp_audit.records.finding import Finding, FindingKind
from imlp_audit.records.result import AuditResult
from imlp_audit.report.document import one_line
from imlp_audit.report.verdicts import describe_check, place_and_id

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {FindingKind.ASK: "error", FindingKind.MISPRINT: "warning", FindingKind.NOTE: "note"}
_PRECEDING = re.compile(r"\](?=\()|\{(?=\d+\})")  # would begin a link or a placeholder in a message


class _Rule(NamedTuple):
    """A kind of problem: its stable id, what is wrong in a line, and what it means."""

    id: str
    title: str
    meaning: str


_RULES = {
    CheckKind.CELL: _Rule(
        "printed-number",
        "A printed number does not follow from the model",
        "The number was counted or measured on the model that the paper describes, and it does not print as the paper "
        "prints it, under the reading, convention and rounding that explain most of the paper's numbers.",
    ),
    CheckKind.DELTA: _Rule(
        "printed-change",
        "A printed change does not follow from its two numbers",
        "The change was computed from the printed numbers, or from the measured ones where the id ends in .measured.",
    ),
    CheckKind.MARK: _Rule(
        "footnote-mark",
        "A footnote mark does not fit its row",
        "The mark stands for a change of the recipe that the row's numbers do not show, or the other way round.",
    ),
    CheckKind.REPEAT: _Rule(
        "repeated-number",
        "A number is printed with different values",
        "The same quantity is printed in several places, and not with the same value.",
    ),
    CheckKind.COLUMN: _Rule(
        "column-heading",
        "A heading does not fit the numbers below it",
        "The numbers of the column follow from something else than what its heading says.",
    ),
    CheckKind.CLAIM: _Rule(
        "claim",
        "A claim about the numbers does not hold",
        "The text says something about the paper's own numbers, or the measured ones, that is not so.",
    ),
    CheckKind.EQUATION: _Rule(
        "equation",
        "A statement about functions is false as printed",
        "The statement was run on small examples, and the message has one on which it is false.",
    ),
}
_BROKEN = _Rule(
    "not-completed",
    "A check could not be completed",
    "A model could not be built or counted, or a claim could not be run. The message has the reason.",
)
_ORDER = [*_RULES.values(), _BROKEN]


def render_sarif(result: AuditResult) -> str:
    """Return the failing and the broken checks of a result as a SARIF log."""
    findings = {name: finding for finding in (*result.findings, *result.unexplained()) for name in finding.checks}
    failing = [check for check in result.checks if check.verdict in (*FAILS, Verdict.ERROR)]
    version = result.versions.get("imlp_audit")
    driver = {"name": "imlp-audit", **({"version": version} if version else {}), "rules": list(map(_rule, _ORDER))}
    run = {
        "tool": {"driver": driver},
        "invocations": [{"executionSuccessful": not any(check.verdict is Verdict.ERROR for check in failing)}],
        "results": [_result(check, findings.get(check.id)) for check in failing],
    }
    return dump_json({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


def _rule(rule: _Rule) -> dict[str, object]:
    help_ = f"{rule.meaning} Ask `imlp-audit explain ID` about a check; its id is in the message."
    return {
        "id": rule.id,
        "name": rule.id.title().replace("-", ""),
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.meaning},
        "help": {"text": help_, "markdown": help_},
        "defaultConfiguration": {"level": "error"},
    }


def _result(check: Check, finding: Finding | None) -> dict[str, object]:
    rule = _BROKEN if check.verdict is Verdict.ERROR else _RULES[check.kind]
    acknowledged = [_suppression(finding.title if finding else check.finding or "")] if check.acknowledged else []
    return {
        "ruleId": rule.id,
        "ruleIndex": _ORDER.index(rule),
        "level": "error" if finding is None else _LEVELS[finding.kind],
        "message": {"text": _message(f"{place_and_id(check)}: {describe_check(check)}")},
        "locations": [_location(check)],
        "partialFingerprints": {"primaryLocationLineHash": f"{sha256(check.id.encode()).hexdigest()[:16]}:1"},
        "suppressions": acknowledged,
        "properties": {"verdict": check.verdict.value, **({"finding": finding.id} if finding else {})},
    }


def _suppression(title: str) -> dict[str, str]:
    """Say that a check is acknowledged, and by which finding: outside of the file that it is about."""
    return {"kind": "external", "status": "accepted", "justification": one_line(title)}


def _location(check: Check) -> dict[str, object]:
    artifact, region = {"uri": file_uri(check.source.file)}, {"startLine": max(check.source.line, 1)}
    if not artifact["uri"].startswith("file:"):
        artifact["uriBaseId"] = "%SRCROOT%"
    return {
        "physicalLocation": {"artifactLocation": artifact, "region": region},
        "logicalLocations": [{"fullyQualifiedName": one_line(check.id)}],
    }


def file_uri(file: str) -> str:
    """Return a file's name as a URI: relative, with forward slashes and percent signs for what may not stand in it."""
    path = quote(file.removeprefix("./"), safe="/", errors="replace")
    if re.match("[A-Za-z]:/", file):  # a drive
        return f"file:///{file[0]}:{path[4:]}"
    return f"file://{path}" if path.startswith("/") else path


def _message(text: str) -> str:
    """Return text that a viewer shows as it is: in a message `[text](address)` is a link and `{0}` an argument."""
    return _PRECEDING.sub(lambda found: f"{found[0]} ", one_line(text))
