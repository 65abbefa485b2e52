"""`imlp-audit properties`."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Annotated

import typer

from imlp_audit.cli.options import Device, NoCache, ReportOptions, TrustCode, check_device, group_options, trusting
from imlp_audit.equations.settings import Dtype, Limits, Settings
from imlp_audit.workers import cores


@group_options
def properties(
    claims: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="CLAIM",
            help="Claims by id or name, e.g. 'imlp/equations/eq6_*' or 'eq6_*', a bundled paper's id, or the folder or "
            "file of a paper of yours; all claims of the bundled papers if none.",
            show_default=False,
        ),
    ] = None,
    examples: Annotated[int, typer.Option(min=1, help="How many examples each claim is tried on.")] = 100,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the examples; another number gives others.")] = 0,
    dtype: Annotated[Dtype, typer.Option(help="The floating-point type to test in.")] = Dtype.FLOAT64,
    device: Annotated[Device, typer.Option(help="Where tensors are computed.")] = Device.CPU,
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
    from imlp_audit.audit import audit_equations
    from imlp_audit.cli.cache import open_store, tell_cache
    from imlp_audit.cli.exits import exit_code
    from imlp_audit.cli.output import emit_result, parse_outputs
    from imlp_audit.cli.progress import show_progress
    from imlp_audit.report.overview import first_screen
    from imlp_audit.spec.library import load
    from imlp_audit.spec.targets import bundled_papers

    check_device(device)
    outputs = parse_outputs(reporting.printed, reporting.output)
    limits = Limits(examples, seed, time_limit)
    settings = Settings(limits, dtype, device.value, jobs or cores(), trust_code=trust_code)
    bundled = bundled_papers()
    folders, patterns = _split(claims or [], bundled)
    store = open_store(no_cache=no_cache)
    with show_progress(shown=reporting.progress) as announce:
        result = audit_equations(load(folders or list(bundled.values())), patterns, settings, announce, store)
    tell_cache(store, shown=reporting.progress)
    trust = trusting(trust_code)
    again = ["properties", *(claims or []), *trust, "--all"]
    emit_result(result, outputs, screen=None if reporting.all_ else first_screen(result, [*folders, *trust], [again]))
    return exit_code(result)


def _split(claims: list[str], bundled: Collection[str]) -> tuple[list[str], list[str]]:
    """Return the papers that are named by their files, and the patterns of claims."""
    folders = [claim for claim in claims if claim not in bundled and Path(claim).exists()]
    return folders, [f"{claim}/*" if claim in bundled else claim for claim in claims if claim not in folders]
