"""Options that several commands share, and options in groups."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, get_type_hints

import typer

from imlp_audit.errors import BuildError
from imlp_audit.processes.limits import cores
from imlp_audit.report.formats import AuditFormat, Format

Device: TypeAlias = Literal["cpu", "cuda"]
"""Where tensors are computed."""

Specs = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="TARGET",
        help="Papers by id, folders, files, paper/table, ids of checks or globs of ids; if left out, all of ./specs "
        "or the bundled papers.",
        show_default=False,
    ),
]
Only = Annotated[list[str] | None, typer.Option(metavar="GLOB", help="Only checks whose id matches; repeatable.")]
Skip = Annotated[list[str] | None, typer.Option(metavar="GLOB", help="Skip checks whose id matches; repeatable.")]
CheckpointFile = Annotated[
    Path, typer.Argument(metavar="CHECKPOINT", help="The file with the weights.", show_default=False)
]
State = Annotated[
    str | None, typer.Option(metavar="NAME", help="Which weights to use if the file holds several, e.g. model_ema.")
]
Prefix = Annotated[
    str,
    typer.Option(
        metavar="TEXT",
        help="Use only the tensors whose names begin with this, e.g. backbone., and remove it.",
        show_default=False,
    ),
]
Reading = Annotated[
    str | None, typer.Option(metavar="NAME", help="Use this declared reading instead of the paper's default.")
]
Formatted = Annotated[Format, typer.Option("--format", "-f", help="What to print.")]
AuditFormatted = Annotated[AuditFormat, typer.Option("--format", "-f", help="What to print.")]
Output = Annotated[
    list[str] | None,
    typer.Option(
        "--output",
        "-o",
        metavar="[FORMAT:]FILE",
        help="Also write a report; its ending says the format if none is named. Repeatable.",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing except why the command failed.")]
TrustCode = Annotated[
    bool, typer.Option("--trust-code", help="Run the Python in the named papers' folders; only if you trust it.")
]
NoProgress = Annotated[bool, typer.Option("--no-progress", help="Show no progress.")]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Measure everything anew, and keep nothing.")]


@dataclass(frozen=True)
class ReportOptions:
    """Where the result of an audit goes."""

    all_: Annotated[bool, typer.Option("--all", help="Print every check, not only the worst findings.")] = False
    format_: AuditFormatted = AuditFormat.RICH
    output: Output = None
    quiet: Quiet = False
    no_progress: NoProgress = False

    @property
    def printed(self) -> AuditFormat | None:
        """The format that is printed, if any."""
        return None if self.quiet else self.format_

    @property
    def progress(self) -> bool:
        """Whether progress is shown."""
        return not (self.quiet or self.no_progress)


def group_options(command: Callable[..., int]) -> Callable[..., int]:
    """Let a command take options in groups: a parameter that is a dataclass stands for an option per field of it.

    Typer reads a command's signature; this gives it one in which the fields stand in place of their group.
    """
    hints = get_type_hints(command, include_extras=True)
    groups = {name: kind for name, kind in hints.items() if isinstance(kind, type) and is_dataclass(kind)}
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        group = groups.get(name)
        known = hints if group is None else get_type_hints(group, include_extras=True)
        options = [parameter] if group is None else inspect.signature(group).parameters.values()
        parameters += [one.replace(kind=one.KEYWORD_ONLY, annotation=known[one.name]) for one in options]

    @wraps(command)
    def run(**given: Any) -> int:  # noqa: ANN401  # typer passes what each option holds
        records = {
            name: kind(**{field.name: given.pop(field.name) for field in fields(kind)}) for name, kind in groups.items()
        }
        return command(**given, **records)

    run.__signature__ = inspect.Signature(parameters, return_annotation=int)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def trusting(trust_code: bool) -> list[str]:
    """Return the option for commands that are advised, as it was given: without it, Python would not run."""
    return ["--trust-code"] if trust_code else []


def helpers() -> int:
    """Return how many processes share the work with this one: none on one core, and no more than pays."""
    return min(cores() - 1, 3)


def check_device(device: Device) -> None:
    """Raise BuildError if this machine lacks the device."""
    if device == "cuda":
        import torch

        if not torch.cuda.is_available():
            raise BuildError("--device cuda: torch finds no CUDA device here; use --device cpu")
