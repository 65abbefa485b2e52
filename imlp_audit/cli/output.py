"""Where results go: standard output, and the files that -o names."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from imlp_audit.cli.stream import emit
from imlp_audit.errors import UsageError
from imlp_audit.records.result import AuditResult
from imlp_audit.report.document import Document
from imlp_audit.report.files import check_writable
from imlp_audit.report.formats import Format, Surface
from imlp_audit.report.registry import FORMATS
from imlp_audit.report.rendering import render_document


def parse_output(text: str) -> tuple[Format, Path]:
    """Read FORMAT:FILE. Raises UsageError for an unknown format or a file that could not be written."""
    name, colon, file = text.partition(":")
    known = [format_.value for format_ in Format]
    if not colon or not file or name not in known:
        raise UsageError(f"-o {text}: write FORMAT:FILE with one of the formats {', '.join(known)}")
    check_writable(Path(file))
    return Format(name), Path(file)


def surface() -> Surface:
    """Return what standard output is: a terminal's width, and colours where it is one and NO_COLOR is not set."""
    on_terminal = sys.stdout is not None and sys.stdout.isatty()
    width = shutil.get_terminal_size((120, 24)).columns if on_terminal else 120
    return Surface(width, on_terminal and not os.environ.get("NO_COLOR"))


def render(result: AuditResult, format_: Format, shown_on: Surface | None = None) -> str:
    """Write a result in a format."""
    return FORMATS[format_](result, shown_on or Surface())


def emit_document(document: Document, form: Format, json: str) -> None:
    """Print a document on standard output in a format; `json` is the command's record, written as JSON."""
    emit(render_document(document, form, json, surface()))
