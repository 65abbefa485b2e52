"""How Toeplitz the matrix of a spatial gating unit is (gMLP)."""

from __future__ import annotations

from imlp_audit.inspect.found import GateFound
from imlp_audit.inspect.numbers import Matrix, array
from imlp_audit.inspect.toeplitz import block_toeplitz_share, by_chance, diagonals, toeplitz_share
from imlp_audit.records.inspection import GateMatrix


def gate(found: GateFound, side: int | None) -> GateMatrix:
    """Measure a gate's W; `side` is that of the grid of patches, None for texts."""
    matrix, tokens = spatial(found), found.tokens
    return GateMatrix(
        name=found.name,
        tokens=tokens,
        constrained=found.weight.ndim == 1,
        toeplitz=toeplitz_share(matrix),
        toeplitz_by_chance=by_chance(2 * tokens - 1, tokens),
        blocks=None if side is None else block_toeplitz_share(matrix, side),
        blocks_by_chance=None if side is None else by_chance((2 * side - 1) ** 2, tokens),
    )


def spatial(found: GateFound) -> Matrix:
    """Return W (n, n); of a tMLP from its diagonals, w[i - j] first that of the upper right corner."""
    weight = array(found.weight)
    return weight if found.weight.ndim == 2 else weight[diagonals(found.tokens).T]
