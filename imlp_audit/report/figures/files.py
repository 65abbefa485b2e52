"""Figures as files: which a report has, and whether kept ones are stale."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterator

from imlp_audit.report.document import Document, Fold, Plot

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_EMBEDDED = re.compile(r"data:image/svg\+xml;base64,([A-Za-z0-9+/=]*)")


def draw_figures(document: Document) -> dict[str, str]:
    """Return the figures of a report as SVG, by the names of their files."""
    return {plot.file: plot.data.draw() for plot in _plots(document)}


def _plots(document: Document) -> Iterator[Plot]:
    for block in document:
        if isinstance(block, Plot):
            yield block
        elif isinstance(block, Fold):
            yield from _plots(block.blocks)


def same_figure(one: str, other: str) -> bool:
    """Say whether two drawings show the same data: their bytes differ between releases of matplotlib."""
    return _DIGEST.findall(one) == _DIGEST.findall(other)


def same_page(one: str, other: str) -> bool:
    """Say whether two pages are equal apart from how their drawings are drawn."""
    return _EMBEDDED.sub(_digest, one) == _EMBEDDED.sub(_digest, other)


def _digest(embedded: re.Match[str]) -> str:
    """Return the digest of an embedded drawing's data; the drawing itself where it names none."""
    try:
        return " ".join(_DIGEST.findall(b64decode(embedded[1], validate=True).decode())) or embedded[0]
    except ValueError:  # a page that somebody edited
        return embedded[0]
