"""How steep an AMLP module can be: two cheap bounds. `imlp-audit lipschitz` computes that of Theorem 1."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, nextafter, sqrt

import numpy as np

from imlp_audit.checkpoint.names import AGELUS_OF_BLOCK
from imlp_audit.checkpoint.refusal import escape_name
from imlp_audit.equations.lipschitz.branches import Branch, blocks_in, branches
from imlp_audit.equations.lipschitz.slopes import GELU
from imlp_audit.errors import CheckpointError
from imlp_audit.inspect.agelu import coefficients, find_slopes, gelu_slope
from imlp_audit.inspect.arrays import Matrix
from imlp_audit.inspect.parts import MOST_LAYERS, AgeluPart, State, layer_order, name_module
from imlp_audit.records.inspection import AmlpModule

_UNIT = 2.0**-53


def measure_modules(state: State, agelus: Sequence[AgeluPart]) -> tuple[tuple[AmlpModule, ...], tuple[str, ...]]:
    """Return the AMLP modules of a state in the order of its layers, and which are left out and why."""
    by_name = {part.name: part for part in agelus}
    blocks, left_out = [], []
    for path in sorted(blocks_in(state), key=layer_order)[:MOST_LAYERS]:
        prefix = f"{path}." if path else ""
        own = [
            by_name[name] for ends in AGELUS_OF_BLOCK for end in ends if (name := name_module(prefix + end)) in by_name
        ]
        if len(own) != 2:
            left_out.append(f"{name_module(prefix)} has no slopes: its two AGeLUs were not both found")
            continue
        try:
            blocks.append(_measure_module(branches(state, path), name_module(prefix), own))
        except CheckpointError as error:
            left_out.append(f"{name_module(prefix)} has no slopes: {escape_name(str(error))}")
    return tuple(blocks), tuple(left_out)


def _measure_module(pair: tuple[Branch, Branch], name: str, agelus: Sequence[AgeluPart]) -> AmlpModule:
    hidden, width = pair[0].inner.shape
    one, other = agelus
    first, second = (np.stack([np.broadcast_to(v, (hidden,)) for v in coefficients(agelu)]) for agelu in agelus)
    return AmlpModule(
        name=name,
        width=width,
        hidden=hidden,
        different=int(np.count_nonzero((first != second).any(axis=0))),
        slopes=(find_slopes(one), find_slopes(other)),
        norms=bound_of_norms(pair),
        gradient=gradient_at_zero(pair),
    )


def bound_of_norms(pair: tuple[Branch, Branch]) -> float:
    """Return GeLU's steepest slope times the norms of both weights, rounded up.

    It is the smaller of two bounds: the sum over the branches, and both branches as one of twice the units.
    """
    inner = [branch.inner.T @ branch.inner for branch in pair]
    outer = [branch.outer @ branch.outer.T for branch in pair]
    terms = 2 * max(pair[0].inner.shape + pair[0].outer.shape)
    apart = sum(_norm(i, terms) * _norm(o, terms) for i, o in zip(inner, outer, strict=True))
    together = _norm(inner[0] + inner[1], terms) * _norm(outer[0] + outer[1], terms)
    return nextafter(GELU.high * min(apart, together) * (1 + 8 * _UNIT), inf)


def gradient_at_zero(pair: tuple[Branch, Branch]) -> float:
    """Return the spectral norm of the module's Jacobian at 0."""
    jacobian = np.add(*(branch.outer @ (gelu_slope(branch.shift)[:, None] * branch.inner) for branch in pair))
    return sqrt(max(0.0, float(np.linalg.eigvalsh(jacobian.T @ jacobian)[-1])))


def _norm(gram: Matrix, terms: int) -> float:
    """Return the spectral norm of W from W^T W, a sum of so many terms, rounded up.

    The product is off by at most terms * unit * |W|^T |W|, whose norm is at most the trace. LAPACK's eigenvalues are
    off by less than that. The margin is four times both.
    """
    margin = 8 * terms * _UNIT * float(np.trace(gram))
    return sqrt(max(0.0, float(np.linalg.eigvalsh(gram)[-1])) + margin)
