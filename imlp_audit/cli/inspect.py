"""`imlp-audit inspect`."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from imlp_audit.cli.exits import ExitCode
from imlp_audit.cli.options import NoProgress, Specs
from imlp_audit.cli.stream import emit


class Form(StrEnum):
    """How the answer is written."""

    TEXT = "text"
    JSON = "json"


def inspect(
    checkpoint: Annotated[Path, typer.Argument(metavar="CHECKPOINT", help="A file of weights.", show_default=False)],
    specs: Specs = None,
    state: Annotated[
        str | None, typer.Option(metavar="NAME", help="Which state of several in the file, such as model_ema.")
    ] = None,
    format_: Annotated[Form, typer.Option("--format", "-f", help="What to print.")] = Form.TEXT,
    no_progress: NoProgress = False,
) -> int:
    """Say what a checkpoint is, and which rows and readings of the papers it fits, from its shapes alone."""
    from imlp_audit.checkpoint.shapes import examine
    from imlp_audit.cli.progress import progress
    from imlp_audit.spec.library import load

    contents = examine(checkpoint, state, sums=True)  # what cannot be used is refused before torch is imported
    selection = load(specs or [])
    from imlp_audit.checkpoint.reading import digest
    from imlp_audit.inspecting.candidate_words import about, as_json, fitting
    from imlp_audit.inspecting.candidates import candidates

    sha256 = digest(checkpoint)
    with progress(shown=not no_progress) as announce:
        found = candidates(contents.shapes, selection, announce)
    if format_ is Form.JSON:
        emit(json.dumps(as_json(contents, sha256, found), indent=2, sort_keys=True) + "\n")
    else:
        first, *others = about(contents, sha256)
        emit("\n".join([f"{checkpoint}: {first}", *(f"  {line}" for line in others), *fitting(found)]) + "\n")
    return ExitCode.CLEAN if found.exact else ExitCode.FINDINGS
