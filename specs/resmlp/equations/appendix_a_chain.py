"""Appendix A: the networks on the way from CaiT to ResMLP, from the images to the labels."""

from __future__ import annotations

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, claim
from imlp_audit.models.blocks import Nonlinearity, Norm, Pooling

from ..models import CaitStage
from ._network import networks
from ._network_chain import Chain, ChainFormula
from ._network_stages import check_stages

_PARTS = networks(
    pooling=st.sampled_from((Pooling.CLASS_MLP, Pooling.AVERAGE)),
    norm=st.sampled_from((Norm.LAYER, Norm.AFF)),
    nonlinearity=st.just(Nonlinearity.RELU),
    grid=st.just((1, 2)),
    width=st.just(6),
    seed=st.integers(0, 99),
)


@claim(st.builds(Chain.at, st.sampled_from(CaitStage), _PARTS), share=0.16)
def appendix_chain_of_networks(net: Chain, arithmetic: Arithmetic) -> Trial:
    """CaiT adds positions to the patches and has layers of self-attention and an MLP, and then two layers of
    class-attention; an MLP across the patches replaces self-attention, then class-MLP replaces class-attention, then a
    linear layer replaces that MLP.

    Read as: CaiT's self-attention mixes the heads before and after the softmax; what stands before each part is CaiT's
    LayerNorm or what is tried in its place, and each part has a LayerScale after it; the last norm is before the
    classifier, or before the average of the patches.

    Place: Appendix A, first paragraphs
    Printed: our first design modification was to get rid of the self-attention by replacing it by a residual
        feed-forward network, which takes as input the transposed set of patches instead of the patches; Note that, at
        this stage, we still include LayerScale, a class embedding (in the class-MLP stage) and positional encodings
    Bound: of each layer, that of two normalizations, of softmax, and of the sums and products
    """
    # Hold each stage of the package's network against its formula.
    return check_stages(net, ChainFormula.of(net), arithmetic)
