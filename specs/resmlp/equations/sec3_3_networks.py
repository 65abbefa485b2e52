"""Sec. 3.3, 3.4 and Appendix A: the networks of the ablations, from the images to the labels."""

from __future__ import annotations

from dataclasses import replace

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, claim
from imlp_audit.errors import BuildError
from imlp_audit.models.blocks import Communication, Nonlinearity, Norm, Pooling
from imlp_audit.models.reading import ResMlpForm

from ._network import Network, networks
from ._network_stages import check

_FORMS, _POOLINGS, _SEEDS = st.sampled_from(ResMlpForm), st.sampled_from(Pooling), st.integers(0, 99)
_EXCHANGES = (
    Network(communication=Communication.NONE),
    Network(communication=Communication.NONE, scales_stay=True),
    Network(communication=Communication.LINEAR),
    Network(communication=Communication.MLP),
    Network(communication=Communication.MLP, expansion=0.25),  # one hidden unit
    Network(communication=Communication.MLP, expansion=1),
    Network(communication=Communication.CONV, grid=(4, 5)),
    Network(communication=Communication.DEPTHWISE, grid=(3, 4)),
    Network(communication=Communication.SEPARABLE, grid=(4, 3)),
)


@claim(
    st.builds(replace, st.sampled_from(_EXCHANGES), form=_FORMS, seed=_SEEDS),
    share=0.18,
)
def network_communications(net: Network, arithmetic: Arithmetic) -> Trial:
    """In every layer the cross-patch sublayer is replaced by another: an MLP across the patches, a 3 x 3 convolution of
    the grid of patches, full, depth-wise or depth-separable, or nothing.

    Read as: the MLP has four times as many hidden units as there are patches, or as often as an expansion says; beyond
    the grid are zeros; depth-separable is depth-wise and then 1 x 1; all have biases where the linear layer has one.
    With nothing in its place, what stands before and after the linear layer goes with it or stays.

    Place: Sec. 3.3, Communication across patches, and Table 3, Patch communication
    Printed: We have tried several alternatives for the cross-patch sublayer, which are presented in Table 3 (block
        "patch communication"); we replaced the linear layer with different types of 3 x 3 convolutions
    Bound: of each layer, that of Eq. 2 with the sums of what replaces A, and then that of Eq. 3
    """
    # Hold each stage of the package's network against its formula.
    return check(net, arithmetic)


_TOO_LARGE = (
    Network(communication=Communication.MLP, expansion=0.125),  # of six patches
    *(
        Network(communication=convolution, grid=grid)
        for convolution in (Communication.CONV, Communication.DEPTHWISE, Communication.SEPARABLE)
        for grid in ((2, 3), (3, 2))
    ),
)


@claim(st.builds(replace, st.sampled_from(_TOO_LARGE), form=_FORMS), share=0.14)
def network_communications_that_fit(net: Network, _: Arithmetic) -> Trial:
    """An MLP across N patches needs a hidden unit, e N >= 1, and a 3 x 3 convolution a grid of at least 3 x 3 patches.

    Read as: the package refuses to build a network with a smaller one.

    Place: Appendix A, Ablation on the size of the communication MLP, and Sec. 3.3, Communication across patches
    Corrected: linear N x e x N - GELU - linear e x N x N with e N >= 1; 3 x 3 convolutions on N >= 9 patches
    Bound: none: a network is built or it is not
    """
    # Try to build a network that is too small.
    try:
        net.fresh()
    except BuildError:
        return Trial(True)
    return Trial(False, {**net.shown(), "is built": True})


@claim(
    networks(
        form=_FORMS,
        pooling=_POOLINGS,
        norm=st.sampled_from(Norm),
        communication=st.sampled_from((Communication.LINEAR, Communication.NONE)),
        width=st.just(3),
        seed=_SEEDS,
    ),
    share=0.32,
)
def network_norms(net: Network, arithmetic: Arithmetic) -> Trial:
    """Other normalizations stand wherever Aff does as a pre-normalization: before each sublayer, before each part of a
    class-MLP layer, and where Algorithm 1 has its last Aff.

    Read as: LayerNorm of each patch's channels, with CaiT's epsilon, 1e-6; BatchNorm of each channel by its running
    mean and variance; l2 of each patch's channels, without a learned scale.

    Place: Appendix A, Normalization, and Table 3, Normalization
    Printed: On top of our MLP baseline, we have tested different variations for normalization layers
    Bound: of each layer, that of two normalizations and that of Eq. 2 and 3
    """
    # Hold each stage of the package's network against its formula.
    return check(net, arithmetic)


@claim(networks(form=_FORMS, pooling=_POOLINGS, norm=st.just(Norm.BATCH), seed=_SEEDS), share=0.04)
def network_batch_norm_in_training(net: Network, arithmetic: Arithmetic) -> Trial:
    """In training, BatchNorm normalizes each channel by its mean and variance over all patches of all images.

    Place: Appendix A, Normalization
    Printed: On top of our MLP baseline, we have tested different variations for normalization layers
    Bound: of each layer, that of two normalizations and that of Eq. 2 and 3
    """
    # Hold each stage of the package's network, in training, against its formula.
    return check(net, arithmetic, training=True)


@claim(
    networks(
        form=_FORMS,
        pooling=st.just(Pooling.CLASS_MLP),
        nonlinearity=st.sampled_from(Nonlinearity),
        communication=st.sampled_from((Communication.MLP, Communication.NONE)),
        seed=_SEEDS,
    ),
    share=0.16,
)
def network_nonlinearities(net: Network, arithmetic: Arithmetic) -> Trial:
    """Other nonlinearities stand wherever GELU does: in the MLPs across channels, across patches and of class-MLP.

    Place: Appendix A, Activation, and Sec. 3.4, Normalization & activation
    Printed: We have tried different activations on top of the aforementioned MLP-based baseline
    Bound: that of Eq. 3 with the slope of the nonlinearity in GELU's place
    """
    # Hold each stage of the package's network against its formula.
    return check(net, arithmetic)
