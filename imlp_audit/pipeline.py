"""The audit: specs to plan, plan to models, models to facts, facts to checks, checks to a result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from itertools import chain
from os import PathLike, fspath

from imlp_audit import __version__
from imlp_audit.cache.measured import keep_model, keep_outcomes, narrow, recall_models, recall_outcomes
from imlp_audit.cache.store import Store, remember
from imlp_audit.checks.acknowledge import Acknowledged, acknowledge, locked_checks
from imlp_audit.checks.alternatives import alternatives_needed, name_alternatives
from imlp_audit.checks.candidate_counts import proposals
from imlp_audit.checks.context import Context
from imlp_audit.checks.guards import mark_unguarded
from imlp_audit.checks.judged_under import with_hypotheses
from imlp_audit.checks.matches_by_chance import RowIdentity
from imlp_audit.checks.row_identification import identify, parameters_needed, with_models, work_needed
from imlp_audit.checks.run import models_needed, papers_to_judge, run_check
from imlp_audit.checks.table_choices import one_channel_needed, with_heads, with_units
from imlp_audit.claims.catalogue import ClaimText
from imlp_audit.claims.running import running
from imlp_audit.claims.settings import Settings
from imlp_audit.count.facts import Facts, Failure, Measured, ModelKey, Need
from imlp_audit.count.measuring import begin_measuring, is_outside, measure_here, measure_outside
from imlp_audit.errors import UsageError
from imlp_audit.processes.workers import Pool, open_pool
from imlp_audit.records.check import Check, RepeatCheck, Verdict
from imlp_audit.records.result import AuditResult, FitScore
from imlp_audit.spec.findings import refuse_broken_locks
from imlp_audit.spec.load import Selection, digest_selection, load, select_checks, select_equations
from imlp_audit.spec.paper import Paper, paper_head
from imlp_audit.spec.plan import EquationPlan, Plan, check_ids

Announce = Callable[[int], Callable[[str], None]]


@dataclass(frozen=True)
class Options:
    """What a user may narrow or change: id globs, the default reading, and the device to run the real fvcore on.

    `jobs` is how many other processes share the work: they test the statements about functions, and where there are
    many models, some count. With `trust_code` the Python of every selected paper is run. With `any_lock` a lock that
    cannot be used counts as none, so that it can be written anew. What is measured is kept in the `store`, and what is
    found there is not measured again.
    """

    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    reading: str | None = None
    fvcore_device: str | None = None
    jobs: int = 0
    trust_code: bool = False
    any_lock: bool = False
    store: Store = field(default_factory=Store)


def audit(selection: Selection, options: Options, announce: Announce) -> AuditResult:
    """Audit the selected papers. `announce(total)` returns a callback, which is called with each step's name."""
    _check_reading(selection, options.reading)
    select_checks(selection, options.only, options.skip)
    settings = Settings(jobs=options.jobs, trust_code=options.trust_code)

    def run() -> AuditResult:
        known, identities = identify_rows(selection, options, announce)
        plans = select_checks(known, options.only, options.skip)
        return _run(plans, known, options, settings, announce, identities, searched=False)

    digest = digest_selection(selection, replace(options, jobs=0, store=Store()))
    return remember(options.store, digest, AuditResult, run, lambda made: not made.counts()[Verdict.ERROR])


def audit_targets(
    *targets: str | PathLike[str],
    only: Sequence[str] = (),
    skip: Sequence[str] = (),
    reading: str | None = None,
    jobs: int = 0,
    trust_code: bool = False,
) -> AuditResult:
    """Audit what targets name, as `imlp-audit verify` does: papers by id, folders, files, `paper/table`, ids or globs.

    `only` and `skip` are globs of the checks' ids, and `reading` is a declared reading to use instead of the default.
    `jobs` other processes share the work. The Python of papers that are not trusted runs only with `trust_code`.
    Raises SpecError where a spec has problems, and UsageError where a target names nothing.
    """
    selection = load([fspath(target) for target in targets], trust_code=trust_code)
    options = Options(tuple(only), tuple(skip), reading, jobs=jobs, trust_code=trust_code)
    return audit(selection, options, lambda _: lambda _: None)


def audit_equations(
    selection: Selection, patterns: Sequence[str], settings: Settings, announce: Announce, store: Store | None = None
) -> AuditResult:
    """Test the papers' statements about functions, those that need a solver included."""
    plans = select_equations(selection, patterns)
    return _run(plans, selection, Options(store=store or Store()), settings, announce, {}, searched=True)


def _run(
    plans: Sequence[Plan],
    selection: Selection,
    options: Options,
    settings: Settings,
    announce: Announce,
    identities: Mapping[str, RowIdentity],
    *,
    searched: bool,
) -> AuditResult:
    if not options.any_lock:
        refuse_broken_locks(selection.papers)
    versions = list_versions()  # where one of these libraries isn't installed, say so before any work
    made, context = _make_checks(plans, selection, options, settings, announce, identities, helping=not searched)
    known = list(_acknowledge(made, selection, searched=searched))
    asked = {check.id.partition("/")[0] for check in made}
    asked |= {one.repeats.partition("/")[0] for one in made if isinstance(one, RepeatCheck) and one.repeats is not None}
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


def _make_checks(
    plans: Sequence[Plan],
    selection: Selection,
    options: Options,
    settings: Settings,
    announce: Announce,
    identities: Mapping[str, RowIdentity],
    *,
    helping: bool,
) -> tuple[Sequence[Check], Context]:
    """Make the checks in order, and store what is new; `helping`, this process tests claims after the numbers."""
    store = options.store
    equations = [plan for plan in plans if isinstance(plan, EquationPlan)]
    numbers = [plan for plan in plans if not isinstance(plan, EquationPlan)]
    claims = [plan.claim for plan in equations if isinstance(plan.claim, ClaimText)]
    tested = recall_outcomes(store, claims, settings)
    untested = [claim for claim in claims if claim.id not in tested]
    needed = models_needed(numbers, Context({}, options.reading))
    counted, left = recall_models(store, needed) if options.fvcore_device is None else ({}, needed)
    progress = announce(len(left) + len(untested))
    with open_pool(settings.jobs) as pool:
        counting = _measure(left, progress, options, pool)  # before claims, which need no number
        with running(untested, settings, pool, helping=helping) as outcomes:
            measured = {key: narrow(facts, needed[key]) for key, facts in counting}
            context = Context({**counted, **measured}, options.reading, identities=identities)
            context = with_hypotheses(context, papers_to_judge(numbers))
            made = [run_check(plan, context) for plan in numbers]
            checks = _try_alternatives(numbers, made, context, options, pool)
            judged = mark_unguarded(checks, numbers, select_checks(selection, solving=True), context)
            found = outcomes(progress)
    keep_outcomes(store, untested, settings, found)
    store.trim()
    context = replace(context, outcomes={**tested, **found})
    by_id = {check.id: check for check in (*judged, *(run_check(plan, context) for plan in equations))}
    return [by_id[plan.id] for plan in plans], context


def identify_rows(
    selection: Selection, options: Options, announce: Announce
) -> tuple[Selection, Mapping[str, RowIdentity]]:
    """Return the papers with the models that rows with candidates are of, and what their numbers say about each."""
    papers = [paper for paper in selection.papers if proposals(paper)]
    if not papers:
        return selection, {}
    context = Context({}, options.reading)
    with open_pool(options.jobs) as pool:
        for needed_of, settle in _STEPS:
            needed = _left_to_count(needed_of(papers, context), context.facts)
            counted, left = recall_models(options.store, needed)
            plain = replace(options, fvcore_device=None)
            measured = dict(_measure(left, announce(len(left)), plain, pool))
            context = replace(context, facts={**context.facts, **counted, **measured})
            papers = [settle(paper, context) for paper in papers]
    found = identify(papers, context)
    known = {paper.id: with_models(paper, found) for paper in papers}
    return replace(selection, papers=tuple(known.get(one.id, one) for one in selection.papers)), found


_STEPS = (
    (parameters_needed, with_units),
    (one_channel_needed, with_heads),
    (parameters_needed, lambda paper, _: paper),
    (work_needed, with_units),
    (work_needed, lambda paper, _: paper),
)
"""What to count of candidates, and what their tables leave open that the counts then settle."""


def _left_to_count(needed: Mapping[ModelKey, Need], facts: Facts) -> Mapping[ModelKey, Need]:
    known = {key for key, one in facts.items() if isinstance(one, Failure) or one.ledger is not None}
    return {key: need for key, need in needed.items() if key not in (known if need.work else facts)}


def _try_alternatives(
    plans: Sequence[Plan], checks: Sequence[Check], context: Context, options: Options, pool: Pool
) -> Sequence[Check]:
    """Return the checks; those that differ name the other forms and sizes of their models that are as printed."""
    needed = alternatives_needed(plans, checks, context)
    if not needed:
        return checks
    counted, left = recall_models(options.store, needed)
    measured = dict(_measure(left, lambda _: None, replace(options, fvcore_device=None), pool))
    facts = {**counted, **measured, **context.facts}
    return name_alternatives(plans, checks, replace(context, facts=facts))


def _fits(paper: Paper) -> Mapping[str, FitScore]:
    fitted = paper.about.value.fitted
    return {name: FitScore(explained=fit.explained, of=fit.of, by_chance=fit.by_chance) for name, fit in fitted.items()}


def _acknowledge(checks: Sequence[Check], selection: Selection, *, searched: bool) -> Iterator[Acknowledged]:
    """Yield each paper's checks with their findings. Only repeats were made for papers not asked for."""
    for paper in (*selection.papers, *selection.repeating):
        made = [check for check in checks if check.id.startswith(f"{paper.id}/")]
        if made and paper in selection.papers:
            yield acknowledge(paper, made, check_ids(paper, selection.known), searched=searched)
        elif made:
            known = acknowledge(paper, made, [*locked_checks(paper), *(check.id for check in made)])
            yield replace(known, findings=(), stale_findings=())  # their own runs report them


def _check_reading(selection: Selection, reading: str | None) -> None:
    known = sorted({name for paper in selection.papers for name in paper.about.value.readings})
    if reading is not None and reading not in known:
        raise UsageError(f"no reading is called {reading!r}; declared here: {', '.join(known) or 'none'}")


def _measure(
    needed: Mapping[ModelKey, Need], progress: Callable[[str], None], options: Options, pool: Pool
) -> Iterator[Measured]:
    """Begin to measure models; the iterator keeps each in the store."""
    ours = {key: need for key, need in needed.items() if not is_outside(key)}
    others = {key: need for key, need in needed.items() if is_outside(key)}
    device = options.fvcore_device
    found = begin_measuring(ours, progress, pool) if device is None else measure_here(ours, progress, device)
    return _keep(chain(found, measure_outside(others, progress, device)), options.store)


def _keep(measured: Iterator[Measured], store: Store) -> Iterator[Measured]:
    for key, facts in measured:
        keep_model(store, key, facts)
        yield key, facts


def list_versions() -> dict[str, str]:
    """Return the versions that a result depends on. Raises ModuleNotFoundError where one is not installed."""
    installed = {name: version(name) for name in ("torch", "timm", "fvcore", "hypothesis")}
    return {"imlp_audit": __version__, **installed}
