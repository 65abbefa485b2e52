"""`imlp-audit verify`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from imlp_audit.cli.options import (
    Device,
    Formatted,
    NoProgress,
    Only,
    Output,
    Quiet,
    Skip,
    Specs,
    check_device,
    helpers,
)
from imlp_audit.cli.output import emit
from imlp_audit.report.files import write_whole
from imlp_audit.report.formats import Format


class Counter(StrEnum):
    """What counts FLOPs."""

    LEDGER = "ledger"
    FVCORE = "fvcore"


def verify(
    specs: Specs = None,
    only: Only = None,
    skip: Skip = None,
    reading: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Judge by this declared reading first, not the spec's default."),
    ] = None,
    counter: Annotated[
        Counter, typer.Option(help="fvcore: run the real fvcore for the convention of that name (slow).")
    ] = Counter.LEDGER,
    device: Annotated[
        Device, typer.Option(help="Where --counter fvcore runs; the ledger needs no device.")
    ] = Device.CPU,
    format_: Formatted = Format.RICH,
    output: Output = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", min=0, help="Processes that test equations beside the counting; 0 for none."),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit 1 for unverifiable checks too.")] = False,
    quiet: Quiet = False,
    no_progress: NoProgress = False,
) -> int:
    """Give every printed number a verdict."""
    from imlp_audit.audit import Options, audit
    from imlp_audit.cli.exits import exit_code
    from imlp_audit.cli.output import parse_output, render, surface
    from imlp_audit.cli.progress import progress
    from imlp_audit.spec.library import load

    check_device(device)
    outputs = [parse_output(text) for text in output or []]
    selection = load(specs or [])
    options = Options(
        only=tuple(only or ()),
        skip=tuple(skip or ()),
        reading=reading,
        fvcore_device=device.value if counter is Counter.FVCORE else None,
        jobs=helpers() if jobs is None else jobs,
    )
    with progress(shown=not (quiet or no_progress)) as announce:
        result = audit(selection, options, announce)
    for wanted, path in outputs:
        write_whole(path, render(result, wanted))
    if not quiet:
        emit(render(result, format_, surface()))
    return exit_code(result, strict=strict)
