"""`imlp-audit inspect`."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from imlp_audit.cli.exits import ExitCode
from imlp_audit.cli.options import Formatted, NoProgress, Prefix, Specs, State, TrustCode
from imlp_audit.cli.output import emit_document
from imlp_audit.report.files import check_writable, write_whole
from imlp_audit.report.formats import Format

if TYPE_CHECKING:
    from imlp_audit.checkpoint.contents import Checkpoint
    from imlp_audit.inspect.pictures import Drawing
    from imlp_audit.records.checkpoint import Inspection
    from imlp_audit.report.document import Document
    from imlp_audit.spec.library import Selection


def inspect(
    checkpoint: Annotated[
        Path, typer.Argument(metavar="CHECKPOINT", help="The file with the weights.", show_default=False)
    ],
    specs: Specs = None,
    state: State = None,
    prefix: Prefix = "",
    draw: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write pictures of the weights, and DIR/weights.md, which shows them."),
    ] = None,
    format_: Formatted = Format.RICH,
    trust_code: TrustCode = False,
    no_progress: NoProgress = False,
) -> int:
    """Identify a checkpoint: which rows and readings of the papers its shapes fit, and what its weights show."""
    from imlp_audit.checkpoint.contents import check_kind, hash_sources, parse_states
    from imlp_audit.checkpoint.refusal import escape_name
    from imlp_audit.cli.loading import load_specs
    from imlp_audit.cli.progress import show_progress

    check_kind(checkpoint)
    if draw is not None:
        check_writable(draw / "weights.md" if draw.exists() else draw)
    states = parse_states(checkpoint, state, prefix, sums=True)  # bad files are refused before torch is imported
    selection = load_specs(specs, trust_code=trust_code)
    from imlp_audit.inspect.candidates import choose_candidates, report_checkpoint
    from imlp_audit.inspect.document import checkpoint_document, inspection_document
    from imlp_audit.report.document import Paragraph

    sha256 = hash_sources(states[0].sources)
    with show_progress(shown=not no_progress) as announce:
        number, candidates = choose_candidates([one.shapes for one in states], selection, announce)
    parsed = states[number]
    label = f"{escape_name(checkpoint.name)[-60:]}, SHA-256 {sha256[:16]}"
    weights, drawings = _judge_weights(parsed, selection, label if draw is not None else None, trust_code=trust_code)
    captions = {one.file: one.caption for one in drawings}
    if draw is not None:
        _write_drawings(draw, drawings, (Paragraph(f"Weights of {label}"), *inspection_document(weights, captions)))
    report = report_checkpoint(parsed, sha256, candidates, weights, captions)
    emit_document(checkpoint_document(report, str(checkpoint)), format_, report)
    return ExitCode.CLEAN if candidates.exact else ExitCode.FINDINGS


def _judge_weights(
    checkpoint: Checkpoint, selection: Selection, label: str | None, *, trust_code: bool
) -> tuple[Inspection, tuple[Drawing, ...]]:
    """Return what papers say about learned weights, judged by these, and pictures with a label if one is given."""
    from imlp_audit.checkpoint.loading import read_tensors
    from imlp_audit.inspect.papers import LayerImages, WeightsToJudge, judge_papers, list_folders
    from imlp_audit.inspect.untrained import explain_untrained
    from imlp_audit.records.checkpoint import Inspection, Statement

    tensors = read_tensors(checkpoint)
    untrained = explain_untrained(tensors)
    weights = WeightsToJudge(tensors, partial(read_tensors, checkpoint), untrained)
    found = tuple(judge_papers(list_folders(selection), weights, draw=label is not None, trust_code=trust_code))
    inspection = Inspection(statements=tuple(one for one in found if isinstance(one, Statement)), untrained=untrained)
    if label is None:
        return inspection, ()
    from imlp_audit.inspect.pictures import draw

    images = [one for one in found if isinstance(one, LayerImages)]
    return inspection, tuple(draw(inspection.statements, images, label))


def _write_drawings(folder: Path, drawings: tuple[Drawing, ...], document: Document) -> None:
    """Write pictures, and a page that shows them."""
    from imlp_audit.report.markdown import render_markdown

    if not drawings:
        sys.stderr.write("imlp-audit: nothing to draw: no layers that a paper's sentences are about\n")
        return
    folder.mkdir(exist_ok=True)
    for one in drawings:
        write_whole(folder / one.file, one.content)
    write_whole(folder / "weights.md", render_markdown(document))
