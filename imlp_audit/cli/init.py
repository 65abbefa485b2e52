"""`imlp-audit init`, which begins a spec, and `imlp-audit demo`, which shows a paper with three errors mended."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from imlp_audit.cli.loading import check_spec
from imlp_audit.cli.options import NoProgress
from imlp_audit.cli.output import ExitCode, emit, emit_document
from imlp_audit.cli.progress import show_progress
from imlp_audit.errors import OutputError, UsageError
from imlp_audit.numbers.words import count_of
from imlp_audit.pipeline import Options, audit, list_versions
from imlp_audit.records.check import Verdict
from imlp_audit.report.atomic_files import check_writable, write_whole
from imlp_audit.report.document import Code, Document, Heading, List, Paragraph, make_visible, parse_code
from imlp_audit.report.first_screen import overview
from imlp_audit.spec.fields import FORMS, SLUG
from imlp_audit.spec.load import load
from imlp_audit.spec.targets import declares, spec_files
from imlp_audit.transcribe.draft import Draft, choose_tables, draft_table
from imlp_audit.transcribe.sources import read_source
from imlp_audit.transcribe.write import DraftPaper, summarize, write_spec


def init(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="SOURCE", help="Tables in LaTeX, CSV, TSV, markdown, HTML or a PDF.", show_default=False
        ),
    ],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="The spec to write; PAPER.yaml if left out.")
    ] = None,
    table: Annotated[
        list[str] | None, typer.Option(metavar="N", help="Only this table: its number, label, or words of its caption.")
    ] = None,
    paper: Annotated[
        str | None, typer.Option(metavar="ID", help="The paper's slug; SOURCE's name if left out.")
    ] = None,
    print_: Annotated[bool, typer.Option("--print", help="Print the spec instead of writing it.")] = False,
) -> int:
    """Write the tables of a document as a spec, with the models that each row may be of."""
    name = _paper_id(paper, source)
    target = output or Path(f"{name}.yaml")
    document = read_source(source)
    sys.stderr.write("".join(f"note: {make_visible(note)}\n" for note in document.notes))
    tables = choose_tables(document, table or (), str(source))
    drafts = [draft_table(one, document.title or "") for one in tables]
    drafts, left_out = _usable(drafts, str(source), chosen=bool(table))
    if not print_:
        _check_target(name, target)
    missing = f"not given in {source.name}"
    about = DraftPaper(name, document.title or name, missing, missing)
    text = write_spec(drafts, about, (*left_out, *document.notes))
    check_spec(text, "spec.yaml")
    if print_:
        emit(text)
        return ExitCode.CLEAN
    write_whole(target, text)
    emit_document(_describe(drafts, left_out, target))
    return ExitCode.CLEAN


def _usable(drafts: Sequence[Draft], source: str, *, chosen: bool) -> tuple[list[Draft], list[str]]:
    """Return the drafts that a spec can hold, of scores alone if chosen, and why not others. Raises UsageError."""
    alone = chosen or len(drafts) == 1
    kept = [one for one in drafts if one.counted] or [one for one in drafts if one.rows and alone]
    others = [one for one in drafts if one not in kept]
    left_out = [f"{source}, {one.table.place}: table {one.table.number} has {one.why_not_counted}" for one in others]
    if not kept:
        more = "; choose one with --table to write what else it has" if any(one.rows for one in drafts) else ""
        raise UsageError("\n  ".join([f"{source} has no table to count{more}:", *left_out]))
    return kept, left_out


def _paper_id(given: str | None, source: Path) -> str:
    """Return the paper's slug: as given, or of the source's name. Raises UsageError for one that is no slug."""
    if given is not None and re.fullmatch(SLUG, given) is None:
        raise UsageError(f"--paper: {given!r} is not {FORMS[SLUG]}")
    stem = source.name.partition(".")[0] if not source.name[:4].isdigit() else source.name.removesuffix(".tar.gz")
    return given or re.sub(r"[^a-z0-9]+", "_", stem.lower()).strip("_") or "paper"


def _describe(drafts: Sequence[Draft], left_out: Sequence[str], target: Path) -> Document:
    """Return what was made of the tables, what was left out, and the next commands."""
    lost = sum(len(row.numbers.left_out) for draft in drafts for row in draft.rows)
    parts = f"{count_of(lost, 'printed part')} that a spec cannot hold; each is a comment at its row"
    left = (*left_out, *([parts] if lost else []))
    numbers = ", ".join(draft.table.number for draft in drafts)
    caption = f": {drafts[0].table.caption}" if len(drafts) == 1 and drafts[0].table.caption else ""
    commands = (shlex.join(["imlp-audit", command, str(target)]) for command in ("lint", "verify"))
    return (
        Paragraph(f"Wrote {target}: table {numbers}{caption}"),
        List(tuple(map(summarize, drafts))),
        *((Paragraph("Left out, with a comment in the file:"), List(left)) if left else ()),
        Heading("Try next", 3),
        Code("\n".join(commands), "sh"),
    )


def _check_target(name: str, target: Path) -> None:
    """Raise UsageError where a spec cannot be written, where something is there, or a file beside it has the paper."""
    if target.suffix not in (".yaml", ".yml"):
        raise UsageError(f"{target}: the name of a spec ends in .yaml")
    check_writable(target)
    if target.exists() or target.is_symlink():
        raise UsageError(f"{target} is there already and is not overwritten; delete it, or give another file with -o")
    same = next((file for file in spec_files(target.parent) if declares(file).paper == name), None)
    if same is not None:
        raise UsageError(
            f"{same} is of the paper {name!r} already: delete it to write the paper anew, or give --paper for another"
        )


_PAPER = Path(__file__).parent / "demo_paper"
_FILES = ("paper.tex", "paper.yaml", "claims/sec2.py")
_WHAT = "`paper.tex` is the paper, `paper.yaml` has its numbers and `claims/sec2.py` its equation. The audit says:"
_ERRORS = (
    "Two digits of a parameter count changed places: in `paper.yaml` change `22.50` to `22.05`.",
    "A change does not follow from its two cells. The speeds need the authors' hardware, but the change between them "
    "is arithmetic: change `-69.2%` to `-62.9%`.",
    "An equation loses the sign of x: in `claims/sec2.py` change `+ ReLU(-x)` to `- ReLU(-x)`, and `+ relu(` to "
    "`- relu(`.",
)
_OWN = (
    "Copy `paper.yaml` to `mypaper.yaml` in another folder, change `paper: demo`, put your table in place of this "
    "one, and name a model for each row. `lint` finds mistakes in the file, `verify` those in the paper, "
    "and `report` writes a page about it."
)
_OWN_COMMANDS = ("lint mypaper.yaml", "verify mypaper.yaml", "report mypaper.yaml --dir report")


def demo(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A new or empty folder; if left out, this one.", show_default=False)
    ] = Path(),
    no_progress: NoProgress = False,
) -> int:
    """Write a paper of one page with three errors, audit it, and show how each is caught and mended."""
    list_versions()  # where one is missing, nothing is written
    write_paper(folder)
    with show_progress(shown=not no_progress) as announce:
        result = audit(load([str(folder)], trust_code=True), Options(jobs=1, trust_code=True), announce)
    emit_document((
        Heading("A paper of one page, with three errors in it", 1),
        Paragraph(parse_code(_WHAT)),
        *overview(result),
        Heading("Mend them, and run the audit again", 3),
        List(tuple(map(parse_code, _ERRORS))),
        Code(shlex.join(["imlp-audit", "verify", str(folder), "--trust-code"]), "sh"),  # the equation is Python
        Heading("Your own paper", 3),
        Paragraph(parse_code(_OWN)),
        Code("\n".join(f"imlp-audit {command}" for command in _OWN_COMMANDS), "sh"),
    ))  # fmt: skip
    return ExitCode.INCOMPLETE if result.counts()[Verdict.ERROR] else ExitCode.CLEAN


def write_paper(folder: Path) -> None:
    """Write the paper into an empty or new folder. Raises UsageError for any other, OutputError where it cannot."""
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise UsageError(f"{folder} is not an empty folder; name a new one")
        for name in _FILES:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes((_PAPER / name).read_bytes())
    except OSError as error:
        raise OutputError(f"{folder}: the demo could not be written: {error.strerror or error}") from error
