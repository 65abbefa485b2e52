"""Draws what was measured layer by layer: sparsity (ResMLP, Fig. 3), patterns, Toeplitz shares, slopes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from imlp_audit.equations.lipschitz.slopes import GELU
from imlp_audit.inspect.plot_page import Plate, Sheet
from imlp_audit.records.inspection import AmlpModule, CrossPatchLayer, GateMatrix, Inspection, Pattern
from imlp_audit.report.figures.canvas import COLOURS

Heights = Sequence[float | None]

_MARKERS = ("o", "s", "^", "D")
_CHANCE = "0.45"
_ONE = Sheet(panel=(5.6, 3.0), gaps=(0, 0), left=0.65, right=0.15, bottom=0.8, top=0.15)
_TWO = Sheet(panel=(6.6, 2.2), gaps=(0, 0.85), left=0.75, right=0.15, bottom=0.5, top=0.4)
_FOUR = Sheet(panel=(3.1, 2.0), gaps=(0.6, 0.8), left=0.65, right=0.15, bottom=0.85, top=0.3)


def draw_layers(inspection: Inspection) -> Iterator[Plate]:
    """Draw every curve that there are numbers for."""
    layers = inspection.cross_patch
    if layers:
        caption = "Rate of weights whose absolute value is lower than 5 % of the matrix's maximum, by layer."
        yield Plate("sparsity.svg", caption, _draw_sparsity(layers))
    patterns = [layer.pattern for layer in layers if layer.pattern is not None]
    if layers and len(patterns) == len(layers):
        caption = (
            "Where cross-patch weights are on the grid, by layer: local support, shifted versions of one filter, "
            "support along both axes, and a spike at the patch itself."
        )
        yield Plate("cross_patch_patterns.svg", caption, _draw_patterns(patterns))
    if inspection.gates:
        caption = "Share of W that the nearest Toeplitz matrix has, by layer."
        yield Plate("toeplitz.svg", caption, _draw_toeplitz(inspection.gates))
    if inspection.blocks:
        caption = "How steep each AMLP module is: the slopes of its AGeLUs, and bounds on its Lipschitz constant."
        yield Plate("slopes.svg", caption, _draw_slopes(inspection.blocks))


def _draw_sparsity(layers: Sequence[CrossPatchLayer]) -> Figure:
    figure, (axes,) = _ONE.page(1, 1)
    for at, letter in enumerate(one.matrix for one in layers[0].sparsity):
        rates = [next((one.rate for one in layer.sparsity if one.matrix == letter), None) for layer in layers]
        _draw_line(axes, [None if rate is None else 100 * rate for rate in rates], at, letter)
    _label_layers(axes, "weights below 5 % of the maximum, %")
    axes.set_ylim(0, 100)
    figure.legend(loc="lower center", ncols=4, frameon=False)
    return figure


def _draw_patterns(patterns: Sequence[Pattern]) -> Figure:
    first = patterns[0]
    panels: list[tuple[str, str, Heights, float, float | None]] = [
        (
            "local support",
            f"share within {first.radius or 0} patches",
            [one.local for one in patterns],
            0.5,
            first.local_by_chance,
        ),
        (
            "shifted versions of one filter",
            "share of that filter",
            [one.shifted for one in patterns],
            0.5,
            first.shifted_by_chance,
        ),
        ("support along both axes", "times the even spread", [one.axes for one in patterns], 2.0, 1.0),
        ("spike at the patch itself", "share of the rows", [one.spiked for one in patterns], 0.5, None),
    ]
    figure, places = _FOUR.page(len(panels), 2)
    for axes, (title, label, heights, threshold, chance) in zip(places, panels, strict=True):
        _draw_line(axes, heights, 0, "measured")
        _draw_levels(axes, threshold, chance)
        _label_layers(axes, label)
        axes.set_title(title)
        axes.set_ylim(0, 1.05 * max([1.0, threshold, *(height for height in heights if height is not None)]))
    figure.legend(*places[0].get_legend_handles_labels(), loc="lower center", ncols=3, frameon=False)
    return figure


def _draw_toeplitz(gates: Sequence[GateMatrix]) -> Figure:
    figure, (axes,) = _ONE.page(1, 1)
    _draw_line(axes, [gate.toeplitz for gate in gates], 0, "Toeplitz")
    blocks = gates[0].blocks_by_chance
    if blocks is not None:
        _draw_line(axes, [gate.blocks for gate in gates], 1, "Toeplitz on the grid of patches")
    _draw_levels(axes, 0.5, gates[0].toeplitz_by_chance if blocks is None else blocks)
    _label_layers(axes, "share of W's squared numbers")
    axes.set_ylim(0, 1.02)
    figure.legend(loc="lower center", ncols=4, frameon=False)
    return figure


def _draw_slopes(blocks: Sequence[AmlpModule]) -> Figure:
    figure, (upper, lower) = _TWO.page(2, 1)
    upper.axhspan(GELU.low, GELU.high, color="black", alpha=0.1, linewidth=0, label="GeLU")
    for which, name in enumerate(("AGeLU", "AGeLU'")):
        at = [layer + 0.16 * (2 * which - 1) for layer in range(1, len(blocks) + 1)]
        low, high = zip(*(block.slopes[which] for block in blocks), strict=True)
        upper.vlines(at, low, high, color=COLOURS[which], linewidth=4, alpha=0.8, label=f"{name}, all units")
    _label_layers(upper, "slope")
    _draw_line(lower, [block.norms for block in blocks], 0, "at most: product of spectral norms")
    _draw_line(lower, [block.gradient for block in blocks], 1, "at least: gradient at 0")
    _label_layers(lower, "Lipschitz constant")
    lower.set_yscale("log")
    lower.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    lower.yaxis.set_major_formatter(FuncFormatter(lambda height, _: f"{height:g}"))
    lower.yaxis.set_minor_formatter(NullFormatter())
    for axes in (upper, lower):
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, frameon=False)
    return figure


def _draw_line(axes: Axes, heights: Heights, at: int, label: str | None) -> None:
    """Draw one number a layer, with a gap for a layer that has none."""
    y = [float("nan") if height is None else height for height in heights]
    axes.plot(
        range(1, len(y) + 1), y, color=COLOURS[at], marker=_MARKERS[at], markersize=3.5, linewidth=1.2, label=label
    )


def _draw_levels(axes: Axes, threshold: float, chance: float | None) -> None:
    axes.axhline(threshold, color="0.2", linewidth=0.9, linestyle="--", label="threshold")
    if chance is not None:
        axes.axhline(chance, color=_CHANCE, linewidth=0.9, linestyle=":", label="by chance")


def _label_layers(axes: Axes, label: str | None) -> None:
    axes.grid(alpha=0.25)
    axes.set_xlabel("layer")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    if label is not None:
        axes.set_ylabel(label)
