"""Sec. 2.1: the whole network."""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Proof, Trial, claim, equal
from imlp_audit.equations.strategies import plain

from ._classifier import Classifier, classifiers


@claim(
    plain(classifiers()),
    share=0.5,
    proof=Proof("all numbers", lambda case: {"S": len(case.image[0]), "C": len(case.scale), "block": len(case.blocks)}),
)
def mixer_classifier(case: Classifier, arithmetic: Arithmetic) -> Trial:
    """The package's network around the blocks gives every image the weights of the classes: patches, the blocks one
    after the other, and a linear layer.

    Read as: the linear layer is that of the average over the patches after a last LayerNorm, as in arXiv 2105.01601; in
    place of the blocks, whose claims are others, stand two matrices.

    Place: Sec. 2.1, after the description of both steps
    Printed: На выходе используется стандартный линейный слой классификации, который каждому изображению сопоставляет
        веса классов.
    Bound: gamma of the products of the projections, LayerNorm's (functions_norm.py), and gamma of the mean and the head
    """
    # Hold the package's network against its steps, one after the other.
    return equal(case.output(arithmetic), case.printed(arithmetic), **case.shown())
