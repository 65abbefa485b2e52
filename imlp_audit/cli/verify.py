"""`imlp-audit verify`."""

from __future__ import annotations

import sys
from typing import Annotated, Literal

import typer

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
from imlp_audit.cli.output import emit_result, exit_code, parse_outputs
from imlp_audit.cli.progress import Announce, show_progress
from imlp_audit.pipeline import Options, audit, identify_rows
from imlp_audit.records.check import CellCheck, Verdict
from imlp_audit.records.result import AuditResult
from imlp_audit.report.first_screen import first_screen
from imlp_audit.spec.load import Selection, select_checks


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
            print(f"imlp-audit: {what} ({count})", file=sys.stderr)
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
