"""Sec. 2.1: MLP-Mixer as a whole, from its sizes on."""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, claim

from ._image_networks import ImageNetwork, mixers


@claim(mixers(), share=0.4)
def mixer_network(case: ImageNetwork, arithmetic: Arithmetic) -> Trial:
    """MLP-Mixer is a projection of the patches, its blocks one after the other, and a classifier.

    Read as: the package's network of one to three layers for images of any size, square or not, in a batch of two; each
    block mixes tokens, then channels, both with weights of their own; biases and norms with any scale and shift; the
    classifier is that of mixer_classifier. A gradient reaches every parameter.

    Place: Sec. 2.1, Fig. 2 and its paragraph
    Printed: MLP-Mixer состоит из блоков, каждый из которых представлен двумя видами уровней: проекция по пространству
        (token-mixing) и по каналам (channel-mixing).
    Bound: that of one block at a time, of what the package's block before it gave: LayerNorm's (functions_norm.py),
        carried through GELU, its largest slope, and the projections
    """
    # Hold every stage of the package's network against its formula.
    return case.judge(arithmetic)
