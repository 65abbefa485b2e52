"""`findings.lock`: what was measured for each failing check when a person acknowledged its finding."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from imlp_audit.records.base import Record
from imlp_audit.records.check import Check, CheckKind, Verdict
from imlp_audit.records.document import JsonDocument


class LockedCheck(Record):
    """A failing check as it was acknowledged.

    `measured` is the one measured value, or each by "reading/convention" where they differ. A statement about
    functions is locked by its form and verdict, not by its counterexample: another search may find another one.
    """

    verdict: Verdict
    printed: str | None = None
    measured: str | dict[str, str] | None = None

    @classmethod
    def of(cls, check: Check) -> LockedCheck:
        """Return what has to stay the same for a check to stay acknowledged."""
        if check.kind is CheckKind.EQUATION:
            return cls(verdict=check.verdict, printed=check.printed or check.corrected)
        return cls(verdict=check.verdict, printed=check.printed, measured=_measurements(check))

    def describe_change(self, now: LockedCheck) -> str | None:
        """Say what is no longer as it was acknowledged; None where nothing changed."""
        if now.printed != self.printed:
            return f"{self.printed!r} was printed then, {now.printed!r} is printed now"
        if now.verdict is not self.verdict:
            return f"it was `{self.verdict}` and is now `{now.verdict}`"
        if now.measured != self.measured:
            return f"measured then: {_write(self.measured)}; measured now: {_write(now.measured)}"
        return None


class Lock(JsonDocument):
    """The acknowledged checks of a paper by their ids."""

    FORMAT: ClassVar = "imlp-audit/findings-lock/1"
    WRITTEN_BY: ClassVar = "imlp-audit baseline"

    paper: str
    checks: Annotated[dict[str, LockedCheck], Field(default_factory=dict)]


def _measurements(check: Check) -> str | dict[str, str] | None:
    """Return what was measured for a check: one value, or each by its reading and convention."""
    named = {_name(check.reading, check.convention): check.measured} | {
        _name(one.reading, one.convention): one.measured for one in check.also
    }
    values = {name: value for name, value in named.items() if value is not None}
    distinct = set(values.values())
    if len(distinct) > 1:
        return dict(sorted(values.items()))
    return distinct.pop() if distinct else None


def _name(reading: str | None, convention: str | None) -> str:
    return "/".join(part for part in (reading, convention) if part)


def _write(measured: str | dict[str, str] | None) -> str:
    if isinstance(measured, dict):
        return ", ".join(f"{value} ({name})" for name, value in measured.items())
    return "nothing" if measured is None else measured
