"""Where results go: standard output, and the files that -o names."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from imlp_audit.errors import ClosedPipeError, OutputError, UsageError
from imlp_audit.report.document import Document
from imlp_audit.report.files import check_writable, write_whole
from imlp_audit.report.formats import ENDINGS, Format, Surface, render_document

if TYPE_CHECKING:
    from imlp_audit.records.result import AuditResult

Outputs: TypeAlias = Sequence[tuple[Format, Path]]
_WIDTH = 120  # of what is not a terminal, unless COLUMNS says otherwise


def parse_outputs(texts: Sequence[str] | None) -> Outputs:
    """Read each FORMAT:FILE or FILE.

    Raises UsageError for an unknown format, a file that can't be written, and a file that is named twice.
    """
    outputs = [_parse_output(text) for text in texts or ()]
    files: set[Path] = set()
    for _, path in outputs:
        if path.resolve() in files:
            raise UsageError(f"-o {path}: this file is named twice, and one result would replace the other")
        files.add(path.resolve())
    return outputs


def _parse_output(text: str) -> tuple[Format, Path]:
    """Read FORMAT:FILE, or a file whose ending says the format."""
    name, colon, file = text.partition(":")
    known = [form.value for form in Format]
    if colon and name in known and file:
        form, path = Format(name), Path(file)
    elif Path(text).suffix.lower() in ENDINGS and not _is_word(name, colon):
        form, path = ENDINGS[Path(text).suffix.lower()], Path(text)
    else:
        endings = ", ".join(ENDINGS)
        raise UsageError(
            f"-o {text}: write FORMAT:FILE with one of the formats {', '.join(known)}, or a FILE that ends in {endings}"
        )
    check_writable(path)
    return form, path


def _is_word(name: str, colon: str) -> bool:
    """Say whether what stands before a colon is meant as a format; the letter of a drive isn't."""
    return bool(colon) and (not name or (name.isalpha() and len(name) > 1))


def emit_document(document: Document, form: Format, json: str) -> None:
    """Print a document on standard output in a format; `json` is the command's record, written as JSON."""
    emit(render_document(document, form, json, _surface()))


def emit_result(
    result: AuditResult,
    form: Format | None,
    outputs: Outputs = (),
    *,
    details: Document = (),
    screen: Document | None = None,
) -> None:
    """Write the result of an audit to files, and then, where there is a format, to standard output.

    `details` are blocks that a command adds to what people read; `screen` is what a terminal shows in place of every
    check.
    """
    for file_form, path in outputs:
        write_whole(path, _render_result(result, details, screen, file_form, Surface()))
    if form is not None:
        emit(_render_result(result, details, screen, form, _surface()))


def emit_report(result: AuditResult, form: Format | None, outputs: Outputs, details: Document) -> None:
    """Write the whole report of an audit to files, and to standard output where there is a format."""
    for file_form, path in outputs:
        write_whole(path, _render_report(result, details, file_form, Surface()))
    if form is not None:
        emit(_render_report(result, details, form, _surface()))


def _render_report(result: AuditResult, details: Document, form: Format, surface: Surface) -> str:
    from imlp_audit.records.document import to_json
    from imlp_audit.report.paper import report_document, short_report

    if form is Format.MARKDOWN:
        return render_document(short_report(result, details), form, "", surface)
    json = to_json(result) if form is Format.JSON else ""
    return render_document((*report_document(result), *details), form, json, surface)


def _render_result(
    result: AuditResult, details: Document, screen: Document | None, form: Format, surface: Surface
) -> str:
    from imlp_audit.report.paper import summary_document

    if form is not Format.RICH:
        return _render_report(result, details, form, surface)
    on_terminal = summary_document(result) if screen is None else screen
    return render_document((*on_terminal, *details), form, "", surface)


def _surface() -> Surface:
    """Return what standard output is: a terminal's width, and colours where it is one and NO_COLOR is not set."""
    on_terminal = sys.stdout is not None and sys.stdout.isatty()
    asked = on_terminal or "COLUMNS" in os.environ
    return Surface(
        width=shutil.get_terminal_size((_WIDTH, 24)).columns if asked else _WIDTH,
        colour=on_terminal and not os.environ.get("NO_COLOR"),
        encoding=getattr(sys.stdout, "encoding", None) or "utf-8",
        piped=not on_terminal,
    )


def emit(text: str) -> None:
    """Write to standard output. Raises ClosedPipeError if nobody reads it, OutputError if it can't be written.

    On a broken stream Python would complain again when it ends, so the stream is replaced.
    """
    if sys.stdout is None:
        raise OutputError("standard output is closed; nothing could be written")
    try:
        sys.stdout.writelines(text.splitlines(keepends=True))  # in one piece, Python may not notice a closed pipe
        sys.stdout.flush()
    except (BrokenPipeError, OSError, ValueError) as error:  # ValueError: standard output was closed
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  # for what is left of the process
        if isinstance(error, BrokenPipeError):
            raise ClosedPipeError from error
        raise OutputError(f"standard output could not be written: {error}") from error
