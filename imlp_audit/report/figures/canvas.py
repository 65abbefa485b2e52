"""What every figure is drawn on: one style, safe text, and the same bytes each time. matplotlib is imported late."""

from __future__ import annotations

import hashlib
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import TYPE_CHECKING

from pydantic import BaseModel

from imlp_audit.report.text import shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

COLOURS = ("#1f77b4", "#d95f02", "#1b9e77", "#7570b3")  # distinct for the colour-blind
_NUMBER = re.compile(r"-?\d{1,15}(\.\d{1,15})?", re.ASCII)
_NOT_IN_XML = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff\u202a-\u202e\u2066-\u2069]")


def draw(data: BaseModel, plot: Callable[[Canvas, Axes], None], height: float) -> str:
    """Draw data and return it as SVG, with a digest of the data, by which a kept drawing is known to be stale."""
    from matplotlib.figure import Figure as Canvas  # no pyplot: no windows, no state

    with drawing_style():
        canvas = Canvas(figsize=(6.4, height), layout="constrained")
        axes = canvas.subplots()
        axes.grid(alpha=0.25)
        axes.set_axisbelow(True)
        plot(canvas, axes)
        digest = hashlib.sha256(data.model_dump_json().encode()).hexdigest()
        return to_svg(canvas, f"sha256:{digest}").decode()


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


def to_svg(figure: Canvas, description: str | None = None) -> bytes:
    """Return a figure as SVG, without a date."""
    metadata = {"Date": None, "Creator": None, **({"Description": description} if description else {})}
    return _save(figure, "svg", metadata)


def to_png(figure: Canvas) -> bytes:
    """Return a figure as PNG, without the name of the program that wrote it."""
    return _save(figure, "png", {"Software": None})


def _save(figure: Canvas, kind: str, metadata: dict[str, str | None]) -> bytes:
    out = BytesIO()
    figure.savefig(out, format=kind, dpi=110, metadata=metadata)
    return out.getvalue()


def parse_number(text: str | None) -> float | None:
    """Return a plain decimal number; None where a text is anything else, or has more digits than a figure shows."""
    return float(text) if text and _NUMBER.fullmatch(text) else None


def clean(text: str, most: int = 60) -> str:
    """Return text for a figure: in one line, without what an SVG cannot hold, and not too long."""
    return shorten(" ".join(_NOT_IN_XML.sub(" ", text).split()), most)
