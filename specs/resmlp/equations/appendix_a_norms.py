"""Appendix A, Normalization: the pre-normalizations that are compared, and the statistics that they use."""

from __future__ import annotations

import torch

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, claim, equal
from imlp_audit.equations.dependence import depends
from imlp_audit.equations.matrix import dot
from imlp_audit.equations.rounded import Rounded
from imlp_audit.equations.strategies import NUMBERS, Matrix, Vector, nonzero, plain, vectors
from imlp_audit.models.blocks import Norm
from imlp_audit.models.resmlp import PRE_NORMS

_CHANNELS = 3
_STATISTICS = {  # whether of the batch, and whether of the channels
    Norm.AFF: (False, False),
    Norm.LAYER: (False, True),
    Norm.BATCH: (True, False),
    Norm.L2: (False, True),
}
_TOKEN = st.permutations(NUMBERS[1:], _CHANNELS).map(tuple)


@claim(st.tuples(st.sampled_from(Norm), st.tuples(_TOKEN, _TOKEN, _TOKEN)))
def appendix_norms_and_their_statistics(case: tuple[Norm, Matrix], arithmetic: Arithmetic) -> Trial:
    """Of the four pre-normalizations that are compared, Aff alone depends on no statistics: BatchNorm depends on those
    of the batch, LayerNorm and l2, which divides by the l2 norm of a token's channels, on those of the channels.

    Read as: in training, an output has a derivative by another sample, or by another channel of its own.

    Place: Appendix A, Normalization
    Printed: For the sake of simplicity, we therefore adopted only the Aff transformation so as to not depend on any
        batch or channel statistics
    Bound: none: a derivative is exactly zero or it is not
    """
    # Look for derivatives by other samples and by other channels, and hold both against the normalization's kind.
    norm, tokens = case
    links = depends(arithmetic.place(PRE_NORMS[norm](_CHANNELS)).train(), arithmetic.tensor([[row] for row in tokens]))
    between = links.any(5).any(4).any(2).any(1)
    own = torch.eye(len(tokens), dtype=torch.bool, device=between.device)
    within = links[own.nonzero()[:, 0], 0, :, own.nonzero()[:, 1], 0].any(0)
    channels = torch.eye(_CHANNELS, dtype=torch.bool, device=within.device)
    found = bool((between & ~own).any()), bool((within & ~channels).any())
    return Trial(found == _STATISTICS[norm], {"norm": norm.value, "x": tokens, "of batch, of channels": found})


def _short() -> st.Strategy[Vector]:
    """Tokens of which some are short, though none is as short as 1e-12, by which torch divides at least."""
    tokens, scales = plain(vectors(_CHANNELS, nonzero())), st.sampled_from((1.0, 2.0**-10, 2.0**-30))
    return st.builds(lambda x, scale: tuple(scale * number for number in x), tokens, scales)


@claim(_short())
def appendix_l2_norm(x: Vector, arithmetic: Arithmetic) -> Trial:
    """The pre-normalization l2 of the table divides a token by the l2 norm of its channels, without a learned scale.

    Read as: the row names the norm alone; the layer that it stands in is CaiT's, with LayerScale after each sublayer.

    Place: Appendix A, Normalization, the row "l2"
    Corrected: l2(x) = x / ||x||_2
    Bound: gamma_{d+1} of the squares, through the root's slope, and 4 u for a root and a division
    """
    # Hold the package's module against the formula.
    numbers = arithmetic.vector(x)
    norm = dot(numbers, numbers).square_root()
    printed = [number * _reciprocal(norm) for number in numbers]
    return equal(arithmetic.place(PRE_NORMS[Norm.L2](_CHANNELS))(arithmetic.tensor(x)), printed, x=x)


def _reciprocal(x: Rounded) -> Rounded:
    least = x.value - x.error
    return x.through(lambda value: 1 / value, 1 / least**2, 4 * x.unit / least)
