"""Putting the results of `eval` and `bench` into an audit's: a number that was open takes the verdict of its run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from imlp_audit.errors import UsageError
from imlp_audit.records.check import Check, CheckKind, Verdict
from imlp_audit.records.result import AuditResult

AGAINST = ".against."


def merged(audit: AuditResult, runs: Sequence[tuple[str, AuditResult]]) -> AuditResult:
    """Return an audit with the checks of runs, each shown as the name beside it, in their places.

    A number that the audit leaves open takes its run's check; a difference over the same images, which only runs can
    check, stands behind its number. Raises UsageError for a run without evidence, of a
    number that the audit has not, prints otherwise or has a verdict on, or that another run has judged otherwise.
    """
    known = {check.id: check for check in audit.checks}
    found: dict[str, tuple[str, Check]] = {}
    for name, run in runs:
        measured = [check for check in run.checks if check.evidence]
        if not measured:
            raise UsageError(f"{name}: none of its checks has evidence; give a JSON result of eval or bench")
        for check in measured:
            _refuse_what_does_not_fit(name, check, known)
            other, before = found.setdefault(check.id, (name, check))
            if not _same(before, check):
                raise UsageError(
                    f"{other} and {name} both judge {check.id}; a report has one run of a number: give one"
                )
    return audit.model_copy(update={"checks": tuple(_placed(audit.checks, found))})


def _refuse_what_does_not_fit(name: str, check: Check, known: Mapping[str, Check]) -> None:
    """Raise UsageError where a run's check is not of a number as this audit has it, or the number has a verdict."""
    printed = _printed(check.id, known)
    if printed is None:
        raise UsageError(f"{name}: {check.id} is no number of this report; give the specs that the run was made with")
    if check.printed != printed:
        raise UsageError(f"{name}: it judges {check.id} as {check.printed!r}, but {printed!r} is printed; run it again")
    here = known.get(check.id)
    open_ = here is None or (here.verdict is Verdict.UNVERIFIABLE and not here.evidence)
    if here is not None and not (open_ or _same(here, check)):
        raise UsageError(f"{name}: {check.id} has a verdict already ({here.verdict}), which no run replaces")


def _same(one: Check, other: Check) -> bool:
    """Say whether two checks are of one run, wherever its spec's lines were then."""
    return one.model_copy(update={"source": other.source}) == other


def _printed(name: str, known: Mapping[str, Check]) -> str | None:
    """Return what is printed under the id of a check that a run can make; None where there is nothing."""
    cell = known.get(name.partition(".")[0])
    if cell is None or cell.kind is not CheckKind.CELL:
        return None
    if name == cell.id:
        return cell.printed
    table, _, column = cell.id.rpartition("/")
    other = known.get(f"{table.rpartition('/')[0]}/{name.removeprefix(cell.id + AGAINST)}/{column}")
    return f"{other.printed} to {cell.printed}" if other else None


def _placed(checks: Sequence[Check], found: Mapping[str, tuple[str, Check]]) -> Iterator[Check]:
    """Yield the checks, those of runs in place of what they judge or behind their number."""
    here = {check.id for check in checks}
    for check in checks:
        yield found[check.id][1].model_copy(update={"source": check.source}) if check.id in found else check
        if check.kind is CheckKind.CELL:
            own = (one for name, (_, one) in found.items() if name not in here and name.partition(".")[0] == check.id)
            yield from own
