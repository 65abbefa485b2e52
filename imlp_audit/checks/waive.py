"""Waivers: known findings that pass as long as nothing about them changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from imlp_audit.records.check import FINDINGS, PASSES, Check, CheckKind, Verdict
from imlp_audit.spec.paper import LocatedWaiver
from imlp_audit.spec.schema import Expected


def waive(checks: Iterable[Check], waivers: Iterable[LocatedWaiver], *, searched: bool = False) -> list[Check]:
    """Waive the checks that are still what their waivers say, and report the waivers that no longer hold.

    Where a user has `searched` with other examples than an audit's, a claim that is known to be false stays waived
    with any counterexample, or with none found.
    """
    by_id: Mapping[str, LocatedWaiver] = {waiver.expected.value.id: waiver for waiver in waivers}
    result: list[Check] = []
    for check in checks:
        waiver = by_id.get(check.id)
        if waiver is not None and searched:
            check, waiver = _as_known(check, waiver.expected.value), _as_found(check, waiver)
        result += [check] if waiver is None else _apply(check, waiver)
    return result


def _as_known(check: Check, expected: Expected) -> Check:
    """Return a claim as false, as it is known to be, although the search found no counterexample."""
    if check.verdict not in PASSES or expected.counterexample is None:
        return check
    reason = f"{check.reason}, but known to be false for {expected.counterexample}"
    return check.model_copy(update={"verdict": expected.verdict, "reason": reason})


def _as_found(check: Check, waiver: LocatedWaiver) -> LocatedWaiver:
    """Return a waiver that expects the counterexample that was found."""
    value = waiver.expected.value
    if value.counterexample is not None:
        value = value.model_copy(update={"counterexample": "; ".join(check.counterexample) or None})
    return replace(waiver, expected=replace(waiver.expected, value=value))


def _apply(check: Check, waiver: LocatedWaiver) -> list[Check]:
    drift = _drift(check, waiver.expected.value)
    if drift is None:
        update = {"verdict": Verdict.WAIVED, "finding": check.verdict, "waiver": waiver.reason}
        return [check.model_copy(update=update)]
    reason = f"its waiver no longer holds: {drift}"
    if check.verdict in FINDINGS:
        return [check.model_copy(update={"reason": f"{check.reason}; {reason}"})]
    if check.verdict is Verdict.ERROR:
        return [check]
    paper, _, rest = check.id.partition("/")
    broken = Check(
        id=f"{paper}/waivers/{rest}",
        kind=CheckKind.WAIVER,
        verdict=Verdict.DIFFERS,
        reason=f"{check.id} is {check.verdict}, but {reason}; remove the waiver or correct it",
        source=waiver.expected.source(),
    )
    return [check, broken]


def _drift(check: Check, expected: Expected) -> str | None:
    """Say what a check has that its waiver does not expect, if anything."""
    if check.verdict is not expected.verdict:
        return f"it expects {expected.verdict}, found {check.verdict}"
    if check.printed != expected.printed:
        return f"it expects {expected.printed!r} printed, found {check.printed!r}"
    counterexample = "; ".join(check.counterexample) or None
    if counterexample != expected.counterexample:
        return f"it expects counterexample: {expected.counterexample}, found counterexample: {counterexample}"
    measured = measurements(check)
    if expected.measured == measured:
        return None
    expects = "has no `measured`" if expected.measured is None else f"expects measured: {_flow(expected.measured)}"
    return f"it {expects}, found measured: {_flow(measured)}"


def _flow(measured: str | dict[str, str] | None) -> str:
    """Write measurements as a spec would."""
    if isinstance(measured, dict):
        return "{" + ", ".join(f"{name}: {value}" for name, value in measured.items()) + "}"
    return "nothing" if measured is None else f'"{measured}"'


def measurements(check: Check) -> str | dict[str, str] | None:
    """Return what was measured for a check as a waiver writes it: one value, or each by its reading and convention."""
    named = {_name(check.reading, check.convention): check.measured} | {
        _name(one.reading, one.convention): one.measured for one in check.also
    }
    values = {name: value for name, value in named.items() if value is not None}
    distinct = set(values.values())
    if len(distinct) > 1:
        return dict(sorted(values.items()))
    return distinct.pop() if distinct else None


def _name(reading: str | None, convention: str | None) -> str:
    return "/".join(part for part in (reading, convention) if part)
