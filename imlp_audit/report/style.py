"""The one style of all drawings, and files that have the same bytes each time. Imports matplotlib when it is used."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = ("#1f77b4", "#d95f02", "#1b9e77", "#7570b3")  # distinct for the colour-blind


@contextmanager
def drawing_style() -> Iterator[None]:
    """Draw in matplotlib's own style, whatever the user's settings are."""
    import matplotlib as mpl

    with mpl.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from")  # whoever shows the SVG has the fonts, or not
        mpl.rcdefaults()
        mpl.rc("svg", hashsalt="imlp-audit", fonttype="none")
        mpl.rc("font", size=9)
        mpl.rc("text", parse_math=False)  # names come from files
        mpl.rc("axes", titlesize=9)
        yield


def to_svg(figure: Figure, description: str | None = None) -> bytes:
    """Return a figure as SVG, without a date."""
    metadata = {"Date": None, "Creator": None, **({"Description": description} if description else {})}
    return _save(figure, "svg", metadata)


def to_png(figure: Figure) -> bytes:
    """Return a figure as PNG, without the name of the program that wrote it."""
    return _save(figure, "png", {"Software": None})


def _save(figure: Figure, kind: str, metadata: dict[str, str | None]) -> bytes:
    out = BytesIO()
    figure.savefig(out, format=kind, dpi=110, metadata=metadata)
    return out.getvalue()
