"""`imlp-audit verify` and `properties`: they audit."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated, Literal

import typer

from imlp_audit.claims.settings import Settings
from imlp_audit.cli.loading import load_specs, open_store, tell_cache
from imlp_audit.cli.options import (
    Device,
    NoCache,
    Only,
    Reading,
    ReportOptions,
    Skip,
    Specs,
    TrustCode,
    check_device,
    group_options,
    helpers,
    trusting,
)
from imlp_audit.cli.output import emit_result, exit_code, parse_outputs, tell
from imlp_audit.cli.progress import Announce, show_progress
from imlp_audit.errors import UsageError
from imlp_audit.pipeline import Options, audit, audit_equations, identify_rows
from imlp_audit.processes.limits import cores
from imlp_audit.records.check import CellCheck, Verdict
from imlp_audit.records.result import AuditResult
from imlp_audit.report.first_screen import first_screen
from imlp_audit.spec.load import Selection, select_checks
from imlp_audit.spec.targets import find, split_target


@group_options
def verify(
    specs: Specs = None,
    only: Only = None,
    skip: Skip = None,
    reading: Reading = None,
    counter: Annotated[
        Literal["ledger", "fvcore"],
        typer.Option(help="What counts for the convention `fvcore`: our ledger, or fvcore itself (slow)."),
    ] = "ledger",
    device: Annotated[Device, typer.Option(help="Where --counter fvcore runs; the ledger needs no device.")] = "cpu",
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", min=0, help="Processes that share the work with this one; 0 for none.")
    ] = None,
    trust_code: TrustCode = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 also if a check is unverifiable.")] = False,
    no_baseline: Annotated[
        bool, typer.Option("--no-baseline", help="Exit with 1 also if all failing checks are known (in findings.yaml).")
    ] = False,
    no_cache: NoCache = False,
    *,
    reporting: ReportOptions,
) -> int:
    """Give every printed number a verdict."""
    outputs = parse_outputs(reporting.printed, reporting.output)
    selection = load_specs(specs, trust_code=trust_code)
    check_device(device)  # which imports torch
    options = Options(
        only=tuple(only or ()),
        skip=tuple(skip or ()),
        reading=reading,
        fvcore_device=device if counter == "fvcore" else None,
        jobs=helpers() if jobs is None else jobs,
        trust_code=trust_code,
        store=open_store(no_cache=no_cache, quiet=reporting.quiet),
    )
    with show_progress(shown=reporting.progress) as announce:
        result = audit_with_causes(selection, options, announce)
    tell_cache(options.store, shown=reporting.progress)
    given = [*(specs or []), *trusting(trust_code)]
    emit_result(result, outputs, screen=None if reporting.all_ else first_screen(result, given))
    failing = {
        "--no-baseline: acknowledged checks fail the run": no_baseline and result.acknowledged(),
        "--strict: unverifiable checks fail the run": strict and result.counts()[Verdict.UNVERIFIABLE],
    }
    for what, count in failing.items():
        if count and not reporting.quiet:
            tell(f"{what} ({count})")
    return exit_code(result, strict=strict, baseline=not no_baseline)


def audit_with_causes(selection: Selection, options: Options, announce: Announce) -> AuditResult:
    """Audit, and name what would give the numbers that differ and that no finding acknowledges."""
    result = audit(selection, options, announce)
    if all(one.verdict is not Verdict.DIFFERS or one.acknowledged for one in result.of_kind(CellCheck)):
        return result
    from imlp_audit.explain.cause_search import name_causes

    known, _ = identify_rows(selection, options, announce)
    plans = select_checks(known, options.only, options.skip)
    return result.model_copy(update={"checks": name_causes(result.checks, plans, options.store, announce)})


@group_options
def properties(
    claims: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="CLAIM",
            help="Claims by id or name, e.g. 'imlp/equations/eq6_*' or 'eq6_*', or papers by id, folder or file; all "
            "claims of ./specs or the bundled papers if none.",
            show_default=False,
        ),
    ] = None,
    examples: Annotated[int, typer.Option(min=1, help="How many examples each claim is tried on.")] = 100,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the examples; another number gives others.")] = 0,
    device: Annotated[Device, typer.Option(help="Where tensors are computed.")] = "cpu",
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", min=1, help="Processes that share the claims; by default one per core."),
    ] = None,
    time_limit: Annotated[
        float, typer.Option(min=0.001, metavar="SECONDS", help="How long one claim may take before it is an error.")
    ] = 120,
    trust_code: TrustCode = False,
    no_cache: NoCache = False,
    *,
    reporting: ReportOptions,
) -> int:
    """Test the papers' equations and statements about functions by running them."""
    outputs = parse_outputs(reporting.printed, reporting.output)
    patience = min(120.0, 30 + time_limit)  # one that hangs ends too
    settings = Settings(examples, seed, time_limit, patience, device, jobs or cores(), trust_code)
    targets, patterns = _split(claims or [])
    selection = load_specs(targets, trust_code=trust_code)
    check_device(device)  # which imports torch
    store = open_store(no_cache=no_cache, quiet=reporting.quiet)
    with show_progress(shown=reporting.progress) as announce:
        result = audit_equations(selection, patterns, settings, announce, store)
    tell_cache(store, shown=reporting.progress)
    screen = None if reporting.all_ else first_screen(result, [*targets, *trusting(trust_code)])
    emit_result(result, outputs, screen=screen)
    return exit_code(result)


def _split(claims: list[str]) -> tuple[list[str], list[str]]:
    """Return the targets among the arguments, and the patterns of claims' names."""
    targets = []
    for claim in claims:
        named = split_target(claim)[0] is not None or "/" in claim
        with suppress(UsageError):
            targets += [claim] if named or find([claim]) else []
    return targets, [claim for claim in claims if claim not in targets]
