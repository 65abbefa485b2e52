"""`imlp-audit list`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from imlp_audit.cli.exits import ExitCode
from imlp_audit.cli.options import NoProgress, Only, Skip, Specs
from imlp_audit.cli.output import emit

if TYPE_CHECKING:
    from imlp_audit.explain.systems import System


def list_checks(
    specs: Specs = None,
    only: Only = None,
    skip: Skip = None,
    systems: Annotated[
        bool, typer.Option("--systems", help="List the models instead, with their sizes: this builds them.")
    ] = False,
    no_progress: NoProgress = False,
) -> int:
    """List the ids of all checks; measures nothing but with --systems."""
    if systems:
        return _list_systems(specs, only, skip, shown=not no_progress)
    from imlp_audit.spec.library import load, select_checks

    plans = select_checks(load(specs or []), only or (), skip or (), solving=True)
    width = max(len(plan.id) for plan in plans)
    lines = [f"{plan.id:{width}}  {plan.source.file}:{plan.source.line}" for plan in plans]
    emit("\n".join(lines) + "\n")
    return ExitCode.CLEAN


def _list_systems(specs: list[str] | None, only: list[str] | None, skip: list[str] | None, *, shown: bool) -> int:
    """List the models of the selected papers; exit with 3 where one could not be built or counted."""
    from imlp_audit.cli.progress import show_progress
    from imlp_audit.explain.systems import systems
    from imlp_audit.spec.library import load

    with show_progress(shown=shown) as announce:
        found = systems(load(specs or []), only or (), skip or (), announce)
    emit("\n".join(["  parameters         multiply-accumulates  system", *map(_line, found)]) + "\n")
    return ExitCode.INCOMPLETE if any(system.failure for system in found) else ExitCode.CLEAN


def _line(system: System) -> str:
    """Write a model's size, what it is called, how it is built and where it is used."""
    tables = ", ".join(dict.fromkeys("/".join(place.split("/")[:2]) for place in system.places))
    told = f"{system.label}  {{{system.recipe}}}  {tables}"
    if system.failure is not None:
        return f"{told}\n  not counted: {system.failure}"
    return f"{system.parameters:>13,}  {system.macs:>25,}  {told}"
