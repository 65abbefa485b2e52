"""Sec. 3.1 and 3.4: blocks of gMLP and aMLP with all that the formulas leave out."""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Proof, Trial, claim, equal
from imlp_audit.equations.strategies import plain, vectors

from ._full_block import FullBlock, full_blocks

_PROOF = Proof("all numbers and any activation", FullBlock.sizes, cases=full_blocks(vectors(2)))


@claim(full_blocks(), share=0.5, proof=_PROOF)
def gmlp_norms_and_shifts(case: FullBlock, arithmetic: Arithmetic) -> Trial:
    """A gMLP block has biases, norms over channels and a skip, which the formulas leave out.

    Read as: a LayerNorm, with any learned scale and shift, before U and one of Z_2 before f; a bias of U and of V.

    Place: Sec. 3.1, after s(Z) = Z_1 * f(Z_2)
    Printed: Также в данной архитектуре используются сдвиги, нормировки по каналам и механизмы пробрасывания связей,
        которые ранее не были выписаны, чтобы не загромождать формулы
    Bound: that of both LayerNorms (functions_norm.py), carried through GELU, its largest slope, and three projections
    """
    # Hold the package's block against the formulas with all that they leave out.
    return equal(case.output(arithmetic, attention=False), case.printed(arithmetic, attention=False), **case.shown())


@claim(plain(full_blocks()), share=0.5, proof=_PROOF)
def amlp_block(case: FullBlock, arithmetic: Arithmetic) -> Trial:
    """An aMLP block adds the tiny attention to the gate: s(Z) = Z_1 * (f(Z_2) + attention(X)).

    Read as: the attention is that of the block's normed input, with d_attn = 1, as Fig. 4 shows it.

    Place: Sec. 3.4, Fig. 4
    Corrected: Y = (Z_1 * (f(norm(Z_2)) + tiny_attn(norm(X), D_C / 2))) V + X, Z = GELU(norm(X) U)
    Bound: that of both LayerNorms (functions_norm.py), carried through GELU and the softmax (functions_softmax.py), and
        of the projections
    """
    # Hold the package's block against the figure.
    return equal(case.output(arithmetic, attention=True), case.printed(arithmetic, attention=True), **case.shown())
