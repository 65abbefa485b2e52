"""Renders a document as a page: one HTML file that needs nothing else and sends nothing anywhere."""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files
from typing import assert_never

from imlp_audit.report import document as doc


def render_page(document: doc.Document) -> str:
    """Return a document as an HTML page."""
    style, script = (files(__package__).joinpath(name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    anchored = _anchor_headings(document)
    headings = [block for block in anchored if isinstance(block, doc.Heading)]
    title = next((doc.plain_text(one.text) for one in headings), "imlp-audit")
    body = "\n".join(render_block(block) for block in anchored)
    return _PAGE.format(
        policy=f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'",
        title=escape(doc.one_line(title)),
        style=style,
        contents="\n".join(_contents(headings)),
        body=body,
        script=script,
    )


_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<a class="skip" href="#content">Skip to the report</a>
<nav aria-label="Contents">
<ul>
{contents}
</ul>
<div id="tools"></div>
</nav>
<main id="content" tabindex="-1">
{body}
</main>
<script>{script}</script>
</body>
</html>
"""


def _hash(text: str) -> str:
    """Return the source expression of a content-security policy that allows this text alone."""
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _anchor_headings(document: doc.Document) -> doc.Document:
    """Give each heading of the contents an anchor, and let no heading skip a level, which screen readers go by."""
    blocks: list[doc.Block] = []
    above = 0
    for at, block in enumerate(document):
        if isinstance(block, doc.Heading):
            above = min(block.level, above + 1)
            anchor = block.anchor or (f"section-{at}" if block.level <= _LISTED else "")
            blocks.append(doc.Heading(block.text, above, anchor))
        else:
            blocks.append(block)
    return tuple(blocks)


_LONG_WORD = re.compile("[^ ]{17,}")  # no column is too narrow for 16 characters
_LISTED = 2  # levels of headings that stand in the contents


def _contents(headings: list[doc.Heading]) -> Iterator[str]:
    titles = sum(heading.level == 1 for heading in headings)
    for heading in headings:
        if heading.anchor and (heading.level == _LISTED or (heading.level == 1 and titles > 1)):
            text = render_inline(doc.plain_text(heading.text))
            yield f'<li class="level{heading.level}"><a href="#{safe_anchor(heading.anchor)}">{text}</a></li>'


_TAGS = {doc.Style.STRONG: "strong", doc.Style.EMPHASIS: "em", doc.Style.CODE: "code"}
_LINK = re.compile(r"#.+|https?://\S+|[a-z0-9_\-]+\.(?:html|md|json|svg)(?:#[\w/.~\-]+)?", re.IGNORECASE | re.ASCII)
_COMMAND = re.compile(r"^([^\S\n]*):(?=:)", re.MULTILINE)  # would be a command in a log of GitHub's
_GROUPS = re.compile(r" (?<=\d )(?=\d{3}(?!\d))")  # the spaces within 5 717 416, at which no line may break
_LONG_PART = re.compile(r"[^\0]{16}(?=[^\0])")
_BETWEEN_PARTS = re.compile(r"(?<=[/_.])(?=\w)")  # where a name may be broken


def render_block(block: doc.Block) -> str:
    """Return a block as HTML."""
    match block:
        case doc.Heading():
            anchor = f' id="{safe_anchor(block.anchor)}"' if block.anchor else ""
            return f"<h{block.level}{anchor}>{render_inline(block.text)}</h{block.level}>"
        case doc.Paragraph():
            return f"<p>{render_inline(block.text)}</p>"
        case doc.Table():
            return "\n".join(_table(block))
        case doc.List():
            return "\n".join(_items(block))
        case doc.Code():
            return _code(block.text)
        case doc.MarkedTable():
            return "\n".join(_printed_table(block))
        case doc.Fold():
            inner = "\n".join(render_block(one) for one in block.blocks)
            return (
                f'<details class="fold"><summary>{render_inline(block.summary)}</summary>\n<div>{inner}</div></details>'
            )
        case _:
            assert_never(block)


def _code(text: str) -> str:
    lines = "\n".join(doc.make_visible(line, keep="\t") for line in text.split("\n"))
    inert = _COMMAND.sub(r"\1&#58;", escape(lines))
    return f"<pre><code>{inert}</code></pre>"


def render_inline(text: doc.Inline) -> str:
    """Return inline text as HTML."""
    return "".join(map(_span, doc.spans(text)))


def _escape(text: str) -> str:
    """Escape text; long names may be broken between their parts, and a number at no space."""
    line = _LONG_WORD.sub(lambda word: _break_word(word[0]), doc.one_line(text))
    return escape(_GROUPS.sub("\xa0", line)).replace("\0", "<wbr>")


def _break_word(word: str) -> str:
    """Mark where a long word may be broken: between its parts, and within a part only if that is long too."""
    return _LONG_PART.sub(lambda part: f"{part[0]}\0", _BETWEEN_PARTS.sub("\0", word))


def _span(span: doc.Span) -> str:
    text = _escape(span.text)
    if span.style in _TAGS:
        text = f"<{_TAGS[span.style]}>{text}</{_TAGS[span.style]}>"
    elif span.style is not doc.Style.PLAIN:
        text = f'<span class="{span.style.value}">{text}</span>'
    if span.anchor:
        text = f'<span id="{safe_anchor(span.anchor)}">{text}</span>'
    if not _LINK.fullmatch(span.link):
        return text
    target = f"#{safe_anchor(span.link[1:])}" if span.link.startswith("#") else escape(span.link)
    return f'<a href="{target}" rel="noreferrer">{text}</a>'


def safe_anchor(text: str) -> str:
    """Return text as an id: what may not stand in one, or would have to be escaped in a link, is written as a code."""
    return re.sub(r"[^A-Za-z0-9/._\-]", lambda found: f"~{ord(found[0]):x}", text)


def _table(table: doc.Table) -> Iterator[str]:
    """Yield a table; on a narrow screen, where each row stands as a list, cells show the names of their columns."""
    yield '<table role="table" class="listing">' if not table.header else '<table role="table">'
    yield from _head(table.header, table.alignments)
    yield '<tbody role="rowgroup">'
    for row in table.rows:
        columns = zip(row, table.header or ("",) * len(row), table.alignments, strict=True)
        cells = (f'<td role="cell"{_side(at)}{_label(name)}>{render_inline(text)}</td>' for text, name, at in columns)
        yield f'<tr role="row">{"".join(cells)}</tr>'
    yield "</tbody></table>"


def _head(names: Sequence[doc.Inline], alignments: Sequence[doc.Align]) -> Iterator[str]:
    if names:
        cells = (
            f'<th role="columnheader" scope="col"{_side(align)}>{render_inline(name)}</th>'
            if doc.plain_text(name).strip()
            else '<td role="cell"></td>'
            for name, align in zip(names, alignments, strict=True)
        )
        yield f'<thead role="rowgroup"><tr role="row">{"".join(cells)}</tr></thead>'


def _side(align: doc.Align) -> str:
    return ' class="number"' if align is doc.Align.RIGHT else ""


def _label(column: doc.Inline) -> str:
    name = doc.one_line(doc.plain_text(column)).strip()
    return f' data-label="{escape(name)}"' if name else ""


def _printed_table(table: doc.MarkedTable) -> Iterator[str]:
    yield '<div class="printed">'
    yield '<table role="table" class="printed">'
    yield from _head(table.header, (doc.Align.LEFT,) * len(table.header))
    yield '<tbody role="rowgroup">'
    for label, cells in table.rows:
        row = [_printed_cell(cell, column) for cell, column in zip(cells, table.header[1:], strict=True)]
        yield f'<tr role="row"><th role="rowheader" scope="row">{render_inline(label)}</th>{"".join(row)}</tr>'
    yield "</tbody></table></div>"


def _printed_cell(cell: doc.PrintedCell | None, column: str) -> str:
    if cell is None:
        return '<td role="cell" class="empty"></td>'
    numbers = " ".join(map(_stamped, cell.numbers))
    inner = "\n".join(render_block(block) for block in cell.explanation)
    return (
        f'<td role="cell"{_label(column)}><details class="cell" name="cell"><summary>{numbers}</summary>\n'
        f'<div class="why" id="{safe_anchor(cell.anchor)}">{inner}</div></details></td>'
    )


def _stamped(one: doc.Stamped) -> str:
    finding = f" {_escape(one.finding[0])}" if one.finding else ""
    return (
        f'<span class="stamped">{_escape(one.text)} <span class="sign {one.style.value}">'
        f'<span aria-hidden="true">{_escape(one.sign)}</span>'
        f'<span class="spoken">{_escape(one.meaning)}</span>'
        f"{finding}</span></span>"
    )


def _items(block: doc.List) -> Iterator[str]:
    yield "<ul>"
    for entry in block.entries:
        label = f'<strong class="label">{_escape(entry.label)}</strong> ' if entry.label else ""
        below = "\n".join(_items(doc.List(entry.items))) if entry.items else ""
        yield f"<li>{label}{render_inline(entry.text)}{below}</li>"
    yield "</ul>"
