"""`imlp-audit inspect`."""

from __future__ import annotations

import sys
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
    from imlp_audit.records.inspection import Inspection
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
    from imlp_audit.cli.loading import load_specs
    from imlp_audit.cli.progress import show_progress

    check_kind(checkpoint)
    if draw is not None:
        check_writable(draw / "weights.md" if draw.exists() else draw)
    states = parse_states(checkpoint, state, prefix, sums=True)  # bad files are refused before torch is imported
    selection = load_specs(specs, trust_code=trust_code)
    from imlp_audit.inspect.candidates import choose_candidates, report_checkpoint
    from imlp_audit.inspect.document import checkpoint_document

    sha256 = hash_sources(states[0].sources)
    with show_progress(shown=not no_progress) as announce:
        number, candidates = choose_candidates([one.shapes for one in states], selection, announce)
    parsed = states[number]
    weights, pictures = _inspect_weights(parsed, sha256, selection, draw, trust_code=trust_code)
    report = report_checkpoint(parsed, sha256, candidates, weights, pictures)
    emit_document(checkpoint_document(report, str(checkpoint)), format_, report)
    return ExitCode.CLEAN if candidates.exact else ExitCode.FINDINGS


def _inspect_weights(
    checkpoint: Checkpoint, sha256: str, selection: Selection, folder: Path | None, *, trust_code: bool
) -> tuple[Inspection, dict[str, str]]:
    """Return what the weights show, and the captions of the pictures that are drawn if a folder is given."""
    from imlp_audit.checkpoint.loading import read_tensors
    from imlp_audit.checkpoint.refusal import escape_name
    from imlp_audit.inspect.document import inspection_document
    from imlp_audit.inspect.noise import Noise
    from imlp_audit.inspect.papers import judge_papers, list_folders
    from imlp_audit.inspect.parts import find_parts, has_parts
    from imlp_audit.inspect.untrained import explain_untrained
    from imlp_audit.inspect.weights import draw, measure_parts
    from imlp_audit.records.inspection import Inspection
    from imlp_audit.report.document import Paragraph
    from imlp_audit.report.markdown import render_markdown

    state = read_tensors(checkpoint)
    untrained = explain_untrained(state)
    if not has_parts(checkpoint.shapes):
        if folder is not None:
            sys.stderr.write("imlp-audit: nothing to draw: no AGeLUs, cross-patch matrices or spatial gating units\n")
        return Inspection(untrained=untrained), {}
    parts = find_parts(state)
    measured = measure_parts(parts, state).model_copy(update={"untrained": untrained})
    noise = Noise(parts, state, measured)
    statements = tuple(judge_papers(list_folders(selection), measured, noise, trust_code=trust_code))
    inspection = measured.model_copy(update={"statements": statements})
    if folder is None:
        return inspection, {}
    label = f"{escape_name(checkpoint.path.name)[-60:]}, SHA-256 {sha256[:16]}"
    drawings = draw(parts, inspection, label)
    folder.mkdir(exist_ok=True)
    for one in drawings:
        write_whole(folder / one.file, one.content)
    captions = {one.file: one.caption for one in drawings}
    document = (Paragraph(f"Weights of {label}"), *inspection_document(inspection, captions))
    write_whole(folder / "weights.md", render_markdown(document))
    return inspection, captions
