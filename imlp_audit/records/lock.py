"""`findings.lock`: what was measured when a person acknowledged a finding, and the JSON of `imlp-audit acknowledge`."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from imlp_audit.records.base import Record
from imlp_audit.records.check import Check, EquationCheck, Verdict, printed_form
from imlp_audit.records.document import JsonDocument
from imlp_audit.records.finding import Finding, StaleEntry, StaleFinding


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
    longer has. `kept` counts the entries that stay. `unexplained` are failing checks that no titled finding covers;
    `drafts` are the ids of findings that are written for a person to title, `stale_findings` cover checks that pass.
    """

    paper: str
    lock: str
    new: tuple[NewlyAcknowledged, ...]
    changed: tuple[StaleEntry, ...]
    dropped: tuple[StaleEntry, ...]
    kept: int
    unexplained: tuple[Finding, ...]
    drafts: tuple[str, ...] = ()
    stale_findings: tuple[StaleFinding, ...] = ()


class AcknowledgeReport(JsonDocument):
    """The locks of the papers; `written` is false if the command only showed what it would write."""

    FORMAT: ClassVar = "imlp-audit/acknowledge/1"
    WRITTEN_BY: ClassVar = "imlp-audit acknowledge"

    written: bool
    papers: tuple[RenewedLock, ...]
