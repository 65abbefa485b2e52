"""Matrices as images: the rows of cross-patch matrices on the grid of patches (ResMLP, Fig. 2), and gates' W."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isqrt

import numpy as np
from matplotlib import colormaps
from matplotlib.figure import Figure

from imlp_audit.inspect.arrays import Matrix, to_array
from imlp_audit.inspect.cross_patch import cross_patch_matrix
from imlp_audit.inspect.gates import spatial_matrix
from imlp_audit.inspect.parts import CheckpointParts, GatePart, MixingPart
from imlp_audit.inspect.plot_page import Plate, Sheet, page_file, pages, shorten
from imlp_audit.records.inspection import GateMatrix

_SHOWN = 6  # rows of the central 6 x 6 patches; images of all rows would be too small
_PANELS = 12  # a page
_COLUMNS = 4
_SHEET = Sheet(panel=(2.8, 2.8), gaps=(0.15, 0.5), left=0.15, right=1.3, bottom=0.4, top=0.5)


@dataclass(frozen=True)
class _Panel:
    """An image and its title; NaN separates the small images in it."""

    title: str
    image: Matrix


def draw_cross_patch(parts: CheckpointParts) -> Iterator[Plate]:
    """Draw the rows of every layer's cross-patch matrix that belong to the central patches, and W1 of an MLP."""
    on_grid = [(one, side) for one in parts.mixing if (side := parts.side(one.patches)) is not None]
    layers = [_Panel(one.name, mosaic(m, side)) for one, side in on_grid if (m := cross_patch_matrix(one)) is not None]
    mlp = any(len(one.across) > 1 for one in parts.mixing)
    matrix = "the derivative at 0 of the MLP across patches" if mlp else "A"
    caption = (
        f"Rows of {matrix} as images of the grid of patches. Each small image is a row: what one patch takes from "
        f"every patch. Shown are the rows of the central {_SHOWN} x {_SHOWN} patches, where they stand in the grid."
    )
    note = "each small image: the weights that one patch has for every patch of the grid, where they stand"
    yield from _draw_pages(layers, "cross_patch_rows", caption, note)
    units = [_Panel(one.name, unit_mosaic(one, side)) for one, side in on_grid if len(one.across) > 1]
    caption = f"Rows of W1 as images of the grid of patches: what each of the first {_SHOWN**2} hidden units takes."
    note = "each small image: the weights that one hidden unit has for every patch of the grid, where they stand"
    yield from _draw_pages(units, "token_mixing_units", caption, note)


def draw_gates(parts: Sequence[GatePart], measured: Sequence[GateMatrix]) -> Iterator[Plate]:
    """Draw every gate's W."""
    panels = [
        _Panel(f"{part.name}, {_write_share(gate)}", spatial_matrix(part))
        for part, gate in zip(parts, measured, strict=True)
    ]
    caption = (
        "W of the spatial gating units: row i is what token i takes from each token. Toeplitz matrices are striped."
    )
    yield from _draw_pages(panels, "gates", caption, "down: the token that is written; across: the token that is read")


def mosaic(matrix: Matrix, side: int) -> Matrix:
    """Return the rows of the central patches as images, placed like their patches, with NaN between them."""
    shown = min(_SHOWN, side)
    first = (side - shown) // 2
    central = [(first + down) * side + first + right for down in range(shown) for right in range(shown)]
    return _tile(matrix[central].reshape(shown, shown, side, side))


def unit_mosaic(part: MixingPart, side: int) -> Matrix:
    """Return the first rows of W1 as images side by side."""
    weights = to_array(part.across[0].values)
    shown = min(_SHOWN, isqrt(len(weights)))
    return _tile(weights[: shown * shown].reshape(shown, shown, side, side))


def _tile(images: Matrix) -> Matrix:
    """Return images (rows, columns, side, side) as one, with a line of NaN around each."""
    down, across, side, _ = images.shape
    framed = np.full((down, across, side + 1, side + 1), np.nan)
    framed[:, :, 1:, 1:] = images
    tiled = framed.transpose(0, 2, 1, 3).reshape(down * (side + 1), across * (side + 1))
    return np.pad(tiled, ((0, 1), (0, 1)), constant_values=np.nan)


def _draw_pages(panels: Sequence[_Panel], name: str, caption: str, note: str) -> Iterator[Plate]:
    for first, page in pages(panels, _PANELS):
        yield Plate(page_file(name, first, _PANELS, "png"), caption, _draw_page(first, page, note))


def _draw_page(first: int, panels: Sequence[_Panel], note: str) -> Figure:
    """Draw a page of panels, each on its own scale and all with one bar of colours; the note says how to read them."""
    figure, places = _SHEET.page(len(panels), _COLUMNS)
    colours = colormaps["RdBu_r"].with_extremes(over="black", under="#00a000")
    for at, (axes, panel) in enumerate(zip(places, panels, strict=True), start=first):
        scale = _find_scale(panel.image)
        drawn = axes.imshow(panel.image / scale, cmap=colours, vmin=-1, vmax=1, interpolation="nearest")
        axes.set(title=f"layer {at}: {shorten(panel.title)}\nscale ±{scale:.2g}", xticks=[], yticks=[])
        axes.set_facecolor("0.55")
    width, height = figure.get_size_inches()
    tall = min(_SHEET.panel[1], 0.8 * height)  # the bar is as high as a panel
    place = (1 - (_SHEET.right - 0.25) / width, (1 - tall / height) / 2, 0.12 / width, tall / height)
    bar = figure.colorbar(drawn, cax=figure.add_axes(place), extend="both")
    bar.set_label("weight / scale of its layer\n(beyond: black is +, green is −)")
    figure.text(_SHEET.left / width, 0.1 / height, note)
    return figure


def _find_scale(image: Matrix) -> float:
    """Return 1.5 times the 99th percentile of the absolute values: a spike stands out, and does not hide the rest."""
    size = np.abs(image[np.isfinite(image)])
    return 1.5 * float(np.quantile(size, 0.99)) or float(size.max()) or 1.0


def _write_share(gate: GateMatrix) -> str:
    share = gate.toeplitz if gate.blocks is None else gate.blocks
    return "all 0" if share is None else f"{share:.0%} Toeplitz"
