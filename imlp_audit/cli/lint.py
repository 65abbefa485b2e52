"""`imlp-audit lint`."""

from __future__ import annotations

from imlp_audit.cli.options import Specs
from imlp_audit.cli.output import emit


def lint(specs: Specs = None) -> int:
    """Find every problem in specs; measures nothing."""
    from imlp_audit.spec.library import load
    from imlp_audit.spec.plan import plan

    selection = load(specs or [])
    for paper in selection.papers:
        count = len(plan(paper, selection.known))
        emit(f"{paper.id}: {len(paper.tables)} tables, {count} checks, {len(paper.waivers)} waivers: sound\n")
    return 0
