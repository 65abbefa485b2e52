"""`imlp-audit inspect`."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from imlp_audit.cli.exits import ExitCode
from imlp_audit.cli.options import NoProgress, Specs
from imlp_audit.cli.output import emit
from imlp_audit.report.files import check_writable, write_whole

if TYPE_CHECKING:
    from imlp_audit.checkpoint.contents import Checkpoint
    from imlp_audit.records.inspection import Inspection


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
    draw: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write pictures of the weights, and DIR/weights.md that shows them."),
    ] = None,
    format_: Annotated[Form, typer.Option("--format", "-f", help="What to print.")] = Form.TEXT,
    no_progress: NoProgress = False,
) -> int:
    """Say what a checkpoint is, and which rows and readings of the papers it fits, from its shapes alone."""
    from imlp_audit.checkpoint.contents import hash_file, parse
    from imlp_audit.cli.progress import show_progress
    from imlp_audit.spec.library import load

    if draw is not None:
        check_writable(draw / "weights.md")
    parsed = parse(checkpoint, state, sums=True)  # what cannot be used is refused before torch is imported
    selection = load(specs or [])
    from imlp_audit.inspect.candidate_words import about, checkpoint_report, fitting
    from imlp_audit.inspect.candidates import candidates
    from imlp_audit.inspect.telling import as_text
    from imlp_audit.records.document import to_json
    from imlp_audit.records.inspection import Inspection

    sha256 = hash_file(checkpoint)
    with show_progress(shown=not no_progress) as announce:
        found = candidates(parsed.shapes, selection, announce)
    weights, pictures = _weights(parsed, draw)
    if format_ is Form.JSON:
        emit(to_json(checkpoint_report(parsed, sha256, found, weights, pictures)))
    else:
        first, *others = about(parsed, sha256)
        emit("\n".join([f"{checkpoint}: {first}", *(f"  {line}" for line in others), *fitting(found)]) + "\n")
        if weights != Inspection():
            emit("\n" + as_text(weights))
    return ExitCode.CLEAN if found.exact else ExitCode.FINDINGS


def _weights(checkpoint: Checkpoint, folder: Path | None) -> tuple[Inspection, dict[str, str]]:
    """Look into the weights, where they have parts that are looked at; return that, and the captions of pictures.

    Pictures are drawn where a folder is given.
    """
    from imlp_audit.checkpoint.loading import read_tensors
    from imlp_audit.inspect.found import find, worth_looking
    from imlp_audit.inspect.telling import as_markdown
    from imlp_audit.inspect.weights import measure
    from imlp_audit.records.inspection import Inspection

    if not worth_looking(checkpoint.shapes):
        if folder is not None:
            sys.stderr.write("imlp-audit: nothing to draw: no AGeLUs, cross-patch matrices or spatial gating units\n")
        return Inspection(), {}
    held = read_tensors(checkpoint)
    parts = find(held)
    inspection = measure(parts, held)
    if folder is None:
        return inspection, {}
    from imlp_audit.inspect.drawings import draw

    drawings = draw(parts, inspection)
    for one in drawings:
        write_whole(folder / one.file, one.content)
    captions = {one.file: one.caption for one in drawings}
    write_whole(folder / "weights.md", "\n".join(as_markdown(inspection, captions)).lstrip() + "\n")
    return inspection, captions
