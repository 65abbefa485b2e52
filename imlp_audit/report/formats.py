"""The formats by name, and the one way to text in each of them: from a document, or from the result of an audit."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING, assert_never

if TYPE_CHECKING:  # the command line needs the formats' names at once, and the rest late
    from imlp_audit.records.base import JsonDocument
    from imlp_audit.records.result import AuditResult
    from imlp_audit.report.document import Document
    from imlp_audit.report.terminal import Surface


class Format(StrEnum):
    """The formats that every command can write."""

    RICH = "rich"
    JSON = "json"
    MARKDOWN = "markdown"
    HTML = "html"


class AuditFormat(StrEnum):
    """The formats of an audit's result: those of every command, and those that are made from its checks."""

    RICH = "rich"
    JSON = "json"
    MARKDOWN = "markdown"
    HTML = "html"
    SARIF = "sarif"
    GITHUB = "github"


ENDINGS = {
    ".sarif.json": AuditFormat.SARIF,
    ".json": AuditFormat.JSON,
    ".md": AuditFormat.MARKDOWN,
    ".markdown": AuditFormat.MARKDOWN,
    ".html": AuditFormat.HTML,
    ".htm": AuditFormat.HTML,
    ".txt": AuditFormat.RICH,
    ".sarif": AuditFormat.SARIF,
}  # what a file is written as if its format isn't named


def render_document(
    document: Document, form: Format, record: JsonDocument | None = None, surface: Surface | None = None
) -> str:
    """Return a document in a format; `record` is what JSON shows of it."""
    match form:
        case Format.RICH:
            from imlp_audit.report.terminal import Surface, render_terminal

            return disarm_commands(render_terminal(document, surface or Surface()))
        case Format.MARKDOWN:
            from imlp_audit.report.markdown import render_markdown

            return disarm_commands(render_markdown(document))
        case Format.HTML:
            from imlp_audit.report.page import render_page

            return render_page(document)
        case Format.JSON:
            from imlp_audit.records.base import to_json

            assert record is not None  # a command that offers JSON has a record to show
            return to_json(record)
        case _:
            assert_never(form)


def render_audit(
    result: AuditResult, form: AuditFormat, screen: Document | None = None, surface: Surface | None = None
) -> str:
    """Return the result of an audit in a format.

    People read its whole report, in markdown its short form, which can be a comment, and on a terminal the `screen`.
    """
    from imlp_audit.report.github_and_sarif import render_annotations, render_sarif
    from imlp_audit.report.paper import report_document

    match form:
        case AuditFormat.SARIF:
            return render_sarif(result)
        case AuditFormat.GITHUB:
            return render_annotations(result)
        case AuditFormat.JSON:
            document: Document = ()
        case AuditFormat.MARKDOWN:
            from imlp_audit.report.markdown import render_short

            return disarm_commands(render_short(report_document(result)))
        case AuditFormat.RICH if screen is not None:
            document = screen
        case _:
            document = report_document(result)
    return render_document(document, Format(form.value), result, surface)


def disarm_commands(text: str) -> str:
    """Return printed text in which nothing is a command to GitHub's runner, which obeys lines of any step's log."""
    return re.sub(r"^([^\S\n]*)(?=::)", r"\1\\", text, flags=re.MULTILINE).replace("##[", "#\\#[")
