"""What IMLP and the course work on gMLP say about learned weights, held against those of a checkpoint."""

from __future__ import annotations

from collections.abc import Sequence

from imlp_audit.inspect.statements import HALF, Sentence, above_half, number
from imlp_audit.records.inspection import AmlpModule, GateMatrix, Statement

TOEPLITZ = Sentence(
    "gates_are_toeplitz", "mixer_gmlp_coursework", "Sec. 3.3",
    "Было эмпирически замечено, что gMLP всегда выучивает матрицу W в функции f(·) (SGU) подобной Тёплицевой матрице.",
    "share of W's squared numbers that the nearest Toeplitz matrix has, the mean of each diagonal; of an image the "
    "nearest one of Toeplitz blocks in Toeplitz order, where shifts are those of the grid",
    f"More than one half in every layer: the sentence says always. {HALF}.",
)  # fmt: skip
DIFFERENT = Sentence(
    "two_agelus_differ", "imlp", "Sec. 4.1, after Eq. 5",
    "AGeLU(·) and AGeLU'(·) are two nonlinear functions proposed in Eq. 4 with different parameters",
    "share of the units whose two AGeLUs differ in alpha, beta, gamma or theta",
    "Above 0 in every block. Both start as GeLU (all 1 and 0), so equal ones have learned nothing.",
)  # fmt: skip


def toeplitz(gates: Sequence[GateMatrix], *, whole: bool) -> Statement:
    """Judge whether every gate's W is like a Toeplitz matrix."""
    if not whole:
        return TOEPLITZ.unverifiable("some gates could not be looked at; the notes say which and why")
    if any(gate.constrained for gate in gates):
        return TOEPLITZ.unverifiable("this is a tMLP: its W is a Toeplitz matrix by construction, nothing is learned")
    shares = [gate.toeplitz if gate.blocks is None else gate.blocks for gate in gates]
    holds = [above_half(share) for share in shares]
    chance = gates[0].toeplitz_by_chance if gates[0].blocks_by_chance is None else gates[0].blocks_by_chance
    least = number(min((share for share in shares if share is not None), default=None))
    told = f"{sum(holds)} of {len(gates)} layers, the least {least}; {number(chance)} by chance"
    return TOEPLITZ.found(all(holds), told, [gate.name for gate in gates], shares)


def different(blocks: Sequence[AmlpModule], *, whole: bool) -> Statement:
    """Judge whether the two AGeLUs of every block differ."""
    if not whole:
        return DIFFERENT.unverifiable("some blocks could not be looked at; the notes say which and why")
    shares = [block.different / block.hidden for block in blocks]
    told = f"{sum(share > 0 for share in shares)} of {len(blocks)} blocks; the least share {min(shares):.1%}"
    return DIFFERENT.found(all(shares), told, [block.name for block in blocks], shares)
