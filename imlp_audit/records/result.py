"""The result of an audit: frozen records, to and from JSON. Everything that is reported is made from these."""

from __future__ import annotations

import json
from collections import Counter

from pydantic import Field, ValidationError

from imlp_audit.errors import UsageError
from imlp_audit.records.base import Record
from imlp_audit.records.check import Check, Verdict
from imlp_audit.records.paper import PaperHead
from imlp_audit.records.solution import Solved

FORMAT = "imlp-audit/1"


class AuditResult(Record):
    """All checks of an audit, the papers they are of, and the versions of what measured them.

    `solved` is, by paper, what a report's search found that the numbers say about the models.
    """

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


def to_json(result: AuditResult) -> str:
    """Write a result as JSON: sorted keys, so equal audits are equal bytes."""
    body = result.model_dump(mode="json", exclude_none=True)
    for check in body["checks"]:
        for name in ("also", "counterexample", "evidence", "hints", "under"):
            if not check[name]:
                del check[name]
    summary = {verdict.value: count for verdict, count in result.counts().items()}
    if not body["solved"]:
        del body["solved"]
    document = {"format": FORMAT, "summary": summary, **body}
    return json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def from_json(text: str, shown_as: str, *, written_by: str = "`imlp-audit verify --format json`") -> AuditResult:
    """Read a result back. Raises UsageError naming the file and what is wrong with it, and what writes such files."""
    advice = f"give a file written by {written_by}"
    try:
        document = json.loads(text)
        json.dumps(document, ensure_ascii=False).encode()  # half of a surrogate pair could not be written again
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{shown_as}: not JSON ({error}); {advice}") from error
    if not isinstance(document, dict) or document.pop("format", None) != FORMAT:
        raise UsageError(f"{shown_as}: not a result of format {FORMAT}; {advice}")
    document.pop("summary", None)
    try:
        return AuditResult.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise UsageError(f"{shown_as}: {place}: {first['msg']}; {advice}") from error
