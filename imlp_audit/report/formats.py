"""The formats by name, and the one way from a document to text in each of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from imlp_audit.report.document import Document


class Format(StrEnum):
    """The formats that every command can write."""

    RICH = "rich"
    JSON = "json"
    MARKDOWN = "markdown"
    HTML = "html"


ENDINGS = {
    ".json": Format.JSON,
    ".md": Format.MARKDOWN,
    ".markdown": Format.MARKDOWN,
    ".html": Format.HTML,
    ".htm": Format.HTML,
    ".txt": Format.RICH,
}  # what a file is written as if its format isn't named


@dataclass(frozen=True)
class Surface:
    """What a text is shown on: its width in characters, whether it shows colours, and the characters it has.

    What is `piped` may be read by a program: a listing keeps a line for each row there.
    """

    width: int = 120
    colour: bool = False
    encoding: str = "utf-8"
    piped: bool = False


def render_document(document: Document, form: Format, json: str, surface: Surface | None = None) -> str:
    """Return a document in a format; `json` is the command's record, written as JSON."""
    match form:
        case Format.RICH:
            from imlp_audit.report.terminal import render_terminal  # rich takes a tenth of a second to import

            return disarm_commands(render_terminal(document, surface or Surface()))
        case Format.MARKDOWN:
            from imlp_audit.report.markdown import render_markdown

            return disarm_commands(render_markdown(document))
        case Format.HTML:
            from imlp_audit.report.page import render_page

            return render_page(document)
        case Format.JSON:
            return json
        case _:
            assert_never(form)


def disarm_commands(text: str) -> str:
    """Return printed text in which nothing is a command to GitHub's runner, which obeys lines of any step's log."""
    return re.sub(r"^([ \t]*)(?=::)", r"\1\\", text, flags=re.MULTILINE).replace("##[", "#\\#[")
