"""The audit: specs to plan, plan to models, models to facts, facts to checks, checks to a result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version

from imlp_audit import __version__
from imlp_audit.checks.acknowledge import Acknowledged, acknowledge, locked_checks
from imlp_audit.checks.context import Context
from imlp_audit.checks.guards import mark_unguarded
from imlp_audit.checks.run import models_needed, papers_to_judge, run_check
from imlp_audit.checks.votes import with_hypotheses
from imlp_audit.equations.catalogue import ClaimText
from imlp_audit.equations.running import running
from imlp_audit.equations.settings import Settings
from imlp_audit.errors import UsageError
from imlp_audit.measure.facts import Facts, ModelKey, Need
from imlp_audit.records.check import Check
from imlp_audit.records.hypothesis import FitScore
from imlp_audit.records.result import AuditResult
from imlp_audit.spec.findings import refuse_broken_locks
from imlp_audit.spec.library import Selection, select_checks, select_equations
from imlp_audit.spec.paper import Paper, paper_head
from imlp_audit.spec.plan import EquationPlan, Plan, check_ids

Announce = Callable[[int], Callable[[str], None]]


@dataclass(frozen=True)
class Options:
    """What a user may narrow or change: id globs, the default reading, and the device to run the real fvcore on.

    `jobs` is how many other processes test the statements about functions meanwhile; with `trust_code`
    the Python of every selected paper is run. With `any_lock` a lock that cannot be used counts as none, so that it can
    be written anew.
    """

    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    reading: str | None = None
    fvcore_device: str | None = None
    jobs: int = 0
    trust_code: bool = False
    any_lock: bool = False


def audit(selection: Selection, options: Options, announce: Announce, measured: Facts | None = None) -> AuditResult:
    """Audit the selected papers. `announce(total)` returns a callback, which is called with each step's name.

    Models that were `measured` before, for all that the selection needs of them, are not measured again.
    """
    _check_reading(selection, options.reading)
    plans = select_checks(selection, options.only, options.skip)
    settings = Settings(jobs=options.jobs, trust_code=options.trust_code)
    return _run(plans, selection, options, settings, announce, searched=False, measured=measured or {})


def audit_equations(
    selection: Selection, patterns: Sequence[str], settings: Settings, announce: Announce
) -> AuditResult:
    """Test the papers' statements about functions, those that need a solver included."""
    plans = select_equations(selection, patterns)
    return _run(plans, selection, Options(), settings, announce, searched=True, measured={})


def _run(
    plans: Sequence[Plan],
    selection: Selection,
    options: Options,
    settings: Settings,
    announce: Announce,
    *,
    searched: bool,
    measured: Facts,
) -> AuditResult:
    if not options.any_lock:
        refuse_broken_locks(selection)
    versions = list_versions()  # where one of these libraries isn't installed, say so before any work
    needed = models_needed(plans, Context({}, options.reading))
    needed = {key: need for key, need in needed.items() if key not in measured}
    claims = [p.claim for p in plans if isinstance(p, EquationPlan) and isinstance(p.claim, ClaimText)]
    progress = announce(len(needed) + len(claims))
    with running(claims, settings) as outcomes:
        facts = {**measured, **_facts(needed, progress, options)}
        context = with_hypotheses(Context(facts, options.reading, outcomes(progress)), papers_to_judge(plans))
    made = mark_unguarded(
        [run_check(check, context) for check in plans], plans, select_checks(selection, solving=True), context
    )
    known = list(_acknowledge(made, selection, searched=searched))
    asked = {check.id.partition("/")[0] for check in made}
    asked |= {check.repeats.partition("/")[0] for check in made if check.repeats is not None}
    return AuditResult(
        papers=tuple(paper_head(paper) for paper in selection.papers if paper.id in asked),
        versions=versions,
        checks=tuple(check for one in known for check in one.checks),
        findings=tuple(finding for one in known for finding in one.findings),
        stale=tuple(entry for one in known for entry in one.stale),
        stale_findings=tuple(found for one in known for found in one.stale_findings),
        hypotheses={
            paper.id: context.judged[paper.id].record(_fits(paper))
            for paper in selection.papers
            if paper.id in context.judged
        },
    )


def _fits(paper: Paper) -> Mapping[str, FitScore]:
    fitted = paper.about.value.fitted
    return {name: FitScore(explained=fit.explained, of=fit.of, by_chance=fit.by_chance) for name, fit in fitted.items()}


def _acknowledge(checks: Sequence[Check], selection: Selection, *, searched: bool) -> Iterator[Acknowledged]:
    """Yield each paper's checks with their findings. Only repeats were made for papers not asked for."""
    for paper in selection.papers:
        made = [check for check in checks if check.id.startswith(f"{paper.id}/")]
        if made:
            yield acknowledge(paper, made, check_ids(paper, selection.known), searched=searched)
    for paper in selection.repeating:
        made = [check for check in checks if check.id.startswith(f"{paper.id}/")]
        if made:
            known = acknowledge(paper, made, [*locked_checks(paper), *(check.id for check in made)])
            yield replace(known, stale_findings=())  # of these papers not all checks are known


def _check_reading(selection: Selection, reading: str | None) -> None:
    known = sorted({name for paper in selection.papers for name in paper.about.value.readings})
    if reading is not None and reading not in known:
        raise UsageError(f"no reading is called {reading!r}; declared here: {', '.join(known) or 'none'}")


def _facts(needed: Mapping[ModelKey, Need], progress: Callable[[str], None], options: Options) -> Facts:
    if not needed:
        return {}
    # torch takes seconds to import: not where nothing is to be counted, nor before the specs are known to be sound
    from imlp_audit.measure.models import measure_models
    from imlp_audit.measure.outside import is_outside, measure_outside

    ours = {key: need for key, need in needed.items() if not is_outside(key)}
    others = {key: need for key, need in needed.items() if is_outside(key)}
    device = options.fvcore_device
    return {**measure_models(ours, progress, device), **measure_outside(others, progress, device)}


def list_versions() -> dict[str, str]:
    """Return the versions that a result depends on. Raises ModuleNotFoundError where one is not installed."""
    installed = {name: version(name) for name in ("torch", "timm", "fvcore", "hypothesis")}
    return {"imlp_audit": __version__, **installed}
