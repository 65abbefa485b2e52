"""The formats of an audit's result for other programs: GitHub's annotations and SARIF. Pure, without times.

GitHub keeps ten errors, ten warnings and ten notices of a step (see "Workflow commands for GitHub Actions" and "Usage
limits" in its documentation), so ten findings are annotated, what to ask the authors first, and one notice counts the
rest. Its code scanning shows a rule's short description as the title of an alert and its help below it, and follows an
alert from run to run by `partialFingerprints`: they come from the check's id, so that an edit elsewhere in the spec
opens no new alert.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import sha256
from urllib.parse import quote

from imlp_audit.numbers.words import count_of, list_some
from imlp_audit.records.base import dump_json
from imlp_audit.records.check import FAILS, Check, CheckKind, Source, Verdict
from imlp_audit.records.finding import Finding, FindingKind
from imlp_audit.records.result import AuditResult
from imlp_audit.report.document import one_line, shorten
from imlp_audit.report.findings import worst_first
from imlp_audit.report.verdicts import describe_check, explain_command, place_and_id, summarize

MOST = 10  # of a step that GitHub keeps
_COMMANDS = {FindingKind.ASK: "error", FindingKind.MISPRINT: "warning", FindingKind.NOTE: "notice"}
_TITLE = 200  # characters; GitHub refuses more than 255
_MESSAGE = 2000  # characters; GitHub refuses more than 64 kB


def render_annotations(result: AuditResult) -> str:
    """Return a result as workflow commands, a line each."""
    findings = worst_first(result)
    open_ = [finding for finding in findings if not finding.acknowledged]
    broken = [check for check in result.checks if check.verdict is Verdict.ERROR]
    errors = [_finding(one, result.checks_of(one)) for one in open_]
    errors += [_command("error", f"{place_and_id(one)} could not be checked", one.reason, one.source) for one in broken]
    stale = [(f"{one.check} is known, and has changed", one.reason, one.source) for one in result.stale]
    for found in result.stale_findings:
        stale.append((f"the finding {found.id} covers checks that do not fail", found.reason, found.source))
    warnings = [_command("warning", *one) for one in stale]
    shown = (*errors[:MOST], *warnings[:MOST])
    rest = ((len(errors) + len(warnings) - len(shown), "more problem"), (len(findings) - len(open_), "known finding"))
    counted = [count_of(count, noun) for count, noun in rest if count > 0]
    last = _command("notice", "imlp-audit", "\n".join((summarize(result), *counted)))
    return "".join(f"{line}\n" for line in (*shown, last))


def _finding(finding: Finding, checks: Sequence[Check]) -> str:
    first, *others = sorted(checks, key=lambda check: check.acknowledged is True)
    also = (f"Also {list_some([check.id for check in others])}.",) if others else ()
    text = "\n".join((describe_check(first), *also, f"Ask: {explain_command(first)}"))
    title = f"{finding.paper}: {finding.kind.value}: {finding.title}"
    return _command(_COMMANDS[finding.kind], title, text, first.source)


def _command(name: str, title: str, text: str, source: Source | None = None) -> str:
    """Write a workflow command. Line breaks of the text stay line breaks of the message."""
    place = {"file": source.file, "line": str(source.line)} if source else {}
    values = {**place, "title": shorten(one_line(title), _TITLE)}
    properties = ",".join(f"{key}={_escape_property(value)}" for key, value in values.items())
    message = "\n".join(shorten(one_line(line), _MESSAGE) for line in text.split("\n"))
    return f"::{name} {properties}::{_escape(message)}"


def _escape(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape(one_line(text)).replace(":", "%3A").replace(",", "%2C")


SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {FindingKind.ASK: "error", FindingKind.MISPRINT: "warning", FindingKind.NOTE: "note"}
_PRECEDING = re.compile(r"\](?=\()|\{(?=\d+\})")  # would begin a link or a placeholder in a message
_RULES = {
    CheckKind.CELL: ("printed-number", "A printed number does not follow from the model"),
    CheckKind.DELTA: ("printed-change", "A printed change does not follow from its two numbers"),
    CheckKind.MARK: ("footnote-mark", "A footnote mark does not fit its row"),
    CheckKind.REPEAT: ("repeated-number", "A number is printed with different values"),
    CheckKind.COLUMN: ("column-heading", "A heading does not fit the numbers below it"),
    CheckKind.CLAIM: ("claim", "A claim about the numbers does not hold"),
    CheckKind.EQUATION: ("equation", "A statement about functions is false as printed"),
}
_BROKEN = ("not-completed", "A check could not be completed")
_ORDER = [*_RULES.values(), _BROKEN]
_HELP = "Ask `imlp-audit explain ID` about a check; its id is in the message."


def render_sarif(result: AuditResult) -> str:
    """Return SARIF 2.1.0: a result for each check that fails or could not be made, at its line of the spec."""
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


def _rule(rule: tuple[str, str]) -> dict[str, object]:
    name, title = rule
    return {
        "id": name,
        "name": name.title().replace("-", ""),
        "shortDescription": {"text": title},
        "help": {"text": _HELP, "markdown": _HELP},
        "defaultConfiguration": {"level": "error"},
    }


def _result(check: Check, finding: Finding | None) -> dict[str, object]:
    rule = _BROKEN if check.verdict is Verdict.ERROR else _RULES[check.kind]
    title = one_line(finding.title if finding else check.finding or "")
    known = [{"kind": "external", "status": "accepted", "justification": title}]  # outside of the file
    # in a message `[text](address)` is a link and `{0}` an argument
    message = one_line(describe_check(check))
    return {
        "ruleId": rule[0],
        "ruleIndex": _ORDER.index(rule),
        "level": "error" if finding is None else _LEVELS[finding.kind],
        "message": {"text": _PRECEDING.sub(lambda found: f"{found[0]} ", message)},
        "locations": [_location(check)],
        "partialFingerprints": {"primaryLocationLineHash": f"{sha256(check.id.encode()).hexdigest()[:16]}:1"},
        "suppressions": known if check.acknowledged else [],
        "properties": {"verdict": check.verdict.value, **({"finding": finding.id} if finding else {})},
    }


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
