"""Options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from imlp_audit.errors import BuildError
from imlp_audit.report.formats import Format
from imlp_audit.workers import cores


class Device(StrEnum):
    """Where tensors are computed."""

    CPU = "cpu"
    CUDA = "cuda"


Specs = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="SPEC",
        help="Paper ids, folders or files; all of ./specs, or the bundled papers, if none.",
        show_default=False,
    ),
]
Only = Annotated[
    list[str] | None, typer.Option("--only", metavar="GLOB", help="Only checks whose id matches; repeatable.")
]
Skip = Annotated[
    list[str] | None, typer.Option("--skip", metavar="GLOB", help="No checks whose id matches; repeatable.")
]
Formatted = Annotated[Format, typer.Option("--format", "-f", help="What to print.")]
Output = Annotated[
    list[str] | None,
    typer.Option("--output", "-o", metavar="FORMAT:FILE", help="Also write a report; repeatable."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors; the exit code tells.")]
TrustCode = Annotated[
    bool, typer.Option("--trust-code", help="Run the Python in the folders of the papers named, as you would your own.")
]
NoProgress = Annotated[bool, typer.Option("--no-progress", help="Show no progress.")]


def helpers() -> int:
    """Return how many processes test claims while this one counts: none on one core, and no more than pays."""
    return min(cores() - 1, 3)


def check_device(device: Device) -> None:
    """Raise BuildError where a device is asked for that this machine lacks."""
    if device is Device.CUDA:
        import torch

        if not torch.cuda.is_available():
            raise BuildError("--device cuda: torch finds no CUDA device here; use --device cpu")
