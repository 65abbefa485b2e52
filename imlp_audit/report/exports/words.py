"""What the formats for other programs say about checks and findings."""

from __future__ import annotations

from imlp_audit.records.check import Check
from imlp_audit.records.result import AuditResult


def describe_check(check: Check) -> str:
    """Say in a line what is printed, and why the verdict came out as it did."""
    printed = f"printed {check.printed}; " if check.printed is not None else ""
    return f"{printed}{check.reason}"


def place_and_id(check: Check) -> str:
    """Name a check: its place in the paper, if the result has it, and its id."""
    return f"{check.place} ({check.id})" if check.place else check.id


def titles_by_finding(result: AuditResult) -> dict[str, str]:
    """Return the title of each finding by its id."""
    return {finding.id: finding.title for finding in result.findings}
