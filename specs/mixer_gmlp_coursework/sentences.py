"""What the course work on gMLP says about learned weights."""

from __future__ import annotations

from imlp_audit.inspect.sentences import Judgement, Undecided, above_half, format_number, sentence
from imlp_audit.records.inspection import Inspection


@sentence(about="gates")
def gates_are_toeplitz(inspection: Inspection) -> Judgement | Undecided:
    """Было эмпирически замечено, что gMLP всегда выучивает матрицу W в функции f(·) (SGU) подобной Тёплицевой матрице.

    Place: Sec. 3.3

    Measured: share of W's squared numbers that the nearest Toeplitz matrix has, the mean of each diagonal; of an image
    the nearest one of Toeplitz blocks in Toeplitz order, where shifts are those of the grid

    True if: More than one half in every layer: the sentence says always. One half is where what is named has more than
    all the rest together.
    """
    gates = inspection.gates
    if any(gate.constrained for gate in gates):
        return Undecided("this is a tMLP: its W is a Toeplitz matrix by construction, nothing is learned")
    shares = [gate.toeplitz if gate.blocks is None else gate.blocks for gate in gates]
    holds = [above_half(share) for share in shares]
    chance = gates[0].toeplitz_by_chance if gates[0].blocks_by_chance is None else gates[0].blocks_by_chance
    least = format_number(min((share for share in shares if share is not None), default=None))
    return Judgement(
        all(holds),
        f"{sum(holds)} of {len(gates)} layers, the least {least}; {format_number(chance)} by chance",
        shares,
    )
