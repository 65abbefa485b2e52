"""JUnit XML: a test suite for each table, claims and equations of a paper, and a test case for each check.

A failing check that is acknowledged is skipped with its finding's title, because it does not fail the run; what cannot
be decided is skipped with its reason. There are no times in it: equal results are equal bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never
from xml.etree import ElementTree as ET

from imlp_audit.records.check import Check, Verdict
from imlp_audit.records.result import AuditResult
from imlp_audit.report.document import one_line
from imlp_audit.report.verdicts import describe_check, explain_command, word_of


def render_junit(result: AuditResult) -> str:
    """Return the checks of a result as test cases."""
    root = ET.Element("testsuites", name="imlp-audit")
    titles = {finding.id: finding.title for finding in result.findings}
    tables = {f"{paper.id}/{table.id}": table.title for paper in result.papers for table in paper.tables}
    suites: dict[str, list[Check]] = {}
    for check in result.checks:
        suites.setdefault("/".join(check.id.split("/")[:2]), []).append(check)
    cases = [
        case
        for name, checks in suites.items()
        for case in _add_suite(root, name, tables.get(name), [(check, _outcome(check, titles)) for check in checks])
    ]
    root.attrib |= _counts(cases)
    ET.indent(root)
    text = ET.tostring(root, encoding="unicode").replace("##[", "#&#35;[")  # would be a command in a log of GitHub's
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _add_suite(
    root: ET.Element, name: str, title: str | None, found: Sequence[tuple[Check, ET.Element | None]]
) -> list[ET.Element]:
    """Add a suite, and return its test cases."""
    label = name.replace("/", " ", 1) if title is None else f"{name.replace('/', ' Table ', 1)}: {title}"
    suite = ET.SubElement(root, "testsuite", name=one_line(label))
    cases = []
    for check, outcome in found:
        case = ET.SubElement(suite, "testcase", classname=one_line(name.replace("/", ".")), name=one_line(check.id))
        case.extend([] if outcome is None else [outcome])
        cases.append(case)
    counts = _counts(cases)
    suite.attrib |= {**counts, "skipped": str(sum(case.find("skipped") is not None for case in cases))}
    return cases


def _counts(cases: Sequence[ET.Element]) -> dict[str, str]:
    failures, errors = (sum(case.find(name) is not None for case in cases) for name in ("failure", "error"))
    return {"tests": str(len(cases)), "failures": str(failures), "errors": str(errors)}


def _outcome(check: Check, titles: dict[str, str]) -> ET.Element | None:
    """Return what a test case holds: nothing if the check passes."""
    match check.verdict:
        case Verdict.REPRODUCED | Verdict.REPRODUCED_UNDER:
            return None
        case Verdict.UNVERIFIABLE:
            return ET.Element("skipped", message=one_line(f"unverifiable: {check.reason}"))
        case Verdict.ERROR:
            return _problem("error", check)
        case Verdict.DIFFERS | Verdict.INCONSISTENT:
            if check.acknowledged:
                title = titles.get(check.finding or "", check.finding)
                return ET.Element("skipped", message=one_line(f"known: {title}: {describe_check(check)}"))
            return _problem("failure", check)
        case _:
            assert_never(check.verdict)


def _problem(tag: str, check: Check) -> ET.Element:
    """Return a failure or an error: what was found in its message, and below it where, and how to ask further."""
    problem = ET.Element(tag, type=check.verdict.value, message=one_line(describe_check(check)))
    lines = [f"{word_of(check.verdict)}: {describe_check(check)}", *(f"hint: {hint}" for hint in check.hints)]
    lines += [f"in the paper: {check.place}"] if check.place else []
    lines += [f"at: {check.source.file}:{check.source.line}", f"ask: {explain_command(check)}"]
    problem.text = "\n".join(map(one_line, lines))
    return problem
