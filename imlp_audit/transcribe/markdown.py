"""The tables of a markdown file as GitHub shows it: it becomes a web page, whose tables are read."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from markdown_it import MarkdownIt
from markdown_it.token import Token

from imlp_audit.errors import UsageError
from imlp_audit.transcribe.grid import SourceDocument, split_number
from imlp_audit.transcribe.latex.scan import to_text
from imlp_audit.transcribe.web import plain_text, read_web

_MATH = re.compile(r"\$([^$\n|]+)\$")
_FOOTNOTE = re.compile(r"\[\^([^\]]+)\]")
_TABLE = re.compile(r"<(table|tr|td|th)\b", re.IGNORECASE)
_MOST_LINES = 200_000
_NEAR = 3  # lines between a table and the line above it that may be its caption
_LONGEST_SECTION = 2_000
_ADVICE = "a table in markdown has a line such as | --- | --- | under its headings, and one in HTML is a <table>"


def read_markdown(text: str, shown_as: str) -> SourceDocument:
    """Return the tables of a file in order, each with the heading and the line above it as its caption.

    Raises UsageError for a file that is too long.
    """
    if text.count("\n") > _MOST_LINES:
        raise UsageError(f"{shown_as} has more than {_MOST_LINES} lines; give a file with the table alone")
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    text = _FOOTNOTE.sub(r"^\1", _MATH.sub(lambda found: _escape(to_text(found[1])), text))
    tokens = parser.parse(text)
    title = _place_tables(tokens, parser)
    page = parser.renderer.render(tokens, parser.options, {})
    return replace(read_web(page, shown_as), title=title[:200] or None, advice=_ADVICE)


def _escape(text: str) -> str:
    """Return a text whose signs mean nothing in markdown."""
    return re.sub(r"([\\|*_<>&`\[\]~])", r"\\\1", text)


def _place_tables(tokens: Sequence[Token], parser: MarkdownIt) -> str:
    """Give each table its line, its caption and the text of its section, as attributes; return the first heading."""
    title = heading = above = ""
    end = 0  # of the paragraph or heading above
    section: list[str] = []
    tables: list[tuple[Token, int, str, list[str]]] = []
    for token, after in zip(tokens, [*tokens[1:], *tokens[-1:]], strict=False):
        first = token.map[0] + 1 if token.map else 0
        if token.type == "heading_open":
            heading, above, end, section = plain_text(parser.renderInline(after.content)), "", first, []
            title = title or heading
        elif token.type == "paragraph_open":
            above, end = after.content, token.map[1] if token.map else first
            section.append(after.content)
        elif token.type == "tr_open":
            token.attrSet("data-line", str(first))
        elif token.type in ("table_open", "html_block"):
            tables.append((token, first, _caption(heading, above if first - end <= _NEAR else "", parser), section))
    for token, first, caption, paragraphs in tables:
        given = {"data-caption": caption, "data-around": " ".join(paragraphs)[:_LONGEST_SECTION]}
        if token.type == "table_open":
            token.attrs |= {"data-line": str(first), **given}
        token.content = _TABLE.sub(partial(_placed, first=first, given=given), token.content)
    return title


def _placed(found: re.Match[str], first: int, given: Mapping[str, str]) -> str:
    line = first + found.string.count("\n", 0, found.start())
    titled = "".join(f' {name}="{html.escape(text)}"' for name, text in given.items())
    return f'{found[0]} data-line="{line}"{titled if found[1].lower() == "table" else ""}'


def _caption(heading: str, paragraph: str, parser: MarkdownIt) -> str:
    """Return the line above a table, after the heading that both are under.

    Of a paragraph that begins with the number of the table, as "Table 7." does, all is taken, the number first.
    """
    number, text = split_number(plain_text(parser.renderInline(" ".join(paragraph.split("\n")))))
    if not number:
        text = plain_text(parser.renderInline(paragraph.rpartition("\n")[2]))
    return f"{number}{f'{heading}. {text}' if heading and text else heading or text}"[:300]
