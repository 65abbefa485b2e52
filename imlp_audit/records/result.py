"""The result of an audit. Every report of it is made from this record."""

from __future__ import annotations

from collections import Counter
from typing import ClassVar

from pydantic import Field

from imlp_audit.records.check import FAILS, Check, Verdict
from imlp_audit.records.document import JsonDocument
from imlp_audit.records.finding import Finding, StaleEntry, group_unexplained
from imlp_audit.records.hypothesis import PaperHypothesis
from imlp_audit.records.paper import PaperHead
from imlp_audit.records.solution import Solved


class AuditResult(JsonDocument):
    """All checks of an audit, the papers they are of, and the versions of what measured them.

    `findings` are what is wrong with the papers, in a person's words; failing checks that none of them covers are
    grouped when the result is written (`unexplained`). `stale` are entries of locks that no longer hold. `hypotheses`
    are, by paper, what the counted cells were judged under; `solved` what a report's search found that the
    numbers say about the models.
    """

    FORMAT: ClassVar = "imlp-audit/2"
    WRITTEN_BY: ClassVar = "imlp-audit verify"
    COMPUTED: ClassVar = ("summary", "unexplained")

    papers: tuple[PaperHead, ...]
    versions: dict[str, str]
    checks: tuple[Check, ...]
    findings: tuple[Finding, ...] = ()
    stale: tuple[StaleEntry, ...] = ()
    hypotheses: dict[str, PaperHypothesis] = Field(default_factory=dict)
    solved: dict[str, Solved] = Field(default_factory=dict)

    def of(self, paper: PaperHead) -> AuditResult:
        """Return the part of the result that is about one paper."""
        checks = tuple(check for check in self.checks if check.id.startswith(f"{paper.id}/"))
        hypotheses = {name: found for name, found in self.hypotheses.items() if name == paper.id}
        solved = {name: found for name, found in self.solved.items() if name == paper.id}
        return AuditResult(
            papers=(paper,),
            versions=self.versions,
            checks=checks,
            findings=tuple(finding for finding in self.findings if finding.paper == paper.id),
            stale=tuple(entry for entry in self.stale if entry.check.startswith(f"{paper.id}/")),
            hypotheses=hypotheses,
            solved=solved,
        )

    def counts(self) -> dict[Verdict, int]:
        """Return how many checks have each verdict, in the verdicts' order."""
        found = Counter(check.verdict for check in self.checks)
        return {verdict: found[verdict] for verdict in Verdict}

    def acknowledged(self) -> int:
        """Return how many checks fail, but are acknowledged."""
        return sum(check.verdict in FAILS and check.acknowledged is True for check in self.checks)

    def unexplained(self) -> tuple[Finding, ...]:
        """Return the failing checks that no finding covers, grouped by table, column and kind."""
        return group_unexplained(self.checks)

    def body(self) -> dict[str, object]:
        """Return the result as plain values, with a summary."""
        body = super().body()
        body["unexplained"] = [finding.model_dump(mode="json") for finding in self.unexplained()]
        for name in ("hypotheses", "solved", "stale", "unexplained"):
            if not body[name]:
                del body[name]
        counts = {verdict.value: count for verdict, count in self.counts().items()}
        return {"summary": {**counts, "acknowledged": self.acknowledged()}, **body}
