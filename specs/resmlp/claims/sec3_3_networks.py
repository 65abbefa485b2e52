"""Sec. 3.3, 3.4 and Appendix A: the networks of the ablations, from the images to the labels."""

from dataclasses import replace

import torch
from hypothesis import strategies as st
from torch import Tensor, nn

from imlp_audit.claims import Sides, choice, claim, gradients
from imlp_audit.models.blocks import Communication, Nonlinearity, Norm, Pooling
from imlp_audit.models.imlp import TokenBatchNorm
from imlp_audit.models.new_modules import refuses
from imlp_audit.models.readings import ResMlpForm

from ..models import CaitStage
from ._chain import Chain, ChainFormula, at_stage
from ._network import Formula, Network, Parts, compare, networks

_forms, _poolings = choice("form", *ResMlpForm), choice("pooling", *Pooling)
_exchanges = [
    Parts(communication=Communication.NONE, layers=1),  # by a recipe
    Parts(communication=Communication.NONE, scales_stay=True),
    Parts(communication=Communication.LINEAR),
    Parts(communication=Communication.MLP),
    Parts(communication=Communication.MLP, expansion=0.25),  # one hidden unit
    Parts(communication=Communication.MLP, expansion=1),
    Parts(communication=Communication.CONV, grid=(4, 5), width=10),
    Parts(communication=Communication.DEPTHWISE, grid=(3, 4), width=24),
    Parts(communication=Communication.SEPARABLE, grid=(4, 3), width=12),
]


@claim(
    net=networks(st.builds(replace, choice("network", *_exchanges), form=_forms), training=st.booleans()),
    share=0.3,
    place="Sec. 3.3, Communication across patches, and Table 3, Patch communication",
    printed="We have tried several alternatives for the cross-patch sublayer, which are presented in Table 3 (block "
    '"patch communication"); we replaced the linear layer with different types of 3 x 3 convolutions',
)
def network_communications(net: Network) -> Sides:
    """In every layer the cross-patch sublayer is replaced by another: an MLP across the patches, a 3 x 3 convolution of
    the grid of patches, full, depth-wise or depth-separable, or nothing.

    Read as: the MLP has four times as many hidden units as there are patches, or as often as an expansion says; beyond
    the grid are zeros; depth-separable is depth-wise and then 1 x 1; all have biases where the linear layer has one.
    With nothing in its place, what stands before and after the linear layer goes with it or stays. A grid on which the
    kernel has no room is refused.
    """
    small = (replace(_exchanges[-1], grid=grid) for grid in ((2, 3), (3, 2)))
    return [*compare(net), all(refuses(parts.build) for parts in small)]


@claim(
    net=networks(
        st.builds(
            Parts,
            form=_forms,
            pooling=_poolings,
            norm=choice("norm", *Norm),
            communication=st.sampled_from([Communication.LINEAR, Communication.NONE]),
            width=st.just(3),
        )
    ),
    share=0.3,
    place="Appendix A, Normalization, and Table 3, Normalization",
    printed="On top of our MLP baseline, we have tested different variations for normalization layers",
)
def network_norms(net: Network) -> Sides:
    """Other normalizations stand wherever Aff does as a pre-normalization: before each sublayer, before each part of a
    class-MLP layer, and where Algorithm 1 has its last Aff.

    Read as: LayerNorm of each patch's channels, with CaiT's epsilon, 1e-6; BatchNorm of each channel by its running
    mean and variance; l2 of each patch's channels, without a learned scale.
    """
    return compare(net)


_batch_norms = [Parts(form, pooling, Norm.BATCH) for form in ResMlpForm for pooling in Pooling]
_batch_norms.append(replace(_batch_norms[-1], grid=(14, 14), width=192, layers=1))


def _running(net: nn.Module) -> Tensor:
    """Running mean and variance of each BatchNorm."""
    norms = [module.state_dict() for module in net.modules() if isinstance(module, TokenBatchNorm)]
    return torch.stack([torch.stack([norm["running_mean"], norm["running_var"]]) for norm in norms])


@claim(
    net=networks(choice("network", *_batch_norms), training=True),
    share=0.3,
    place="Appendix A, Normalization",
    printed="On top of our MLP baseline, we have tested different variations for normalization layers",
)
def network_batch_norm_in_training(net: Network) -> Sides:
    """In training, BatchNorm normalizes each channel by its mean and variance over all patches of all images."""
    formula, before = Formula(net.parts, training=True), _running(net.module)
    printed, found = formula.logits(net.images, net.module), net.module(net.images)
    statistics = torch.stack(formula.statistics)
    sides = [(found, printed), (_running(net.module), 0.9 * before + 0.1 * statistics)]
    if statistics[:, 1].min() > 0.01:  # derivatives by a channel that is nearly constant are rounding errors
        sides.append((gradients(found, net.module), gradients(printed, net.module)))
    return sides


@claim(
    net=networks(
        st.builds(
            Parts,
            form=_forms,
            pooling=st.just(Pooling.CLASS_MLP),
            nonlinearity=choice("nonlinearity", *Nonlinearity),
            communication=choice("communication", Communication.MLP, Communication.NONE),
        )
    ),
    share=0.3,
    place="Appendix A, Activation, and Sec. 3.4, Normalization & activation",
    printed="We have tried different activations on top of the aforementioned MLP-based baseline",
)
def network_nonlinearities(net: Network) -> Sides:
    """Other nonlinearities stand wherever GELU does: in the MLPs across channels, across patches and of class-MLP."""
    return compare(net)


_parts = st.builds(
    Parts,
    pooling=_poolings,
    norm=choice("norm", Norm.LAYER, Norm.AFF),
    nonlinearity=st.sampled_from(Nonlinearity),
    grid=st.sampled_from([(1, 2), (2, 2)]),
    width=st.just(6),
)


@claim(
    net=networks(
        st.builds(at_stage, choice("stage", *CaitStage), _parts, st.sampled_from([2, 3])), training=st.booleans()
    ),
    share=0.3,
    place="Appendix A, first paragraphs",
    printed="our first design modification was to get rid of the self-attention by replacing it by a residual "
    "feed-forward network, which takes as input the transposed set of patches instead of the patches; Note that, at "
    "this stage, we still include LayerScale, a class embedding (in the class-MLP stage) and positional encodings",
)
def appendix_chain_of_networks(net: Network) -> Sides:
    """CaiT adds positions to the patches and has layers of self-attention and an MLP, and then two layers of
    class-attention; an MLP across the patches replaces self-attention, then class-MLP replaces class-attention, then a
    linear layer replaces that MLP.

    Read as: CaiT's self-attention mixes the heads before and after the softmax; what stands before each part is CaiT's
    LayerNorm or what is tried in its place, and each part has a LayerScale after it; the last norm is before the
    classifier, or before the average of the patches.
    """
    assert isinstance(net.parts, Chain)
    formula = ChainFormula(net.parts)
    found, printed = net.module(net.images), formula.logits(net.images, net.module)
    return [*compare(net, formula), (gradients(found, net.module), gradients(printed, net.module))]
