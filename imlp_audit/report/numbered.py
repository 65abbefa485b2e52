"""Findings with the short names that tables and texts refer to: F1 is the worst of a report."""

from __future__ import annotations

from dataclasses import dataclass

from imlp_audit.records.finding import Finding
from imlp_audit.records.result import AuditResult
from imlp_audit.report.document import Inline, Span, Style
from imlp_audit.report.ranking import worst_first


@dataclass(frozen=True)
class NumberedFinding:
    """A finding, its short name in a report, and where it stands there."""

    name: str
    finding: Finding

    @property
    def anchor(self) -> str:
        """The anchor of its heading."""
        return f"finding/{self.finding.paper}/{self.finding.id}"

    @property
    def link(self) -> Span:
        """Its short name, leading to its heading."""
        return Span(self.name, link=f"#{self.anchor}")

    @property
    def title(self) -> Inline:
        """Its name and title, and whether it fails the run."""
        state = "" if self.finding.acknowledged else "fails the run"
        why = ", ".join(part for part in ("" if self.finding.explained else "unexplained", state) if part)
        return (f"{self.name} {self.finding.title}", *([Span(f" ({why})", Style.BAD)] if why else []))


def number_findings(result: AuditResult) -> tuple[NumberedFinding, ...]:
    """Return the findings, the worst first, with their short names."""
    return tuple(NumberedFinding(f"F{at}", found) for at, found in enumerate(worst_first(result), 1))


def by_check(findings: tuple[NumberedFinding, ...]) -> dict[str, NumberedFinding]:
    """Return each failing check's finding."""
    return {name: one for one in findings for name in one.finding.checks}
