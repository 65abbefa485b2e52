"""The figure of a report: how far each counted number is from what is printed; and what figures are drawn with.

matplotlib is imported late.
"""

from __future__ import annotations

import hashlib
import re
import warnings
from base64 import b64decode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from typing import TYPE_CHECKING

from imlp_audit.numbers.words import count_of
from imlp_audit.records.base import Record
from imlp_audit.records.check import FAILS, PASSES, CellCheck
from imlp_audit.records.paper import PaperHead
from imlp_audit.records.result import AuditResult
from imlp_audit.report.document import Document, Fold, Plot
from imlp_audit.report.text import shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

COLOURS = ("#1f77b4", "#d95f02", "#1b9e77", "#7570b3")  # distinct for the colour-blind
_NUMBER = re.compile(r"-?\d{1,15}(\.\d{1,15})?", re.ASCII)
_NOT_IN_XML = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff\u202a-\u202e\u2066-\u2069]")


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


_LINEAR = 2  # gaps up to so many last digits are drawn to scale, larger ones by their logarithm
_FEWEST = 4  # numbers that make a figure
_MOST = 40  # columns
_FEW = 3  # powers of ten, of which each side of the axis names all
_COUNTED = ("parameters", "flops", "memory")  # settings are whole numbers that hold exactly or not at all


class Column(Record):
    """The counted numbers of a column: for each its gap in units of the last printed digit, and whether it passes.

    A gap is measured from the middle of the interval of all values that print as the paper prints them, which is one
    unit wide: up to half a unit is right.
    """

    name: str
    passing: tuple[float, ...]
    others: tuple[float, ...]


class Gaps(Record):
    """The gaps of a paper, by column."""

    columns: tuple[Column, ...]

    @property
    def summary(self) -> str:
        """The figure in words."""
        passing = sum(len(column.passing) for column in self.columns)
        others = [abs(gap) for column in self.columns for gap in column.others]
        known = f"{passing} of {count_of(passing + len(others), 'counted number')} pass"
        text = f"Printed against measured, by column, in units of the last printed digit: {known}"
        return f"{text}; the farthest of the others is {max(others):.1f} units away." if others else f"{text}."

    def draw(self) -> str:
        """Return the figure as SVG, with a digest of the data, by which a kept drawing is known to be stale."""
        from matplotlib.figure import Figure as Canvas  # no pyplot: no windows, no state

        with drawing_style():
            canvas = Canvas(figsize=(6.4, 1.7 + 0.34 * len(self.columns)), layout="constrained")
            axes = canvas.subplots()
            axes.grid(alpha=0.25)
            axes.set_axisbelow(True)
            _plot(self, canvas, axes)
            return to_svg(canvas, f"sha256:{hashlib.sha256(self.model_dump_json().encode()).hexdigest()}").decode()


def find_gaps(result: AuditResult, paper: PaperHead) -> Gaps | None:
    """Return the gaps of a paper's counted numbers, or None where it has none."""
    checks = {check.id: check for check in result.of_kind(CellCheck)}
    columns = []
    for table in paper.tables:
        for column in table.columns:
            cells = [checks.get(f"{paper.id}/{table.id}/{row.id}/{column.id}") for row in table.rows]
            gaps = [(one.verdict in PASSES, gap) for one in cells if one and (gap := _gap(one)) is not None]
            if gaps and column.measure in _COUNTED:
                passing, others = (tuple(gap for passes, gap in gaps if passes is want) for want in (True, False))
                name = f"{table.called}, {column.heading}"
                columns.append(Column(name=name, passing=passing, others=others))
    numbers = sum(len(column.passing) + len(column.others) for column in columns)
    return Gaps(columns=tuple(columns[:_MOST])) if numbers >= _FEWEST else None


def _gap(check: CellCheck) -> float | None:
    """Return how far a measured value is from the middle of the printed interval, in widths of the interval."""
    if check.evidence or check.interval is None or check.verdict not in (*PASSES, *FAILS):
        return None
    low, high, measured = (parse_number(text) for text in (*check.interval, check.measured))
    if low is None or high is None or measured is None or high <= low:
        return None
    return (measured - low) / (high - low) - 0.5


def _plot(data: Gaps, canvas: Canvas, axes: Axes) -> None:
    """Draw a line of marks for each column; the band is what prints as printed."""
    axes.axvspan(-0.5, 0.5, color="0.85", label="values that print as printed", zorder=0)
    for at, column in enumerate(data.columns):
        _marks(axes, at, column.passing, ".", COLOURS[2], "passes" if _first(data, at, "passing") else None)
        _marks(axes, at, column.others, "x", COLOURS[1], "does not pass" if _first(data, at, "others") else None)
    farthest = max((abs(gap) for column in data.columns for gap in (*column.passing, *column.others)), default=1)
    _scale(axes, max(farthest, 1))
    axes.set_yticks(range(len(data.columns)), [clean(column.name, 44) for column in data.columns], fontsize=8)
    axes.set_ylim(len(data.columns) - 0.4, -0.6)
    axes.set(title="Printed against measured", xlabel="measured minus printed, in units of the last printed digit")
    canvas.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=8)


def _first(data: Gaps, at: int, name: str) -> bool:
    """Say whether a column is the first that has marks of a kind: one entry of the legend is enough."""
    return not any(getattr(column, name) for column in data.columns[:at])


def _marks(axes: Axes, at: int, gaps: Sequence[float], marker: str, colour: str, label: str | None) -> None:
    """Draw marks in a band, those of neighbours at different heights."""
    heights = [at + (-0.2, 0.0, 0.2)[number % 3] for number in range(len(gaps))]
    if gaps:
        axes.scatter(sorted(gaps), heights, s=26, marker=marker, color=colour, label=label, linewidths=1, zorder=3)


def _scale(axes: Axes, farthest: float) -> None:
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    ticks = [0.0, 0.5, 1.0]
    if farthest > _LINEAR:
        axes.set_xscale("symlog", linthresh=_LINEAR, linscale=1.2)
        powers = [10.0**power for power in range(1, 16) if 10**power <= farthest * 1.2]
        ticks = [0.0, 0.5, 2.0, *powers] if len(powers) < _FEW else [0.0, *powers[1::2]]
    axes.set_xlim(-farthest * 1.25, farthest * 1.25)
    axes.xaxis.set_major_locator(FixedLocator(sorted({sign * tick for tick in ticks for sign in (-1, 1)})))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value + 0.0:g}"))
    axes.xaxis.set_minor_locator(NullLocator())


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
