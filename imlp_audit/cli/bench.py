"""`imlp-audit bench`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from imlp_audit.bench.planning import FEWEST_PAIRS, ModelDtype, Setup, find_column, find_table, plan_comparisons
from imlp_audit.cli.loading import load_specs
from imlp_audit.cli.options import Device, Reading, ReportOptions, TrustCode, check_device, group_options
from imlp_audit.cli.output import emit_result, exit_code, parse_outputs
from imlp_audit.cli.progress import show_progress
from imlp_audit.errors import UsageError
from imlp_audit.report.first_screen import run_screen


@dataclass(frozen=True)
class TimingOptions(Setup):
    """How models are run and timed, as options."""

    batch: Annotated[int, typer.Option("--batch-size", metavar="N", min=1, help="Images per pass.")] = 32
    pairs: Annotated[
        int,
        typer.Option(metavar="N", min=FEWEST_PAIRS, help="How often both models are timed, in alternating order."),
    ] = 10
    device: Annotated[Device, typer.Option(help="Where the models run.")] = "cpu"
    threads: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Threads for torch; torch's own choice if left out.")
    ] = None
    dtype: Annotated[ModelDtype, typer.Option(help="The type of weights and images.")] = "float32"
    reading: Reading = None
    same_hardware: Annotated[
        bool,
        typer.Option(
            "--same-hardware", help="State that hardware, software and settings are the paper's, to get verdicts."
        ),
    ] = False


@group_options
def bench(
    table: Annotated[
        str,
        typer.Option(metavar="PAPER/TABLE", help="The table: imlp/9, or mine.yaml/1 for a file.", show_default=False),
    ],
    rows: Annotated[
        list[str] | None, typer.Option(metavar="GLOB", help="Only rows whose id matches; repeatable.")
    ] = None,
    column: Annotated[
        str | None, typer.Option(metavar="NAME", help="The column of throughput if there are several: cpu, gpu.")
    ] = None,
    against: Annotated[
        str | None, typer.Option(metavar="ROW", help="Time each row against this one, not against its own baseline.")
    ] = None,
    trust_code: TrustCode = False,
    *,
    timing: TimingOptions,
    reporting: ReportOptions,
) -> int:
    """Time a table's models against their baselines."""
    outputs = parse_outputs(reporting.printed, reporting.output)
    where, _, name = table.rpartition("/")
    papers = load_specs([where], trust_code=trust_code).papers if where else ()
    if len(papers) != 1:
        raise UsageError(f"--table {table}: name one paper and its table, such as imlp/9")
    paper, found = papers[0], find_table(papers[0], name)
    wanted = plan_comparisons(paper, found, find_column(found.value, column, timing.device), rows or (), against)
    check_device(timing.device)
    from imlp_audit.bench.run import bench as run

    with show_progress(shown=reporting.progress, doing="timing") as announce:
        result = run(paper, wanted, timing, announce)
    screen = None if reporting.all_ else run_screen(result, [where], outputs.saved)
    emit_result(result, outputs, screen=screen)
    return exit_code(result)
