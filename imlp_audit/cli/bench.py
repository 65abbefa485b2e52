"""`imlp-audit bench`."""

from __future__ import annotations

from typing import Annotated

import typer

from imlp_audit.bench.setup import FEWEST_PAIRS, ModelDtype, Setup
from imlp_audit.cli.options import Device, Formatted, NoProgress, Output, Quiet, check_device
from imlp_audit.cli.stream import emit
from imlp_audit.errors import UsageError
from imlp_audit.report.files import write_whole
from imlp_audit.report.formats import Format


def bench(
    table: Annotated[
        str,
        typer.Option(
            "--table", metavar="PAPER/TABLE", help="The table: imlp/9, of a file mine.yaml/1.", show_default=False
        ),
    ],
    rows: Annotated[
        list[str] | None, typer.Option("--rows", metavar="GLOB", help="Only rows whose id matches; repeatable.")
    ] = None,
    column: Annotated[
        str | None,
        typer.Option("--column", metavar="NAME", help="The column of throughput, where there are several: cpu, gpu."),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option("--against", metavar="ROW", help="Time each row against this one, not against its own baseline."),
    ] = None,
    batch_size: Annotated[
        list[int] | None,
        typer.Option(
            "--batch-size", metavar="N", min=1, help="Images a pass; repeatable, the first is judged by. [default: 32]"
        ),
    ] = None,
    pairs: Annotated[
        int,
        typer.Option(
            "--pairs", metavar="N", min=FEWEST_PAIRS, help="How often both models are timed, in alternating order."
        ),
    ] = 10,
    device: Annotated[Device, typer.Option(help="Where the models run.")] = Device.CPU,
    threads: Annotated[
        int | None,
        typer.Option("--threads", metavar="N", min=1, help="Threads that torch computes with; its own choice if none."),
    ] = None,
    dtype: Annotated[ModelDtype, typer.Option(help="The type of weights and images.")] = ModelDtype.FLOAT32,
    channels_last: Annotated[
        bool, typer.Option("--channels-last", help="Lay images out with the channels last.")
    ] = False,
    compile_: Annotated[bool, typer.Option("--compile", help="Compile the models with torch.compile.")] = False,
    reading: Annotated[
        str | None,
        typer.Option("--reading", metavar="NAME", help="Build by this declared reading, not the paper's default one."),
    ] = None,
    same_hardware: Annotated[
        bool,
        typer.Option(
            "--same-hardware", help="State that hardware, software and settings are the paper's: cells get a verdict."
        ),
    ] = False,
    format_: Formatted = Format.RICH,
    output: Output = None,
    quiet: Quiet = False,
    no_progress: NoProgress = False,
) -> int:
    """Time a table's models against their baselines."""
    from imlp_audit.bench.planning import find_column, find_table, plan_comparisons
    from imlp_audit.cli.exits import exit_code
    from imlp_audit.cli.output import parse_output, render, surface
    from imlp_audit.cli.progress import progress
    from imlp_audit.spec.library import load

    outputs = [parse_output(text) for text in output or []]
    where, _, name = table.rpartition("/")
    papers = load([where]).papers if where else ()
    if len(papers) != 1:
        raise UsageError(f"--table {table}: name one paper and its table, such as imlp/9")
    paper, found = papers[0], find_table(papers[0], name)
    wanted = plan_comparisons(paper, found, find_column(found.value, column, device.value), rows or (), against)
    check_device(device)
    setup = Setup(
        batches=tuple(batch_size or [32]),
        pairs=pairs,
        device=device.value,
        threads=threads,
        dtype=dtype,
        channels_last=channels_last,
        compiled=compile_,
        reading=reading,
        same_hardware=same_hardware,
    )
    from imlp_audit.bench.running import bench as run
    from imlp_audit.bench.text import operations

    with progress(shown=not (quiet or no_progress), doing="timing") as announce:
        result = run(paper, wanted, setup, announce)
    for form, path in outputs:
        write_whole(path, render(result, form))
    if not quiet:
        emit(render(result, format_, surface()) + (operations(result) if format_ is Format.RICH else ""))
    return exit_code(result, strict=False)
