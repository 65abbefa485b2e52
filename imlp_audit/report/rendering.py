"""Renders what a command has to say in the format that was asked for."""

from __future__ import annotations

from typing import assert_never

from imlp_audit.report.document import Document
from imlp_audit.report.formats import Format, Surface


def render_document(document: Document, form: Format, json: str, surface: Surface | None = None) -> str:
    """Return a document in a format; `json` is the command's record, written as JSON."""
    match form:
        case Format.RICH:
            from imlp_audit.report.terminal import render_terminal

            return render_terminal(document, surface or Surface())
        case Format.MARKDOWN:
            from imlp_audit.report.markdown import render_markdown

            return render_markdown(document)
        case Format.JSON:
            return json
        case _:
            assert_never(form)
