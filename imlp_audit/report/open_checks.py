"""What could not be checked, what it takes, and how many of the numbers nothing guards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from imlp_audit.numbers.words import count_of, list_some
from imlp_audit.records.check import Check, CheckKind, Verdict
from imlp_audit.records.result import AuditResult
from imlp_audit.report.document import Block, Heading, Inline, Item, List, Paragraph
from imlp_audit.report.verdicts import describe_unguarded

_NUMBERS = (CheckKind.CELL, CheckKind.DELTA)


def open_checks(result: AuditResult) -> Iterator[Block]:
    """Yield the unverifiable checks, grouped by what is missing, the largest group first."""
    missing = [check for check in result.checks if check.verdict is Verdict.UNVERIFIABLE]
    unverifiable = [check for check in missing if not check.evidence]  # runs have a section of their own
    unguarded = describe_unguarded(result)
    if not unverifiable and unguarded is None:
        return
    yield Heading("What could not be checked")
    if unguarded is not None:
        yield Paragraph(unguarded)
    groups: dict[str, list[Check]] = {}
    for check in unverifiable:
        groups.setdefault(check.reason, []).append(check)
    ordered = sorted(groups.items(), key=lambda group: -len(group[1]))
    if ordered:
        yield List(tuple(_group(reason, checks) for reason, checks in ordered))


def _group(reason: str, checks: Sequence[Check]) -> Inline | Item:
    noun = "number" if all(check.kind in _NUMBERS for check in checks) else "check"
    return Item(f"{reason}: {count_of(len(checks), noun)} ({list_some([check.id for check in checks])})")
