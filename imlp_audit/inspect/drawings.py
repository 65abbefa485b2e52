"""All drawings of what was found in a checkpoint's weights."""

from __future__ import annotations

from collections.abc import Iterator

from imlp_audit.inspect import drawn_agelu, drawn_curves, drawn_images
from imlp_audit.inspect.canvas import Drawing, style
from imlp_audit.inspect.found import Found
from imlp_audit.records.inspection import Inspection


def draw(found: Found, inspection: Inspection) -> tuple[Drawing, ...]:
    """Draw everything that there is to draw; the same weights give the same bytes."""
    with style():
        return tuple(_drawn(found, inspection))


def _drawn(found: Found, inspection: Inspection) -> Iterator[Drawing]:
    yield from drawn_images.rows(found)
    yield from drawn_images.gates(found.gates, inspection.gates)
    yield from drawn_agelu.drawings(found.agelus)
    yield from drawn_curves.drawings(inspection)
