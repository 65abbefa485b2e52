"""The result of an audit. Every report of it is made from this record."""

from __future__ import annotations

from collections import Counter
from typing import ClassVar

from pydantic import Field

from imlp_audit.records.check import Check, Verdict
from imlp_audit.records.document import JsonDocument
from imlp_audit.records.paper import PaperHead
from imlp_audit.records.solution import Solved


class AuditResult(JsonDocument):
    """All checks of an audit, the papers they are of, and the versions of what measured them.

    `solved` is, by paper, what a report's search found that the numbers say about the models.
    """

    FORMAT: ClassVar = "imlp-audit/1"
    WRITTEN_BY: ClassVar = "imlp-audit verify"
    COMPUTED: ClassVar = ("summary",)

    papers: tuple[PaperHead, ...]
    versions: dict[str, str]
    checks: tuple[Check, ...]
    solved: dict[str, Solved] = Field(default_factory=dict)

    def of(self, paper: PaperHead) -> AuditResult:
        """Return the part of the result that is about one paper."""
        checks = tuple(check for check in self.checks if check.id.startswith(f"{paper.id}/"))
        solved = {name: found for name, found in self.solved.items() if name == paper.id}
        return AuditResult(papers=(paper,), versions=self.versions, checks=checks, solved=solved)

    def counts(self) -> dict[Verdict, int]:
        """Return how many checks have each verdict, in the verdicts' order."""
        found = Counter(check.verdict for check in self.checks)
        return {verdict: found[verdict] for verdict in Verdict}

    def body(self) -> dict[str, object]:
        """Return the result as plain values, with a summary."""
        body = super().body()
        if not self.solved:
            del body["solved"]
        return {"summary": {verdict.value: count for verdict, count in self.counts().items()}, **body}
