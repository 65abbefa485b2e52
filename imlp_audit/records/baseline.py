"""The JSON of `imlp-audit baseline`: what became of each paper's lock."""

from __future__ import annotations

from typing import ClassVar

from imlp_audit.records.base import Record
from imlp_audit.records.document import JsonDocument
from imlp_audit.records.finding import Finding, StaleEntry, StaleFinding


class NewlyAcknowledged(Record):
    """A failing check that a finding acknowledges from now on."""

    check: str
    finding: str
    reason: str


class PaperBaseline(Record):
    """What a paper's lock gains and loses.

    `new` are checks that it did not have, `changed` those that it has now as they are, `dropped` entries that it no
    longer has. `kept` counts the entries that stay. `unexplained` are failing checks that no titled finding covers;
    `drafts` are the ids of findings that are written for a person to title, `stale_findings` explain no failing check.
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


class BaselineReport(JsonDocument):
    """The locks of the papers; `written` is false if the command only showed what it would write."""

    FORMAT: ClassVar = "imlp-audit/baseline/1"
    WRITTEN_BY: ClassVar = "imlp-audit baseline"

    written: bool
    papers: tuple[PaperBaseline, ...]
