"""The result of an audit. Every report of it is made from this record."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import ClassVar

from pydantic import Field

from imlp_audit.numbers.interval import decimal_text
from imlp_audit.records.check import Check, Verdict
from imlp_audit.records.document import JsonDocument
from imlp_audit.records.hypothesis import PaperHypothesis
from imlp_audit.records.paper import PaperHead
from imlp_audit.records.solution import Solved


class AuditResult(JsonDocument):
    """All checks of an audit, the papers they are of, and the versions of what measured them.

    `hypotheses` are, by paper, what the counted cells were judged under; `solved` what a report's search found that the
    numbers say about the models.
    """

    FORMAT: ClassVar = "imlp-audit/1"
    WRITTEN_BY: ClassVar = "imlp-audit verify"
    COMPUTED: ClassVar = ("summary", "unguarded")

    papers: tuple[PaperHead, ...]
    versions: dict[str, str]
    checks: tuple[Check, ...]
    hypotheses: dict[str, PaperHypothesis] = Field(default_factory=dict)
    solved: dict[str, Solved] = Field(default_factory=dict)

    def of(self, paper: PaperHead) -> AuditResult:
        """Return the part of the result that is about one paper.

        A repeat belongs to the paper whose number it repeats if its own paper was not audited.
        """
        audited = {head.id for head in self.papers}

        def owner(check: Check) -> str:
            own = check.id.partition("/")[0]
            return own if own in audited or check.repeats is None else check.repeats.partition("/")[0]

        checks = tuple(check for check in self.checks if owner(check) == paper.id)
        hypotheses = {name: found for name, found in self.hypotheses.items() if name == paper.id}
        solved = {name: found for name, found in self.solved.items() if name == paper.id}
        return AuditResult(
            papers=(paper,), versions=self.versions, checks=checks, hypotheses=hypotheses, solved=solved
        )  # fmt: skip

    def counts(self) -> dict[Verdict, int]:
        """Return how many checks have each verdict, in the verdicts' order."""
        found = Counter(check.verdict for check in self.checks)
        return {verdict: found[verdict] for verdict in Verdict}

    def unguarded(self) -> tuple[int, int]:
        """Return how many numbers no check guards, and of how many that the tool cannot count."""
        found = [check.unguarded for check in self.checks if check.unguarded is not None]
        return sum(found), len(found)

    def body(self) -> dict[str, object]:
        """Return the result as plain values, with a summary."""
        body = super().body()
        for name in ("hypotheses", "solved"):
            if not body[name]:
                del body[name]
        alone, of = self.unguarded()
        share = decimal_text(Fraction(100 * alone, of), 1) if of else "0"
        return {
            "summary": {verdict.value: count for verdict, count in self.counts().items()},
            **({"unguarded": {"numbers": alone, "of": of, "percent": share}} if of else {}),
            **body,
        }
