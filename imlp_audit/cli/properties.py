"""`imlp-audit properties`."""

from __future__ import annotations

from typing import Annotated

import typer

from imlp_audit.cli.options import Device, ReportOptions, check_device, group_options
from imlp_audit.equations.settings import Dtype, Limits, Settings
from imlp_audit.workers import cores


@group_options
def properties(
    globs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="GLOB",
            help="Claims by id or name, e.g. 'imlp/equations/eq6_*' or 'eq6_*'; all if none.",
            show_default=False,
        ),
    ] = None,
    examples: Annotated[int, typer.Option(min=1, help="How many examples each claim is tried on.")] = 100,
    seed: Annotated[int, typer.Option(min=0, help="Which examples: each number gives others.")] = 0,
    dtype: Annotated[Dtype, typer.Option(help="The floating-point type that is tested.")] = Dtype.FLOAT64,
    device: Annotated[Device, typer.Option(help="Where tensors are computed.")] = Device.CPU,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", min=1, help="Processes that share the claims; by default one per core."),
    ] = None,
    time_limit: Annotated[
        float, typer.Option(min=0.001, metavar="SECONDS", help="How long one claim may take before it is an error.")
    ] = 120,
    *,
    reporting: ReportOptions,
) -> int:
    """Test the papers' equations and statements about functions by running them."""
    from imlp_audit.audit import audit_equations
    from imlp_audit.cli.exits import exit_code
    from imlp_audit.cli.output import emit_result, parse_outputs
    from imlp_audit.cli.progress import show_progress
    from imlp_audit.equations.catalogue import papers_with_claims
    from imlp_audit.spec.library import load
    from imlp_audit.spec.targets import bundled_folders

    check_device(device)
    outputs = parse_outputs(reporting.output)
    settings = Settings(Limits(examples, seed, time_limit), dtype, device.value, jobs or cores())
    with show_progress(shown=reporting.progress) as announce:
        result = audit_equations(load(bundled_folders(papers_with_claims())), globs or (), settings, announce)
    emit_result(result, reporting.printed, outputs)
    return exit_code(result, strict=False)
