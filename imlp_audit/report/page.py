"""Renders a document as a page: one HTML file that needs nothing else and sends nothing anywhere.

Styles, pictures and the script are inside. A content-security policy allows these and no others, so that text which
got past the escaping could still not run. The page is complete without the script, which only filters and jumps.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Iterator
from html import escape
from importlib.resources import files

from imlp_audit.report.document import Block, Document, Heading, one_line, plain_text
from imlp_audit.report.page_blocks import PagePictures, render_block, render_inline, safe_anchor


def render_page(document: Document, pictures: PagePictures | None = None) -> str:
    """Return a document as an HTML page with its pictures inside."""
    style, script = (files(__package__).joinpath(name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    anchored = _anchor_headings(document)
    headings = [block for block in anchored if isinstance(block, Heading)]
    title = next((plain_text(one.text) for one in headings), "imlp-audit")
    body = "\n".join(render_block(block, pictures or PagePictures()) for block in anchored)
    return _PAGE.format(
        policy=f"default-src 'none'; img-src data:; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'",
        title=escape(one_line(title)),
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


def _anchor_headings(document: Document) -> Document:
    """Give each heading of the contents an anchor, and let no heading skip a level, which screen readers go by."""
    blocks: list[Block] = []
    above = 0
    for at, block in enumerate(document):
        if isinstance(block, Heading):
            above = min(block.level, above + 1)
            blocks.append(
                Heading(block.text, above, block.anchor or (f"section-{at}" if block.level <= _LISTED else ""))
            )
        else:
            blocks.append(block)
    return tuple(blocks)


_LISTED = 2  # levels of headings that stand in the contents


def _contents(headings: list[Heading]) -> Iterator[str]:
    titles = sum(heading.level == 1 for heading in headings)
    for heading in headings:
        if heading.anchor and (heading.level == _LISTED or (heading.level == 1 and titles > 1)):
            text = render_inline(plain_text(heading.text))
            yield f'<li class="level{heading.level}"><a href="#{safe_anchor(heading.anchor)}">{text}</a></li>'
