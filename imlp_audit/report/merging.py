"""Merges results of `eval` and `bench` into an audit: a number that was open takes the verdict of its run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from imlp_audit.errors import UsageError
from imlp_audit.records.check import Check, CheckKind, Verdict
from imlp_audit.records.result import AuditResult

AGAINST = ".against."


def merge_runs(audit: AuditResult, runs: Sequence[tuple[str, AuditResult]]) -> AuditResult:
    """Return an audit with the checks of runs in their places; each run comes with the name of its file.

    A number that the audit leaves open takes its run's check. A difference over the same images, which only runs can
    check, follows its number. Raises UsageError for a run without evidence; for a number that the audit doesn't have,
    has with another printed text, or has a verdict on; and for a number that two runs judge differently.
    """
    known = {check.id: check for check in audit.checks}
    found: dict[str, tuple[str, Check]] = {}
    for name, run in runs:
        measured = [check for check in run.checks if check.evidence]
        if not measured:
            raise UsageError(f"{name}: none of its checks has evidence; give a JSON result of eval or bench")
        for check in measured:
            _refuse_misfits(name, check, known)
            other, before = found.setdefault(check.id, (name, check))
            if not _same(before, check):
                raise UsageError(
                    f"{other} and {name} both judge {check.id}; a report has one run per number: give one of them"
                )
    return audit.model_copy(update={"checks": tuple(_place_runs(audit.checks, found))})


def _refuse_misfits(name: str, check: Check, known: Mapping[str, Check]) -> None:
    """Raise UsageError if the audit has no such number, prints it differently, or already has a verdict on it."""
    printed = _find_printed(check.id, known)
    if printed is None:
        raise UsageError(f"{name}: {check.id} is not in this report; give the specs that the run was made with")
    if check.printed != printed:
        raise UsageError(f"{name}: it judges {check.id} as {check.printed!r}, but {printed!r} is printed; run it again")
    here = known.get(check.id)
    open_ = here is None or (here.verdict is Verdict.UNVERIFIABLE and not here.evidence)
    if here is not None and not (open_ or _same(here, check)):
        raise UsageError(f"{name}: {check.id} already has a verdict ({here.verdict}), which a run does not replace")


def _same(one: Check, other: Check) -> bool:
    """Say whether two checks are equal, apart from their lines in the specs."""
    return one.model_copy(update={"source": other.source}) == other


def _find_printed(name: str, known: Mapping[str, Check]) -> str | None:
    """Return the printed text for the id of a check that a run can make; None if there is none."""
    cell = known.get(name.partition(".")[0])
    if cell is None or cell.kind is not CheckKind.CELL:
        return None
    if name == cell.id:
        return cell.printed
    table, _, column = cell.id.rpartition("/")
    other = known.get(f"{table.rpartition('/')[0]}/{name.removeprefix(cell.id + AGAINST)}/{column}")
    return f"{other.printed} to {cell.printed}" if other else None


def _place_runs(checks: Sequence[Check], found: Mapping[str, tuple[str, Check]]) -> Iterator[Check]:
    """Yield the checks; those of runs replace the open ones or follow their number."""
    here = {check.id for check in checks}
    for check in checks:
        yield found[check.id][1].model_copy(update={"source": check.source}) if check.id in found else check
        if check.kind is CheckKind.CELL:
            own = (one for name, (_, one) in found.items() if name not in here and name.partition(".")[0] == check.id)
            yield from own
