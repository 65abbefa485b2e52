"""Findings: what is wrong with a paper, in a person's words, and the failing checks that no finding explains yet."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from enum import StrEnum
from typing import Literal, NamedTuple

from imlp_audit.numbers.words import count_of
from imlp_audit.records.base import Record
from imlp_audit.records.check import FAILS, Check, CheckKind, Source, Verdict


class Severity(StrEnum):
    """How grave a finding is, the gravest first."""

    CONTRADICTION = "contradiction"  # the paper contradicts itself
    ERROR = "error"  # a number, a claim or an equation is wrong
    AMBIGUITY = "ambiguity"  # several meanings are possible, and the printed one is not decided by the text
    SLIP = "slip"  # a wrong digit, reference or symbol that nothing rests on


class Finding(Record):
    """One cause of failing checks: an entry of `findings.yaml`, or failing checks that no entry covers yet.

    Findings without an entry (`explained` is false) have a title and a severity by default. `acknowledged` is true if
    no check of the finding fails the run.
    """

    id: str
    paper: str
    title: str
    severity: Severity
    why: str
    checks: tuple[str, ...]
    explained: bool = True
    acknowledged: bool = False


class StaleEntry(Record):
    """An entry of a lock that no longer holds, and what to do about it."""

    check: str
    problem: Literal["gone", "passes", "changed", "uncovered"]
    reason: str
    source: Source


class StaleFinding(Record):
    """A finding that explains no failing check: the checks that it covers were made, and none of them fails."""

    id: str
    paper: str
    title: str
    checks: tuple[str, ...]
    source: Source

    @property
    def reason(self) -> str:
        """What is the matter with it, and what to do."""
        covered = f"none of the {count_of(len(self.checks), 'check')} that it covers fails"
        one = f"the check that it covers, {self.checks[0]}, does not fail" if len(self.checks) == 1 else covered
        return f"it explains no failing check: {one}; delete the finding, or correct its `checks`"


class _Group(NamedTuple):
    """What failing checks without a finding are grouped by; the table and the column are empty where there is none."""

    paper: str
    kind: CheckKind
    table: str
    column: str


def group_unexplained(checks: Iterable[Check], explained: Collection[str] = ()) -> tuple[Finding, ...]:
    """Return the failing checks, except those `explained` by a finding, grouped by table, column and kind."""
    groups: dict[_Group, list[Check]] = {}
    for check in checks:
        if check.verdict in FAILS and check.id not in explained:
            groups.setdefault(_group_of(check), []).append(check)
    return tuple(_unexplained(group, members) for group, members in groups.items())


def _group_of(check: Check) -> _Group:
    paper, first, second, *_ = (*check.id.split("/"), "", "")  # a result that was read may have any text as an id
    column = check.id.rpartition("/")[2].partition(".")[0]
    match check.kind:
        case CheckKind.CELL | CheckKind.DELTA:
            return _Group(paper, check.kind, first, column)
        case CheckKind.REPEAT:
            return _Group(paper, check.kind, second, column)
        case CheckKind.MARK | CheckKind.COLUMN:
            return _Group(paper, check.kind, second, "")
        case CheckKind.CLAIM | CheckKind.EQUATION:
            return _Group(paper, check.kind, "", "")


def _unexplained(group: _Group, members: Sequence[Check]) -> Finding:
    contradicts = any(check.verdict is Verdict.INCONSISTENT for check in members)
    where = ", ".join(part for part in (f"Table {group.table}" if group.table else "", group.column) if part)
    title = f"{where}: {_describe_failing(group.kind, len(members))}" if where else ""
    return Finding(
        id="-".join(part for part in ("unexplained", group.table, group.column, group.kind.value) if part),
        paper=group.paper,
        title=title or _describe_failing(group.kind, len(members)).capitalize(),
        severity=Severity.CONTRADICTION if contradicts else Severity.ERROR,
        why="; ".join(dict.fromkeys(check.reason for check in members)),
        checks=tuple(check.id for check in members),
        explained=False,
    )


_FAILING = {
    CheckKind.CELL: ("printed number", "does not follow from the model", "do not follow from the models"),
    CheckKind.DELTA: ("printed change", "does not follow", "do not follow"),
    CheckKind.MARK: ("footnote mark", "does not fit its row", "do not fit their rows"),
    CheckKind.REPEAT: ("repeated number", "is not the same", "are not the same"),
    CheckKind.COLUMN: ("heading", "does not fit its numbers", "do not fit their numbers"),
    CheckKind.CLAIM: ("claim about the numbers", "does not hold", "do not hold"),
    CheckKind.EQUATION: ("statement about functions", "is false as printed", "are false as printed"),
}


def _describe_failing(kind: CheckKind, count: int) -> str:
    noun, one, several = _FAILING[kind]
    if kind is CheckKind.CLAIM and count > 1:
        return f"{count} claims about the numbers {several}"
    if kind is CheckKind.EQUATION and count > 1:
        return f"{count} statements about functions {several}"
    return f"{count_of(count, noun)} {one if count == 1 else several}"
