"""Measures everything that is examined in the weights of a checkpoint, and draws it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from imlp_audit.inspect.agelu import summarise_coefficients
from imlp_audit.inspect.blocks import measure_modules
from imlp_audit.inspect.cross_patch import measure_layer
from imlp_audit.inspect.gates import measure_gate
from imlp_audit.inspect.parts import CheckpointParts, State
from imlp_audit.records.inspection import Inspection
from imlp_audit.report.figures.canvas import drawing_style

if TYPE_CHECKING:
    from imlp_audit.inspect.plot_page import Drawing


def measure_parts(parts: CheckpointParts, state: State) -> Inspection:
    """Measure the parts that were found in a state; what cannot be used is noted. Never raises."""
    blocks, without_slopes = measure_modules(state, parts.agelus)
    return Inspection(
        agelus=tuple(map(summarise_coefficients, parts.agelus)),
        blocks=blocks,
        cross_patch=tuple(measure_layer(one, parts.side(one.patches)) for one in parts.mixing),
        gates=tuple(measure_gate(one, parts.side(one.tokens)) for one in parts.gates),
        left_out=parts.left_out + without_slopes,
    )


def draw(parts: CheckpointParts, inspection: Inspection, label: str) -> tuple[Drawing, ...]:
    """Draw everything that there is to draw, with the checkpoint's name; the same weights give the same bytes."""
    from imlp_audit.inspect import plot_agelu, plot_layers, plot_matrices

    with drawing_style():
        plates = (
            *plot_matrices.draw_cross_patch(parts),
            *plot_matrices.draw_gates(parts.gates, inspection.gates),
            *plot_agelu.draw_agelus(parts.agelus),
            *plot_layers.draw_layers(inspection),
        )
        return tuple(plate.draw(label) for plate in plates)
