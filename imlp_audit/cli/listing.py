"""`imlp-audit list`."""

from __future__ import annotations

from imlp_audit.cli.options import Only, Skip, Specs
from imlp_audit.cli.stream import emit


def list_checks(specs: Specs = None, only: Only = None, skip: Skip = None) -> int:
    """List the ids of all checks; measures nothing."""
    from imlp_audit.spec.library import load
    from imlp_audit.spec.selected import planned

    plans = planned(load(specs or []), only or (), skip or (), solving=True)
    width = max(len(plan.id) for plan in plans)
    lines = [f"{plan.id:{width}}  {plan.source.file}:{plan.source.line}" for plan in plans]
    emit("\n".join(lines) + "\n")
    return 0
