"""Acknowledging: which checks a finding covers or rests on, and whether the lock still has them as they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from imlp_audit.checks.context import Context
from imlp_audit.checks.run import needs_models, run_check
from imlp_audit.errors import Problem
from imlp_audit.records.check import FAILS, PASSES, Check, CheckKind, Verdict
from imlp_audit.records.finding import (
    Finding,
    Lock,
    LockedCheck,
    LockedEvidence,
    NewlyAcknowledged,
    Quote,
    RenewedLock,
    StaleEntry,
    StaleFinding,
)
from imlp_audit.records.result import AuditResult
from imlp_audit.spec.fields import Names
from imlp_audit.spec.findings import covered_checks
from imlp_audit.spec.paper import Paper
from imlp_audit.spec.plan import ClaimPlan, DeltaPlan, RepeatPlan, check_ids, plan
from imlp_audit.spec.schema import FindingEntry
from imlp_audit.spec.tree import Located


@dataclass(frozen=True)
class Acknowledged:
    """A paper's checks with their findings, its findings, and what is stale.

    Stale are entries of the lock that no longer hold, and findings that cover checks that do not fail.
    """

    checks: tuple[Check, ...]
    findings: tuple[Finding, ...]
    stale: tuple[StaleEntry, ...]
    stale_findings: tuple[StaleFinding, ...] = ()


def acknowledge(paper: Paper, checks: Sequence[Check], ids: Sequence[str], *, searched: bool = False) -> Acknowledged:
    """Give failing checks their findings. `ids` are those of all the paper's checks, `checks` the ones that were made.

    A finding is one of the result if a check that it covers fails, or a check that it rests on was made; one that rests
    on quotes alone always is. Where a user has `searched` with other examples than an audit's, a statement that is
    acknowledged as false stays false, also if that search found no counterexample.
    """
    entries = {name: entry.value for name, entry in covered_checks(paper, ids).items()}
    locked = locked_checks(paper)
    judged = tuple(_judge(check, entries.get(check.id), locked.get(check.id), searched=searched) for check in checks)
    made = {check.id: check for check in judged}
    findings = (_record(paper.id, entry.value, judged) for entry in paper.findings)
    stale = [
        StaleEntry(check=name, problem=problem, reason=reason, source=paper.findings_file.source_of(name))
        for name, lock in locked.items()
        for problem, reason in _stale(lock, made.get(name), covered=name in entries, exists=name in ids)
    ]
    shown = tuple(found for found in findings if found.checks or _is_evident(found, made, searched=searched))
    stale += [entry for found in shown for entry in _stale_evidence(paper, found, made)]
    stale += _gone_evidence(paper)
    return Acknowledged(judged, shown, tuple(stale), tuple(_stale_findings(paper, ids, made)))


def _is_evident(finding: Finding, made: Mapping[str, Check], *, searched: bool) -> bool:
    """Return whether a finding without a failing check rests on what this run has, or on quotes alone."""
    names = finding.evident_checks
    return any(name in made for name in names) if names else bool(finding.evidence) and not searched


def _stale_evidence(paper: Paper, finding: Finding, made: Mapping[str, Check]) -> Iterator[StaleEntry]:
    """Yield the evidence of a finding that is not as it was when the finding was acknowledged."""
    file = paper.findings_file
    locked = _lock_of(paper).evidence.get(finding.id, LockedEvidence())
    for name in finding.evident_checks:
        check, then = made.get(name), locked.checks.get(name)
        if check is None or check.verdict is Verdict.ERROR:
            continue
        change = "it was not acknowledged" if then is None else then.describe_change(LockedCheck.of(check))
        if change:
            reason = f"the finding {finding.id} rests on it, and {change}"
            yield StaleEntry(check=name, problem="changed", reason=reason, source=file.source_of(finding.id))
    if set(_quotes(finding)) != set(locked.quotes):
        name, reason = _evidence_id(paper, finding.id), "its quotes are not those that were acknowledged"
        yield StaleEntry(check=name, problem="changed", reason=reason, source=file.source_of(finding.id))


def _gone_evidence(paper: Paper) -> Iterator[StaleEntry]:
    """Yield the evidence in the lock that no finding rests on any more."""
    resting = {entry.value.id for entry in paper.findings if entry.value.evidence}
    for name in _lock_of(paper).evidence:
        if name not in resting:
            reason, source = "no finding rests on this evidence any more", paper.findings_file.source_of(name)
            yield StaleEntry(check=_evidence_id(paper, name), problem="gone", reason=reason, source=source)


def _evidence_id(paper: Paper, finding: str) -> str:
    return f"{paper.id}/findings/{finding}"


def _quotes(finding: Finding) -> dict[str, str]:
    return {one.quote: one.source for one in finding.evidence if isinstance(one, Quote)}


def idle_checks(
    paper: Paper, ids: Sequence[str], made: Mapping[str, Check]
) -> Iterator[tuple[Located[FindingEntry], int, list[str]]]:
    """Yield, of findings, the places in `checks` of what names no failing check, though all were made."""
    names = Names(ids)
    for entry in paper.findings:
        for index, glob in enumerate(entry.value.checks):
            found = names.matching(glob)
            if found and all(name in made and _does_not_fail(made[name]) for name in found):
                yield entry, index, found


def _stale_findings(paper: Paper, ids: Sequence[str], made: Mapping[str, Check]) -> Iterator[StaleFinding]:
    """Yield the findings that cover checks that do not fail."""
    idle: dict[str, list[str]] = {}
    for entry, _, found in idle_checks(paper, ids, made):
        idle.setdefault(entry.value.id, []).extend(found)
    for entry in paper.findings:
        one, names = entry.value, tuple(dict.fromkeys(idle.get(entry.value.id, ())))
        if names:
            yield StaleFinding(id=one.id, paper=paper.id, title=one.title, checks=names, source=entry.source("checks"))


def _does_not_fail(check: Check) -> bool:
    """Return whether a check was completed and does not fail; a statement that could not be tested may still fail."""
    if check.verdict in (*FAILS, Verdict.ERROR):
        return False
    return check.kind is not CheckKind.EQUATION or check.verdict in PASSES


def locked_checks(paper: Paper) -> Mapping[str, LockedCheck]:
    """Return the acknowledged checks of a paper's lock."""
    return _lock_of(paper).checks


def _lock_of(paper: Paper) -> Lock:
    """Return a paper's lock; an empty one where there is none."""
    return paper.findings_file.lock or Lock(paper=paper.id)


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
        kind=entry.kind,
        why=entry.why,
        checks=tuple(check.id for check in own),
        evidence=entry.evidence,
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
        yield "uncovered", "it still fails, but no finding covers it"
    elif change := locked.describe_change(LockedCheck.of(check)):
        yield "changed", change


def renew_lock(paper: Paper, result: AuditResult, lock_shown_as: str) -> tuple[Lock, RenewedLock]:
    """Return the lock of every failing check of the result that a finding covers and of evidence; what changes.

    Entries of checks that the result does not have, or could not complete, stay as they are.
    """
    before, evidence = locked_checks(paper), dict(_renew_evidence(paper, result))
    own = f"{paper.id}/"
    stale = {entry.check: entry for entry in result.stale if entry.check.startswith(own)}
    kept = {name: locked for name, locked in before.items() if name not in stale}
    covered = {check.id: check for check in result.checks if check.finding is not None and check.id.startswith(own)}
    checks = {**kept, **{name: LockedCheck.of(check) for name, check in covered.items()}}
    held = {*checks, *(name for locked in evidence.values() for name in locked.checks)}
    held |= {_evidence_id(paper, name) for name, locked in evidence.items() if locked.quotes}
    lock = Lock(paper=paper.id, checks=checks, evidence=evidence)
    return lock, RenewedLock(
        paper=paper.id,
        lock=lock_shown_as,
        new=tuple(
            NewlyAcknowledged(check=name, finding=check.finding or "", reason=check.reason)
            for name, check in covered.items()
            if name not in before
        ),
        changed=tuple(entry for name, entry in stale.items() if name in held),
        dropped=tuple(entry for name, entry in stale.items() if name not in held),
        kept=len(held - stale.keys() - (covered.keys() - before.keys())),
        stale_findings=tuple(found for found in result.stale_findings if found.paper == paper.id),
        unexplained=tuple(found for found in result.unexplained() if found.paper == paper.id),
    )


def _renew_evidence(paper: Paper, result: AuditResult) -> Iterator[tuple[str, LockedEvidence]]:
    """Yield what each finding of a paper rests on; of checks that the result does not have, what the lock has."""
    made = {check.id: LockedCheck.of(check) for check in result.checks if check.verdict is not Verdict.ERROR}
    before = _lock_of(paper).evidence
    shown = {found.id: found for found in result.findings if found.paper == paper.id}
    for entry in paper.findings:
        name = entry.value.id
        if name not in shown and entry.value.evidence and name in before:
            yield name, before[name]
        elif name in shown and shown[name].evidence:
            then = before.get(name, LockedEvidence()).checks
            locked = {one: made.get(one) or then.get(one) for one in shown[name].evident_checks}
            checks = {one: check for one, check in locked.items() if check is not None}
            yield name, LockedEvidence(checks=checks, quotes=_quotes(shown[name]))


def broken_by_verdicts(paper: Paper, known: tuple[Paper, ...]) -> Iterator[Problem]:
    """Yield findings that cover checks that do not fail, and claims that are called charitable and do not hold."""
    made = _decided(paper, known)
    for entry, index, names in idle_checks(paper, check_ids(paper, known), made):
        passed = f"{names[0]} does not fail: {made[names[0]].reason}"
        message = f"{passed}; take it out of `checks`, or move it to `evidence`"
        yield entry.problem(message, "checks", index)
    for claim in paper.claims:
        check = made.get(f"{paper.id}/claims/{claim.value.id}")
        if isinstance(claim.value.charitable, str) and check is not None and check.verdict in FAILS:
            message = f"`charitable` is for a claim that holds, and this one does not: {check.reason}"
            yield claim.problem(message, "charitable")


def _decided(paper: Paper, known: tuple[Paper, ...]) -> Mapping[str, Check]:
    """Return the checks that pass or fail by printed numbers alone."""
    context = Context({})
    plans = [one for one in plan(paper, known) if isinstance(one, ClaimPlan | DeltaPlan | RepeatPlan)]
    checks = (run_check(one, context) for one in plans if not needs_models(one))
    return {check.id: check for check in checks if check.verdict in (*PASSES, *FAILS)}
