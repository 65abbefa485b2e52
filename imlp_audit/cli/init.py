"""`imlp-audit init`."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from imlp_audit.cli.exits import ExitCode
from imlp_audit.cli.init_target import check_target, check_unchanged, described_in, free_id, write_target
from imlp_audit.cli.options import Formatted
from imlp_audit.cli.output import emit, emit_document
from imlp_audit.errors import UsageError
from imlp_audit.models.names.known import Library
from imlp_audit.report.formats import Format

if TYPE_CHECKING:
    from imlp_audit.records.listing import Transcription
    from imlp_audit.transcribe.draft import Draft
    from imlp_audit.transcribe.grid import SourceDocument, SourceTable
    from imlp_audit.transcribe.image_sizes import Given
    from imlp_audit.transcribe.write import DraftPaper


def init(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="SOURCE",
            help="A table in LaTeX, CSV, TSV, markdown, HTML, a PDF or a model index.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="The spec to write; PAPER.yaml if left out."),
    ] = None,
    table: Annotated[
        str | None, typer.Option("--table", metavar="N", help="The table's number, label, or words of its caption.")
    ] = None,
    paper: Annotated[
        str | None, typer.Option("--paper", metavar="ID", help="The paper's slug; SOURCE's name if left out.")
    ] = None,
    library: Annotated[
        Library | None,
        typer.Option("--library", metavar="LIBRARY", help="Where several have a model: timm or torchvision."),
    ] = None,
    image: Annotated[
        str | None,
        typer.Option("--image", metavar="SIZE", help="Where no size of images is printed: 224, ..., or own."),
    ] = None,
    classes: Annotated[
        int | None,
        typer.Option("--classes", metavar="N", min=2, help="The classes of all models, if not ImageNet's 1000."),
    ] = None,
    print_: Annotated[bool, typer.Option("--print", help="Print the spec instead of writing it.")] = False,
    format_: Formatted = Format.RICH,
) -> int:
    """Write a printed table as a spec, with what was guessed in comments."""
    from imlp_audit.report.listings import transcription_document
    from imlp_audit.transcribe.draft import choose_table, draft_table
    from imlp_audit.transcribe.write import write_spec

    name, given = _paper_id(paper, source), _given_size(image)
    target = output or Path(f"{name}.yaml")
    document = _read(source)
    chosen = choose_table(document, table, str(source))
    again = (given, classes) != (None, None) and not print_ and target.is_file() and not target.is_symlink()
    if not print_:
        check_target(name, chosen, target, again=again)
    others = [one for one in document.tables if one is not chosen]
    draft = draft_table(chosen, others, library, given, classes)
    if not draft.rows:
        raise UsageError(_nothing(draft, source))
    about = _describe(name, document, chosen, source, target)
    text = write_spec(draft, about)
    _check(text, target)
    if given is not None and write_spec(draft_table(chosen, others, library, None, classes), about) == text:
        sys.stderr.write(f"note: --image {image} changed nothing: no row of the table lacks a size of images\n")
    if again:
        before = {(None, None), (given, None) if classes else (None, None), (None, classes) if given else (None, None)}
        check_unchanged(target, {write_spec(draft_table(chosen, others, library, *one), about) for one in before})
    done = _report(draft, about, target)
    if print_:
        _print(text, done)
    else:
        write_target(target, text, again=again)
        emit_document(transcription_document(done), format_, done)
    return ExitCode.CLEAN


def _read(source: Path) -> SourceDocument:
    """Return the tables of a source; what was not read of it is said on standard error."""
    from imlp_audit.report.document import make_visible
    from imlp_audit.transcribe.sources import read_source

    document = read_source(source)
    sys.stderr.write("".join(f"note: {make_visible(note)}\n" for note in document.notes))
    return document


def _print(text: str, done: Transcription) -> None:
    """Print a spec, and on standard error what was guessed and is to be decided."""
    from imlp_audit.report.document import make_visible

    emit(text)
    sys.stderr.write("".join(f"{make_visible(line)}\n" for line in (*done.made, *done.decide)))


def _paper_id(given: str | None, source: Path) -> str:
    """Return the paper's slug: as given, or of the source's name. Raises UsageError for one that is no slug."""
    from imlp_audit.spec.fields import FORMS, SLUG

    if given is not None and re.fullmatch(SLUG, given) is None:
        raise UsageError(f"--paper: {given!r} is not {FORMS[SLUG]}")
    stem = source.name.partition(".")[0] if not source.name[:4].isdigit() else source.name.removesuffix(".tar.gz")
    return given or re.sub(r"[^a-z0-9]+", "_", stem.lower()).strip("_") or "paper"


def _given_size(text: str | None) -> Given:
    """Return what --image says. Raises UsageError for what is neither a size nor `own`."""
    from imlp_audit.transcribe.image_sizes import OwnSize

    if text is None or text == OwnSize.OWN.value:
        return None if text is None else OwnSize.OWN
    if re.fullmatch(r"[1-9]\d{1,3}", text, re.ASCII) is None:
        raise UsageError(f"--image: {text!r} is neither the side of images in pixels, such as 224, nor 'own'")
    return int(text)


def _describe(name: str, document: SourceDocument, table: SourceTable, source: Path, target: Path) -> DraftPaper:
    from imlp_audit.transcribe.write import DraftPaper

    missing = f"not given in {source.name}"
    return DraftPaper(
        name,
        document.title or name,
        document.authors or missing,
        missing,
        described=described_in(name, target) is not None,
        table=free_id(name, table, source, target),
    )


def _check(text: str, target: Path) -> None:
    """Raise SpecError for a text that is no spec: a bug of ours, which must not reach a file."""
    from imlp_audit.cli.write_spec import check_spec

    check_spec(text, target.name if target.suffix in (".yaml", ".yml") else "spec.yaml")


def _nothing(draft: Draft, source: Path) -> str:
    """Say what was understood of a table without a number that a spec can hold."""
    from imlp_audit.numbers.words import count_of, list_some

    table = draft.table
    headings = list_some([heading or "(no heading)" for heading in table.headings], 12) or "none"
    found = f"{count_of(len(table.rows), 'row')} with the headings {headings}"
    doubts = [doubt for guess in draft.columns.guesses for doubt in guess.doubts]
    skipped = [f"left out {one}" for one in draft.skipped[:3]]
    notes = "".join(f"; {note}" for note in (*doubts, *skipped, *table.notes))
    return (
        f"{source}, {table.place}: table {table.number} has no number that a spec can hold. Read: {found}{notes}. "
        "Give parameters, FLOPs or scores a heading that says so, or choose another with --table"
    )


def _report(draft: Draft, paper: DraftPaper, target: Path) -> Transcription:
    from imlp_audit.records.listing import Transcription
    from imlp_audit.transcribe.write import decisions_of, summary_of

    file, beside = str(target), described_in(paper.id, target)
    called = f", called {paper.table!r} as its number is taken" if paper.table else ""
    other = "for another paper, give --paper"
    joined = [f"one more table of {paper.id}{called}, which {beside} describes; {other}"] if beside is not None else []
    return Transcription(
        file=file,
        paper=paper.id,
        table=draft.table.number,
        caption=draft.table.caption,
        rows=len(draft.rows),
        numbers=sum(len(row.numbers.printed) + len(row.numbers.changes) for row in draft.rows),
        models=sum(row.model.recipe is not None for row in draft.rows),
        made=(*summary_of(draft), *joined),
        decide=tuple(decisions_of(draft)),
        next=tuple(shlex.join(["imlp-audit", command, file]) for command in ("lint", "verify")),
    )
