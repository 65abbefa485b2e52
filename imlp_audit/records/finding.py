"""Findings, in a person's words; and the lock, which has what was measured when they were acknowledged."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from enum import StrEnum
from typing import Annotated, ClassVar, Literal, NamedTuple

from pydantic import Field

from imlp_audit.numbers.interval import readable
from imlp_audit.numbers.words import list_some
from imlp_audit.records.base import JsonDocument, Record
from imlp_audit.records.check import FAILS, Check, CheckKind, EquationCheck, Source, Verdict, printed_form


class FindingKind(StrEnum):
    """What a reader does with a finding, in the order in which reports list them."""

    ASK = "ask"  # the authors: a number or sentence cannot be right, or two exclude each other
    MISPRINT = "misprint"  # the intended value is clear
    NOTE = "note"  # vague words, degenerate cases, thresholds that the paper does not give


class Quote(Record):
    """Words or numbers that a source prints, and where it prints them."""

    quote: Annotated[str, Field(min_length=1)]
    source: Annotated[str, Field(min_length=1)]


class Finding(Record):
    """One thing that is wrong or unclear: an entry of `findings.yaml`, or failing checks that no entry covers yet.

    `checks` are the failing checks that it covers, `evidence` what it rests on besides: ids of checks of any verdict,
    and quotes. Findings without an entry (`explained` is false) have a title by default. `acknowledged` is true if no
    check of the finding fails the run.
    """

    id: str
    paper: str
    title: str
    kind: FindingKind
    why: str
    checks: tuple[str, ...]
    evidence: tuple[str | Quote, ...] = ()
    explained: bool = True
    acknowledged: bool = False

    @property
    def evident_checks(self) -> tuple[str, ...]:
        """The checks among its evidence."""
        return tuple(one for one in self.evidence if isinstance(one, str))


class StaleEntry(Record):
    """An entry of a lock that no longer holds, and what to do about it.

    Of evidence that is no check, `check` is the finding that rests on it: `<paper>/findings/<id>`.
    """

    check: str
    problem: Literal["gone", "passes", "changed", "uncovered"]
    reason: str
    source: Source


class StaleFinding(Record):
    """A finding that covers checks that do not fail: the ids or globs of `checks`, all made, name no failing one."""

    id: str
    paper: str
    title: str
    checks: tuple[str, ...]
    source: Source

    @property
    def reason(self) -> str:
        """What is the matter with it, and what to do."""
        one = len(self.checks) == 1
        it = "it" if one else "them"
        named = f"{self.checks[0]} does" if one else f"{list_some(self.checks)} do"
        return f"{named} not fail; take {it} out of `checks`, or move {it} to `evidence`"


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
        case CheckKind.CLAIM | CheckKind.EQUATION:  # each says something else
            return _Group(paper, check.kind, "", column)


def _unexplained(group: _Group, members: Sequence[Check]) -> Finding:
    where = ", ".join(part for part in (f"Table {group.table}" if group.table else "", group.column) if part)
    title = f"{where}: {_describe_failing(group.kind, len(members))}" if where else ""
    return Finding(
        id="-".join(part for part in ("unexplained", group.table, group.column, group.kind.value) if part),
        paper=group.paper,
        title=title or _describe_failing(group.kind, len(members)).capitalize(),
        kind=FindingKind.ASK,
        why="; ".join(dict.fromkeys(check.reason for check in members)),
        checks=tuple(check.id for check in members),
        explained=False,
    )


_FAILING = {
    CheckKind.CELL: ("printed number does not follow from the model", "printed numbers do not follow from the models"),
    CheckKind.DELTA: ("printed change does not follow", "printed changes do not follow"),
    CheckKind.MARK: ("footnote mark does not fit its row", "footnote marks do not fit their rows"),
    CheckKind.REPEAT: ("repeated number is not the same", "repeated numbers are not the same"),
    CheckKind.COLUMN: ("heading does not fit its numbers", "headings do not fit their numbers"),
    CheckKind.CLAIM: ("claim about the numbers does not hold", "claims about the numbers do not hold"),
    CheckKind.EQUATION: (
        "statement about functions is false as printed",
        "statements about functions are false as printed",
    ),
}


def _describe_failing(kind: CheckKind, count: int) -> str:
    one, several = _FAILING[kind]
    return f"1 {one}" if count == 1 else f"{readable(count)} {several}"


class LockedCheck(Record):
    """A check as it was acknowledged: its verdict, what is printed, and the value that decided the verdict.

    What was tried besides is not locked. A statement about functions is locked by its form and verdict, not by its
    counterexample: another search may find another one.
    """

    verdict: Verdict
    printed: str | None = None
    measured: str | None = None

    @classmethod
    def of(cls, check: Check) -> LockedCheck:
        """Return what has to stay the same for a check to stay acknowledged."""
        measured = None if isinstance(check, EquationCheck) else check.measured
        return cls(verdict=check.verdict, printed=printed_form(check), measured=measured)

    def describe_change(self, now: LockedCheck) -> str | None:
        """Say what is no longer as it was acknowledged; None where nothing changed."""
        if now.printed != self.printed:
            return f"{self.printed!r} was printed then, {now.printed!r} is printed now"
        if now.verdict is not self.verdict:
            return f"it was `{self.verdict}` and is now `{now.verdict}`"
        if now.measured != self.measured:
            return f"measured then: {self.measured or 'nothing'}; measured now: {now.measured or 'nothing'}"
        return None


class LockedEvidence(Record):
    """What a finding rests on, as it was acknowledged: checks by their ids, and quotes with their sources."""

    checks: dict[str, LockedCheck] = Field(default_factory=dict)
    quotes: dict[str, str] = Field(default_factory=dict)


class Lock(JsonDocument):
    """The acknowledged checks of a paper by their ids, and the evidence of its findings by theirs."""

    FORMAT: ClassVar = "imlp-audit/findings-lock/2"
    WRITTEN_BY: ClassVar = "imlp-audit acknowledge"

    paper: str
    checks: dict[str, LockedCheck] = Field(default_factory=dict)
    evidence: dict[str, LockedEvidence] = Field(default_factory=dict)


class NewlyAcknowledged(Record):
    """A check that a finding covers, or rests on, from now on."""

    check: str
    finding: str
    reason: str


class RenewedLock(Record):
    """What a paper's lock gains and loses.

    `new` are checks that it did not have, `changed` those that it has now as they are, `dropped` entries that it no
    longer has. `kept` counts the entries that stay. `unexplained` are failing checks that no finding covers,
    `stale_findings` findings that cover checks that pass.
    """

    paper: str
    lock: str
    new: tuple[NewlyAcknowledged, ...]
    changed: tuple[StaleEntry, ...]
    dropped: tuple[StaleEntry, ...]
    kept: int
    unexplained: tuple[Finding, ...]
    stale_findings: tuple[StaleFinding, ...] = ()
