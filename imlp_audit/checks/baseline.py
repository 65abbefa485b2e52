"""A paper's new lock: what its findings acknowledge from now on."""

from __future__ import annotations

from imlp_audit.checks.acknowledge import locked_checks
from imlp_audit.records.baseline import NewlyAcknowledged, PaperBaseline
from imlp_audit.records.lock import Lock, LockedCheck
from imlp_audit.records.result import AuditResult
from imlp_audit.spec.paper import Paper


def renew_lock(paper: Paper, result: AuditResult, lock_shown_as: str) -> tuple[Lock, PaperBaseline]:
    """Return the lock that holds every failing check of the result that a titled finding covers, and what changes.

    Entries of checks that the result does not have, or could not complete, stay as they are.
    """
    before = locked_checks(paper)
    stale = {entry.check: entry for entry in result.stale if entry.check.startswith(f"{paper.id}/")}
    kept = {name: locked for name, locked in before.items() if name not in stale}
    covered = {
        check.id: check for check in result.checks if check.finding is not None and check.id.startswith(f"{paper.id}/")
    }
    lock = Lock(paper=paper.id, checks={**kept, **{name: LockedCheck.of(check) for name, check in covered.items()}})
    return lock, PaperBaseline(
        paper=paper.id,
        lock=lock_shown_as,
        new=tuple(
            NewlyAcknowledged(check=name, finding=check.finding or "", reason=check.reason)
            for name, check in covered.items()
            if name not in before
        ),
        changed=tuple(entry for name, entry in stale.items() if name in lock.checks),
        dropped=tuple(entry for name, entry in stale.items() if name not in lock.checks),
        kept=len(kept),
        stale_findings=tuple(found for found in result.stale_findings if found.paper == paper.id),
        unexplained=tuple(found for found in result.unexplained() if found.paper == paper.id),
    )
