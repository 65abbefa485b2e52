"""Acknowledging: which failing checks a finding covers, and whether its lock still has them as they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from imlp_audit.records.check import FAILS, PASSES, Check, CheckKind, Verdict
from imlp_audit.records.finding import Finding, StaleEntry, StaleFinding
from imlp_audit.records.lock import LockedCheck
from imlp_audit.spec.findings import FindingEntry, covered_checks
from imlp_audit.spec.paper import Paper


@dataclass(frozen=True)
class Acknowledged:
    """A paper's checks with their findings, the findings that have failing checks, and what is stale.

    Stale are entries of the lock that no longer hold, and findings of which no check fails.
    """

    checks: tuple[Check, ...]
    findings: tuple[Finding, ...]
    stale: tuple[StaleEntry, ...]
    stale_findings: tuple[StaleFinding, ...] = ()


def acknowledge(paper: Paper, checks: Sequence[Check], ids: Sequence[str], *, searched: bool = False) -> Acknowledged:
    """Give failing checks their findings. `ids` are those of all the paper's checks, `checks` the ones that were made.

    Where a user has `searched` with other examples than an audit's, a statement that is acknowledged as false stays
    false, also if that search found no counterexample.
    """
    entries = {name: entry.value for name, entry in covered_checks(paper, ids).items() if not entry.value.draft}
    locked = locked_checks(paper)
    judged = tuple(_judge(check, entries.get(check.id), locked.get(check.id), searched=searched) for check in checks)
    findings = (_record(paper.id, entry.value, judged) for entry in paper.findings)
    made = {check.id: check for check in judged}
    stale = (
        StaleEntry(check=name, problem=problem, reason=reason, source=paper.findings_file.source_of(name))
        for name, lock in locked.items()
        for problem, reason in _stale(lock, made.get(name), covered=name in entries, exists=name in ids)
    )
    idle = tuple(_stale_findings(paper, ids, made))
    return Acknowledged(judged, tuple(found for found in findings if found.checks), tuple(stale), idle)


def _stale_findings(paper: Paper, ids: Sequence[str], made: Mapping[str, Check]) -> Iterator[StaleFinding]:
    """Yield the titled findings of which all checks were made and none fails."""
    covered: dict[str, list[str]] = {}
    for name, entry in covered_checks(paper, ids).items():
        covered.setdefault(entry.value.id, []).append(name)
    for entry in paper.findings:
        found, names = entry.value, covered.get(entry.value.id, [])
        if names and not found.draft and all(name in made and _does_not_fail(made[name]) for name in names):
            yield StaleFinding(
                id=found.id, paper=paper.id, title=found.title, checks=tuple(names), source=entry.source("checks")
            )


def _does_not_fail(check: Check) -> bool:
    """Return whether a check was completed and does not fail; a statement that could not be tested may still fail."""
    if check.verdict in (*FAILS, Verdict.ERROR):
        return False
    return check.kind is not CheckKind.EQUATION or check.verdict in PASSES


def locked_checks(paper: Paper) -> Mapping[str, LockedCheck]:
    """Return the acknowledged checks of a paper's lock."""
    lock = paper.findings_file.lock
    return {} if lock is None else lock.checks


def _judge(check: Check, entry: FindingEntry | None, locked: LockedCheck | None, *, searched: bool) -> Check:
    if searched and locked is not None:
        check = _as_known(check, locked)
    if check.verdict not in FAILS:
        return check
    if entry is None:
        return check.model_copy(update={"acknowledged": False})
    change = None if locked is None else locked.describe_change(LockedCheck.of(check))
    update = {"finding": entry.id, "acknowledged": locked is not None and change is None}
    reason = {"reason": f"{check.reason}; changed since findings.lock was written: {change}"} if change else {}
    return check.model_copy(update={**update, **reason})


def _as_known(check: Check, locked: LockedCheck) -> Check:
    """Return a statement as false, as it is known to be, although the search found no counterexample."""
    known = LockedCheck.of(check.model_copy(update={"verdict": locked.verdict})) == locked
    if check.kind is not CheckKind.EQUATION or check.verdict not in PASSES or not known:
        return check
    reason = f"{check.reason} of this search, but findings.lock has it as false for others"
    return check.model_copy(update={"verdict": locked.verdict, "reason": reason})


def _record(paper: str, entry: FindingEntry, checks: Sequence[Check]) -> Finding:
    own = [check for check in checks if check.finding == entry.id]
    return Finding(
        id=entry.id,
        paper=paper,
        title=entry.title,
        severity=entry.severity,
        why=entry.why,
        checks=tuple(check.id for check in own),
        acknowledged=all(check.acknowledged for check in own),
    )


def _stale(locked: LockedCheck, check: Check | None, *, covered: bool, exists: bool) -> Iterator[tuple[str, str]]:
    """Yield what is stale about an entry of the lock; nothing for a check that was not made or not completed."""
    if not exists:
        yield "gone", "no check has this id any more"
    elif check is None or check.verdict is Verdict.ERROR:
        return
    elif check.verdict not in FAILS:
        if _does_not_fail(check):
            yield "passes", f"it no longer fails: it was `{locked.verdict}` and is now `{check.verdict}`"
    elif not covered:
        yield "uncovered", "it still fails, but no titled finding covers it"
    elif change := locked.describe_change(LockedCheck.of(check)):
        yield "changed", change
