"""AGeLUs as pictures: the functions of each layer, and how their coefficients are spread."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from imlp_audit.inspect.agelu import coefficients, curves, gelu
from imlp_audit.inspect.arrays import Matrix
from imlp_audit.inspect.parts import AgeluPart
from imlp_audit.inspect.plot_page import Plate, Sheet, page_file, pages, shorten
from imlp_audit.report.figures.canvas import COLOURS

Layer = tuple[str, tuple[AgeluPart, ...]]
"""A module and its AGeLUs: the two that are concatenated, or a single one."""

_PANELS = 12  # layers a page of functions
_COLUMNS = 4
_ROWS = 6  # layers a page of histograms
_SHAPES = Sheet(panel=(2.5, 1.9), gaps=(0.45, 0.75), left=0.6, right=0.1, bottom=0.85, top=0.3)
_HISTOGRAMS = Sheet(panel=(2.45, 0.95), gaps=(0.45, 0.5), left=0.6, right=0.1, bottom=0.85, top=0.3)
_INPUTS = np.linspace(-4, 4, 129)
_BINS = 40
_COEFFICIENTS = (("α", "scale of the input"), ("β", "scale of GeLU"), ("γ", "shift of the input"), ("θ", "offset"))


def draw_agelus(parts: Sequence[AgeluPart]) -> Iterator[Plate]:
    """Draw the functions of every layer, and the histograms of their coefficients."""
    layers = _pair(parts)
    caption = (
        "AGeLU β GeLU(α x + γ) + θ in every layer: the median over its units, and the bands that hold half of the "
        "units (dark) and nine in ten (light). GeLU itself is dashed."
    )
    for first, page in pages(layers, _PANELS):
        drawn = _draw_shapes(first, page, _find_height(parts))
        yield Plate(page_file("agelu_shapes", first, _PANELS, "svg"), caption, drawn)
    caption = (
        "Coefficients of AGeLU by layer; all layers have the same bins, and the outermost ones also count "
        "values beyond them. α = β = 1 and γ = θ = 0 (dashed) is GeLU, which training starts from."
    )
    for first, page in pages(layers, _ROWS):
        drawn = _draw_histograms(first, page, _find_ranges(parts))
        yield Plate(page_file("agelu_histograms", first, _ROWS, "svg"), caption, drawn)


def _pair(parts: Sequence[AgeluPart]) -> list[Layer]:
    """Group the two AGeLUs of a module, whose names differ in the last digit."""
    together: dict[str, list[AgeluPart]] = {}
    for one in parts:
        together.setdefault(re.sub(r"(\.act)?(\.agelu)?[12]?$", "", one.name), []).append(one)
    return [(name, tuple(agelus)) for name, agelus in together.items()]


def _draw_shapes(first: int, layers: Sequence[Layer], height: tuple[float, float]) -> Figure:
    figure, places = _SHAPES.page(len(layers), _COLUMNS)
    for at, (axes, (name, agelus)) in enumerate(zip(places, layers, strict=True), start=first):
        _draw_functions(axes, agelus)
        axes.set(title=f"layer {at}: {shorten(name)}", xlim=(_INPUTS[0], _INPUTS[-1]), ylim=height)
        axes.set_xlabel("x, the input of AGeLU")
    for axes in places[::_COLUMNS]:
        axes.set_ylabel("AGeLU(x)")
    figure.legend(*places[0].get_legend_handles_labels(), loc="lower center", ncols=3, frameon=False)
    return figure


def _find_height(parts: Sequence[AgeluPart]) -> tuple[float, float]:
    """Return the lowest and highest output of nine units in ten, over all layers."""
    bands = [np.quantile(curves(one, _INPUTS[::8]), (0.05, 0.95), axis=0) for one in parts]
    low, high = min(float(band.min()) for band in bands), max(float(band.max()) for band in bands)
    low, high = min(low, 0.0), max(high, float(_INPUTS[-1]))
    margin = 0.05 * (high - low)
    return low - margin, high + margin


def _draw_functions(axes: Axes, agelus: Sequence[AgeluPart]) -> None:
    axes.grid(alpha=0.25)
    for one, colour, which in zip(agelus, COLOURS, ("AGeLU", "AGeLU'"), strict=False):
        q05, q25, median, q75, q95 = np.quantile(curves(one, _INPUTS), (0.05, 0.25, 0.5, 0.75, 0.95), axis=0)
        axes.fill_between(_INPUTS, q05, q95, color=colour, alpha=0.15, linewidth=0)
        axes.fill_between(_INPUTS, q25, q75, color=colour, alpha=0.3, linewidth=0)
        axes.plot(_INPUTS, median, color=colour, linewidth=1.4, label=f"{which}, median of its units")
    axes.plot(_INPUTS, gelu(_INPUTS), color="black", linewidth=0.9, linestyle="--", label="GeLU")


def _find_ranges(parts: Sequence[AgeluPart]) -> list[tuple[float, float]]:
    """Return the range of each coefficient's bins: 99 % of all layers' numbers, and GeLU's value."""
    ranges = []
    for values, neutral in zip(zip(*map(coefficients, parts), strict=True), (1.0, 1.0, 0.0, 0.0), strict=True):
        low, high = np.quantile(np.concatenate(values), (0.005, 0.995)).tolist()
        low, high = min(low, neutral), max(high, neutral)
        margin = 0.05 * (high - low) or 0.5
        ranges.append((low - margin, high + margin))
    return ranges


def _draw_histograms(first: int, layers: Sequence[Layer], ranges: Sequence[tuple[float, float]]) -> Figure:
    figure, places = _HISTOGRAMS.page(len(ranges) * len(layers), len(ranges))
    for at, (name, agelus) in enumerate(layers):
        row = places[at * len(ranges) :][: len(ranges)]
        for index, axes in enumerate(row):
            _draw_histogram(axes, [coefficients(one)[index] for one in agelus], ranges[index])
            axes.axvline((1, 1, 0, 0)[index], color="black", linewidth=0.9, linestyle="--")
            axes.set(xlim=ranges[index], ylim=(0, None))
        row[0].set_ylabel("units, %")
        row[0].set_title(f"layer {first + at}: {shorten(name)}", loc="left")
    for axes, (letter, meaning) in zip(places[-len(ranges) :], _COEFFICIENTS, strict=True):
        axes.set_xlabel(f"{letter}, {meaning}")
    figure.legend(*places[0].get_legend_handles_labels(), loc="lower center", ncols=2, frameon=False)
    return figure


def _draw_histogram(axes: Axes, values: Sequence[Matrix], over: tuple[float, float]) -> None:
    axes.grid(alpha=0.25)
    edges = np.linspace(*over, _BINS + 1)
    for numbers, colour, which in zip(values, COLOURS, ("AGeLU", "AGeLU'"), strict=False):
        counts, _ = np.histogram(np.clip(numbers, *over), edges)
        share = 100 * counts / len(numbers)
        axes.stairs(share, edges, color=colour, fill=True, alpha=0.25)
        axes.stairs(share, edges, color=colour, linewidth=1.1, label=which)
