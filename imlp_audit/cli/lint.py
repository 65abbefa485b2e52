"""`imlp-audit lint`."""

from __future__ import annotations

from imlp_audit.cli.options import Specs
from imlp_audit.cli.output import emit
from imlp_audit.numbers.words import count_of


def lint(specs: Specs = None) -> int:
    """Find every problem in the specs, without measuring anything."""
    from imlp_audit.spec.library import load
    from imlp_audit.spec.plan import plan

    selection = load(specs or [])
    for paper in selection.papers:
        checks = plan(paper, selection.known)
        counts = ((len(paper.tables), "table"), (len(checks), "check"), (len(paper.waivers), "waiver"))
        emit(f"{paper.id}: {', '.join(count_of(*count) for count in counts)}: no problems\n")
    return 0
