"""GitHub's annotations: workflow commands on standard output that show findings at their lines of the spec.

GitHub keeps ten errors, ten warnings and ten notices of a step (see "Workflow commands for GitHub Actions" and "Usage
limits" in its documentation), so ten findings are annotated, what to ask the authors first, and one notice counts the
rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from imlp_audit.errors import Problem
from imlp_audit.numbers.words import count_of, list_some
from imlp_audit.records.check import Check, Source, Verdict
from imlp_audit.records.finding import Finding, FindingKind
from imlp_audit.records.result import AuditResult
from imlp_audit.report.document import one_line
from imlp_audit.report.findings import worst_first
from imlp_audit.report.text import shorten
from imlp_audit.report.verdicts import describe_check, explain_command, place_and_id, summarize

MOST = 10  # of a step that GitHub keeps
_COMMANDS = {FindingKind.ASK: "error", FindingKind.MISPRINT: "warning", FindingKind.NOTE: "notice"}
_TITLE = 200  # characters; GitHub refuses more than 255
_MESSAGE = 2000  # characters; GitHub refuses more than 64 kB


def render_annotations(result: AuditResult) -> str:
    """Return a result as workflow commands, a line each."""
    return "".join(f"{line}\n" for line in _commands(result))


def render_problems(problems: Sequence[Problem]) -> str:
    """Return mistakes in specs as workflow commands, each at its line."""
    lines = [
        _command("error", "this spec cannot be used", one.message, Source(file=one.file, line=one.line))
        for one in problems[:MOST]
    ]
    rest = len(problems) - MOST
    more = [_command("notice", "imlp-audit", f"{count_of(rest, 'more mistake')} in the specs")] if rest > 0 else []
    return "".join(f"{line}\n" for line in (*lines, *more))


def _commands(result: AuditResult) -> Iterator[str]:
    findings = worst_first(result)
    open_ = [finding for finding in findings if not finding.acknowledged]
    broken = [check for check in result.checks if check.verdict is Verdict.ERROR]
    errors = [*(_finding(one, result.checks_of(one)) for one in open_), *map(_broken, broken)]
    yield from errors[:MOST]
    for entry in result.stale[:MOST]:
        title = f"{entry.check} is known, and has changed"
        yield _command("warning", title, entry.reason, entry.source)
    for found in result.stale_findings[:MOST]:
        yield _command("warning", f"the finding {found.id} covers checks that do not fail", found.reason, found.source)
    rest = [(len(errors) - MOST, "more problem"), (len(result.stale) - MOST, "more entry that no longer holds")]
    rest += [(len(findings) - len(open_), "known finding")]
    counted = [count_of(count, noun) for count, noun in rest if count > 0]
    yield _command("notice", "imlp-audit", "\n".join((summarize(result), *counted)))


def _finding(finding: Finding, checks: Sequence[Check]) -> str:
    """Annotate the first check of a finding that fails the run, and name the others."""
    first, *others = sorted(checks, key=lambda check: check.acknowledged is True)
    also = (f"Also {list_some([check.id for check in others])}.",) if others else ()
    text = "\n".join((f"{place_and_id(first)}: {describe_check(first)}", *also, f"Ask: {explain_command(first)}"))
    return _command(
        _COMMANDS[finding.kind], f"{finding.paper}: {finding.kind.value}: {finding.title}", text, first.source
    )


def _broken(check: Check) -> str:
    return _command("error", f"{place_and_id(check)} could not be checked", check.reason, check.source)


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
