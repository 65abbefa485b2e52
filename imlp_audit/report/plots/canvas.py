"""What every figure is drawn on: one style, safe text, and the same bytes each time."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pydantic import BaseModel

from imlp_audit.report.style import drawing_style, to_svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

_NUMBER = re.compile(r"-?\d{1,15}(\.\d{1,15})?", re.ASCII)
_NOT_IN_XML = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff\u202a-\u202e\u2066-\u2069]")


def draw_panels(
    data: BaseModel, plot: Callable[[Canvas, Sequence[Axes]], None], panels: int = 1, height: float = 4.0
) -> str:
    """Draw panels below each other and return them as SVG, with a digest of the data that they show."""
    from matplotlib.figure import Figure as Canvas  # no pyplot: no windows, no state

    with drawing_style():
        canvas = Canvas(figsize=(6.4, height), layout="constrained")
        axes = list(canvas.subplots(panels, sharex=True, squeeze=False)[:, 0])
        for one in axes:
            one.grid(alpha=0.25)
            one.set_axisbelow(True)
        plot(canvas, axes)
        digest = hashlib.sha256(data.model_dump_json().encode()).hexdigest()
        return to_svg(canvas, f"sha256:{digest}").decode()


def parse_number(text: str | None) -> float | None:
    """Return a plain decimal number; None where a text is anything else, or has more digits than a figure shows."""
    return float(text) if text and _NUMBER.fullmatch(text) else None


def clean(text: str, most: int = 60) -> str:
    """Return text for a figure: in one line, without what an SVG cannot hold, and not too long."""
    line = " ".join(_NOT_IN_XML.sub(" ", text).split())
    if len(line) <= most:
        return line
    cut = line[: most - 3]
    return f"{cut if line[most - 3] == ' ' else cut.rpartition(' ')[0] or cut}..."
