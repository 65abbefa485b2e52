"""Sec. 4.3 and 5.2, Fig. 4 and Table 2: the IMLP in every way that the text can be read, and its parts alone."""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, claim
from imlp_audit.models.blocks import Part

from ._block_cases import block_cases
from ._block_formula import Filled, filled


@claim(filled(block_cases(None, Part.CHANNEL_AND_SPATIAL)))
def fig4_readings(case: Filled, arithmetic: Arithmetic) -> Trial:
    """The package's IMLP is Fig. 4 in every reading, in every layout and with any of its arguments: a fully-connected
    layer, two AGeLUs whose outputs are concatenated, the depthwise block on the grid, a second fully-connected layer.

    Read as: the text leaves open whether a layer has a bias, whether an AGeLU has coefficients for each channel or for
    the layer, which norms follow the concatenation and the second layer, and the depthwise block's bias, norm,
    activation and skip; every answer is tried. With several base activations, with GeLU in place of AGeLU (Table
    3), and with kernels of 1, 3 and 5. Tokens before the grid pass the depthwise block by; tokens that form no grid are
    refused. Norms are in evaluation and add 10^-5 to the variance; dropout acts behind the activation and behind the
    second layer.

    Place: Sec. 4.3, Fig. 4 (b)
    Printed: The channel-wise enhancement part includes the AGeLU function and concatenation operation. The spatial-wise
        enhancement part includes a depthwise block
    Bound: the running error bound of the formula (rounded.py), with the slopes and errors of phi as functions.py and of
        layer normalisation as functions_norm.py derives them
    """
    return case.trial(arithmetic)


@claim(filled(block_cases(Part.CHANNEL)))
def table2_channel(case: Filled, arithmetic: Arithmetic) -> Trial:
    """The package's IMLP with the channel-wise part alone is the AMLP of Eq. 5 in every reading, layout and with any of
    its arguments.

    Read as: as in fig4_readings; what remains is Fig. 4 without its depthwise block.

    Place: Sec. 5.2 on Table 2, row w/ channel
    Printed: In Tab. 2 we separately use channel-wise and spatial-wise enhancement parts in the IMLP module
    Bound: the running error bound of the formula (rounded.py), with the slopes and errors of phi as functions.py and of
        layer normalisation as functions_norm.py derives them
    """
    return case.trial(arithmetic)


@claim(filled(block_cases(Part.SPATIAL)))
def table2_spatial(case: Filled, arithmetic: Arithmetic) -> Trial:
    """The package's IMLP with the spatial-wise part alone is an MLP with a depthwise block behind its activation, in
    every reading, layout and with any of its arguments.

    Read as: as in fig4_readings. Without the channel-wise part nothing is concatenated, so that no norm follows a
    concatenation, and the second layer reads as many numbers as the first one gives. The activation is GeLU unless
    another one is given.

    Place: Sec. 5.2 on Table 2, row w/ spatial
    Printed: When using spatial-wise enhancement alone, we replace the channel-wise enhancement part with the original
        GeLU activation function
    Bound: the running error bound of the formula (rounded.py), with the slopes and errors of phi as functions.py and of
        layer normalisation as functions_norm.py derives them
    """
    return case.trial(arithmetic)
