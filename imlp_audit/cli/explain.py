"""`imlp-audit explain` and `imlp-audit solve`."""

from __future__ import annotations

from typing import Annotated

import typer

from imlp_audit.cache.store import Store, remember
from imlp_audit.claims.settings import Settings
from imlp_audit.cli.loading import load_specs, open_store
from imlp_audit.cli.options import Formatted, NoCache, NoProgress, Specs, TrustCode, helpers
from imlp_audit.cli.output import ExitCode, emit_document
from imlp_audit.cli.progress import Announce, show_progress
from imlp_audit.explain import explain as explaining
from imlp_audit.explain.explain import cells_needed
from imlp_audit.explain.explanation_document import explanation_document
from imlp_audit.pipeline import Options, audit, audit_equations, identify_rows
from imlp_audit.records.check import CellCheck, Verdict
from imlp_audit.records.explanation import Explanation
from imlp_audit.records.result import AuditResult
from imlp_audit.report.formats import Format
from imlp_audit.report.hypotheses import solved_document
from imlp_audit.solve import BUDGET
from imlp_audit.solve.selection import selected_targets, solve_selection
from imlp_audit.spec.load import Selection, digest_selection, needs_solver
from imlp_audit.spec.plan import Plan
from imlp_audit.spec.targets import id_in, whole_paper


def explain(
    check_id: Annotated[
        str, typer.Argument(metavar="CHECK_ID", help="A check, as `imlp-audit list` prints it.", show_default=False)
    ],
    specs: Specs = None,
    format_: Formatted = Format.RICH,
    trust_code: TrustCode = False,
    no_progress: NoProgress = False,
    no_cache: NoCache = False,
) -> int:
    """Explain one check: what was compared, and why its verdict came out as it did."""
    selection = load_specs(specs or [whole_paper(check_id)], trust_code=trust_code)
    plan = explaining.find_plan(selection, id_in(check_id, selection.papers[0].id))
    store = open_store(no_cache=no_cache)

    def make() -> Explanation:
        with show_progress(shown=not no_progress) as announce:
            result = _check(plan, selection, announce, store, trust_code=trust_code)
            known, _ = identify_rows(selection, Options(trust_code=trust_code, store=store), announce)
        counted = any(one.id == plan.id and one.measured is not None for one in result.of_kind(CellCheck))
        return explaining.explain(explaining.find_plan(known, plan.id) if counted else plan, result)

    digest = digest_selection(selection, plan.id)
    explanation = remember(store, digest, Explanation, make, lambda made: made.check.verdict is not Verdict.ERROR)
    emit_document(explanation_document(explanation), format_, explanation)
    return ExitCode.INCOMPLETE if explanation.check.verdict is Verdict.ERROR else ExitCode.CLEAN


def _check(plan: Plan, selection: Selection, announce: Announce, store: Store, *, trust_code: bool) -> AuditResult:
    """Make the check and the cells that it needs, as `verify` does, or as `properties` if a claim needs a solver."""
    if needs_solver(plan):
        return audit_equations(selection, (plan.id,), Settings(trust_code=trust_code), announce, store)
    only = (plan.id, *cells_needed(plan))
    return audit(selection, Options(only=only, trust_code=trust_code, store=store), announce)


def solve(
    targets: Specs = None,
    budget: Annotated[
        int,
        typer.Option(
            min=1, help="Pairs of weights and a reading to examine; if it runs out, the answer is not exhaustive."
        ),
    ] = BUDGET,
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
