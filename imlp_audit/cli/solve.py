"""`imlp-audit solve`."""

from __future__ import annotations

from typing import Annotated

import typer

from imlp_audit.cli.loading import load_specs, open_store
from imlp_audit.cli.options import Formatted, NoCache, NoProgress, Specs, TrustCode, helpers
from imlp_audit.cli.output import emit_document
from imlp_audit.cli.progress import show_progress
from imlp_audit.report.formats import Format
from imlp_audit.report.hypotheses import solved_document
from imlp_audit.solve.selection import selected_targets, solve_selection


def solve(
    targets: Specs = None,
    budget: Annotated[
        int,
        typer.Option(
            min=1, help="Pairs of weights and a reading to examine; if it runs out, the answer is not exhaustive."
        ),
    ] = 50_000_000,
    format_: Formatted = Format.RICH,
    trust_code: TrustCode = False,
    no_progress: NoProgress = False,
    no_cache: NoCache = False,
) -> int:
    """Find the readings and the counters that explain the printed numbers."""
    selection = load_specs(targets, trust_code=trust_code)
    with show_progress(shown=not no_progress, doing="solving") as announce:
        store = open_store(no_cache=no_cache)
        solved = solve_selection(selection, selected_targets(selection), announce(4), store, budget, helpers())
    emit_document(solved_document(solved), format_, solved)
    return 0
