"""The join: everything that is looked at in the weights of a checkpoint."""

from __future__ import annotations

from collections.abc import Iterator

from imlp_audit.inspect.agelu import learned
from imlp_audit.inspect.found import Found, State, find
from imlp_audit.inspect.gates import gate
from imlp_audit.inspect.mixing import layer
from imlp_audit.inspect.slopes import modules
from imlp_audit.inspect.statements_others import different, toeplitz
from imlp_audit.inspect.statements_resmlp import statements
from imlp_audit.records.inspection import AmlpModule, CrossPatchLayer, GateMatrix, Inspection, Statement


def look(state: State) -> Inspection:
    """Look into the weights of a checkpoint: what is there is measured, what cannot be used is noted. Never raises."""
    return measure(find(state), state)


def measure(found: Found, state: State) -> Inspection:
    """Measure the parts that were found in a state."""
    blocks, without_slopes = modules(state, found.agelus)
    mixing = tuple(layer(one, found.side(one.patches)) for one in found.mixing)
    gates = tuple(gate(one, found.side(one.tokens)) for one in found.gates)
    return Inspection(
        agelus=tuple(learned(one) for one in found.agelus),
        blocks=blocks,
        cross_patch=mixing,
        gates=gates,
        statements=tuple(_statements(mixing, gates, blocks, whole=not (found.left_out or without_slopes))),
        left_out=found.left_out + without_slopes,
    )


def _statements(
    mixing: tuple[CrossPatchLayer, ...], gates: tuple[GateMatrix, ...], blocks: tuple[AmlpModule, ...], *, whole: bool
) -> Iterator[Statement]:
    if mixing:
        yield from statements(mixing, whole=whole)
    if gates:
        yield toeplitz(gates, whole=whole)
    if blocks:
        yield different(blocks, whole=whole)
