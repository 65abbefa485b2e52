"""`imlp-audit init`."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from imlp_audit.cli.options import Formatted
from imlp_audit.cli.output import ExitCode, emit, emit_document
from imlp_audit.errors import UsageError
from imlp_audit.models.names.known import Library
from imlp_audit.report.formats import Format

if TYPE_CHECKING:
    from imlp_audit.records.listing import Transcription
    from imlp_audit.transcribe.draft import Draft
    from imlp_audit.transcribe.grid import SourceDocument, SourceTable


def init(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="SOURCE",
            help="Tables in LaTeX, CSV, TSV, markdown, HTML, a PDF or a model index.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="The spec to write; PAPER.yaml if left out."),
    ] = None,
    table: Annotated[
        list[str] | None,
        typer.Option("--table", metavar="N", help="Only this table: its number, label, or words of its caption."),
    ] = None,
    paper: Annotated[
        str | None, typer.Option("--paper", metavar="ID", help="The paper's slug; SOURCE's name if left out.")
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option("--model", metavar="LABEL=timm:NAME", help="The model of a row, by its label or its id."),
    ] = None,
    print_: Annotated[bool, typer.Option("--print", help="Print the spec instead of writing it.")] = False,
    format_: Formatted = Format.RICH,
) -> int:
    """Write the tables of a document as a spec, with the models that each row may be of."""
    from imlp_audit.cli.loading import check_spec
    from imlp_audit.report.listings import transcription_document
    from imlp_audit.transcribe.draft import choose_tables, draft_table
    from imlp_audit.transcribe.write import DraftPaper, write_spec

    name, models = _paper_id(paper, source), dict(map(_given_model, model or ()))
    target = output or Path(f"{name}.yaml")
    document = _read(source)
    tables = choose_tables(document, table or (), str(source))
    drafts = [draft_table(one, document.title or "", models) for one in tables]
    drafts, left_out = _usable(drafts, str(source), chosen=bool(table))
    _check_models(models, drafts)
    if not print_:
        _check_target(name, [one.table for one in drafts], target)
    missing = f"not given in {source.name}"
    about = DraftPaper(
        name,
        document.title or name,
        document.authors or missing,
        missing,
        _free_ids(name, [one.table for one in drafts], source, target),
        described=_described_in(name, target) is not None,
    )
    text = write_spec(drafts, about, (*left_out, *document.notes))
    check_spec(text, target.name if target.suffix in (".yaml", ".yml") else "spec.yaml")
    done = _report(drafts, left_out, name, target)
    if print_:
        _print(text, done)
    else:
        _write_target(target, text)
        emit_document(transcription_document(done), format_, done)
    return ExitCode.CLEAN


def _usable(drafts: Sequence[Draft], source: str, *, chosen: bool) -> tuple[list[Draft], list[str]]:
    """Return the drafts that a spec can hold, and a line on each other table; tables of scores alone must be chosen.

    Raises UsageError where there is none.
    """
    kept = [one for one in drafts if one.counted] or [
        one for one in drafts if one.rows and (chosen or len(drafts) == 1)
    ]
    left_out = [
        f"{source}, {one.table.place}: table {one.table.number} has {one.why_not_counted}"
        for one in drafts
        if one not in kept
    ]
    if not kept:
        more = "; choose one with --table to write what else it has" if any(one.rows for one in drafts) else ""
        raise UsageError(
            f"{left_out[0]}{more}"
            if len(left_out) == 1
            else "\n  ".join([f"{source} has no table to count{more}:", *left_out])
        )
    return kept, left_out


def _given_model(text: str) -> tuple[str, str]:
    """Return the label or id of --model, and the recipe. Raises UsageError for what is not one, or an unknown name."""
    from imlp_audit.models.names.known import known_models
    from imlp_audit.models.names.match import suggest

    found = re.fullmatch(r"(?P<label>.+)=(?P<library>timm|torchvision):(?P<name>\w+(?:\.\w+)?)", text.strip())
    if found is None:
        raise UsageError(f"--model: {text!r} is not LABEL=timm:NAME or LABEL=torchvision:NAME")
    library = Library(found["library"])
    if found["name"].partition(".")[0] not in known_models(library):
        hint = suggest(found["name"], library) or f"see the models of {library}"
        raise UsageError(f"--model: {library} has no model {found['name']!r}; {hint}")
    return found["label"].strip(), f"{library}: {found['name']}"


def _check_models(models: Mapping[str, str], drafts: Sequence[Draft]) -> None:
    """Raise UsageError for a model that is given to no row."""
    rows = {text for draft in drafts for row in draft.rows for text in (row.id, row.label.text, row.label.name)}
    unknown = next((label for label in models if label not in rows), None)
    if unknown is not None:
        raise UsageError(f"--model: no row has the label or the id {unknown!r}")


def _read(source: Path) -> SourceDocument:
    """Return the tables of a source; what was not read of it is said on standard error."""
    from imlp_audit.report.document import make_visible
    from imlp_audit.transcribe.sources import read_source

    document = read_source(source)
    sys.stderr.write("".join(f"note: {make_visible(note)}\n" for note in document.notes))
    return document


def _print(text: str, done: Transcription) -> None:
    """Print a spec, and on standard error what was made of the tables and left out."""
    from imlp_audit.report.document import make_visible

    emit(text)
    sys.stderr.write("".join(f"{make_visible(line)}\n" for line in (*done.made, *done.left_out)))


def _paper_id(given: str | None, source: Path) -> str:
    """Return the paper's slug: as given, or of the source's name. Raises UsageError for one that is no slug."""
    from imlp_audit.spec.fields import FORMS, SLUG

    if given is not None and re.fullmatch(SLUG, given) is None:
        raise UsageError(f"--paper: {given!r} is not {FORMS[SLUG]}")
    stem = source.name.partition(".")[0] if not source.name[:4].isdigit() else source.name.removesuffix(".tar.gz")
    return given or re.sub(r"[^a-z0-9]+", "_", stem.lower()).strip("_") or "paper"


def _report(drafts: Sequence[Draft], left_out: Sequence[str], name: str, target: Path) -> Transcription:
    from imlp_audit.numbers.words import count_of
    from imlp_audit.records.listing import Transcription
    from imlp_audit.transcribe.write import summarize

    file, beside = str(target), _described_in(name, target)
    joined = (
        [f"part of {name}, which {beside} describes; for another paper, give --paper"] if beside is not None else []
    )
    rows = [row for draft in drafts for row in draft.rows]
    lost = sum(len(row.numbers.left_out) for row in rows)
    lost_parts = (
        [f"{count_of(lost, 'printed part')} that a spec cannot hold; each is a comment at its row"] if lost else []
    )
    return Transcription(
        file=file,
        paper=name,
        table=", ".join(draft.table.number for draft in drafts),
        caption=drafts[0].table.caption if len(drafts) == 1 else "",
        rows=len(rows),
        numbers=sum(len(row.numbers.printed) + len(row.numbers.changes) for row in rows),
        models=sum(row.model is not None or bool(row.proposal.recipes) for row in rows),
        made=(*map(summarize, drafts), *joined),
        left_out=(*left_out, *lost_parts),
        next=tuple(shlex.join(["imlp-audit", command, file]) for command in ("lint", "verify")),
    )


def _check_target(name: str, tables: Sequence[SourceTable], target: Path) -> None:
    """Raise UsageError where a spec cannot be written, where something is there, or a same table is beside it."""
    from imlp_audit.spec.targets import declares, tables_in

    _check_new(target)
    own = {(f"Table {table.number}", table.file): table for table in tables}
    for file in _spec_files_beside(target):
        same = own.keys() & set(tables_in(file).values()) if declares(file).paper == name else set()
        if same:
            number, source = min(same)
            raise UsageError(
                f"{file} has {number} of {source} already, and {target} would be of the same paper {name!r}: "
                f"delete {file} to write the table anew, or give --paper for another paper"
            )


def _check_new(target: Path) -> None:
    """Raise UsageError where a spec cannot be written, or something is there already."""
    from imlp_audit.report.files import check_writable

    if target.suffix not in (".yaml", ".yml"):
        raise UsageError(f"{target}: the name of a spec ends in .yaml")
    check_writable(target)
    if target.exists() or target.is_symlink():
        raise UsageError(f"{target} is there already and is not overwritten; delete it, or give another file with -o")


def _write_target(target: Path, text: str) -> None:
    from imlp_audit.report.files import write_whole

    _check_new(target)
    write_whole(target, text)


def _spec_files_beside(target: Path) -> tuple[Path, ...]:
    from imlp_audit.spec.targets import spec_files

    files = spec_files(target.parent) if target.parent.is_dir() else ()
    return tuple(file for file in files if file.name != target.name)


def _described_in(name: str, target: Path) -> Path | None:
    """Return the file beside the new spec that describes the same paper, if there is one."""
    from imlp_audit.spec.targets import declares

    return next(
        (file for file in _spec_files_beside(target) if (found := declares(file)).paper == name and found.about), None
    )


def _free_ids(name: str, tables: Sequence[SourceTable], source: Path, target: Path) -> tuple[str, ...]:
    """Return what to call tables: their numbers, or the file's name where another table of the paper has the number.

    Each page of a model zoo has a Table 1: its second page is called as its file.
    """
    from imlp_audit.spec.targets import declares, tables_in
    from imlp_audit.transcribe.write import table_id

    taken = {one for file in _spec_files_beside(target) if declares(file).paper == name for one in tables_in(file)}
    stem = re.sub(r"[^a-z0-9]+", "_", source.name.partition(".")[0].lower()).strip("_") or "table"
    ids: list[str] = []
    for table in tables:
        candidates = chain([table_id(table), stem], (f"{stem}_{n}" for n in count(2)))
        ids.append(next(one for one in candidates if one and one not in taken and one not in ids))
    return tuple(ids)
