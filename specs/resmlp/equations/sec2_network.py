"""Sec. 1 and 2, Appendix C: whole networks, from the images to the labels."""

from __future__ import annotations

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, claim
from imlp_audit.models.blocks import Pooling
from imlp_audit.models.reading import ResMlpForm

from ..models import CaitStage
from ._network import Network, networks
from ._network_chain import Chain
from ._network_stages import check

_GRIDS, _SEEDS = st.sampled_from(((2, 3), (3, 2), (2, 2), (1, 2))), st.integers(0, 99)
_SIZES = {
    "grid": _GRIDS,
    "patch": st.integers(1, 2),
    "layers": st.integers(1, 3),
    "width": st.integers(1, 3),
    "classes": st.integers(1, 3),
    "seed": _SEEDS,
}


@claim(networks(form=st.just(ResMlpForm.EQUATIONS), **_SIZES), share=0.12)
def network_of_eq2_eq3(net: Network, arithmetic: Arithmetic) -> Trial:
    """A ResMLP projects each patch with a linear layer, applies layers of Eq. 2 and 3 with weights of their own one
    after the other, averages the patches, and classifies the average with a linear layer.

    Read as: the linear layers at both ends have biases; patches are the grid row by row, on images of any shape. Each
    part is judged on what the part before it gave.

    Place: Sec. 1, second paragraph, and Sec. 2, Eq. 2 and 3
    Printed: it takes image patches as input, projects them with a linear layer, and sequentially updates their
        representations with two residual operations; At the end of the network, the patch representations are average
        pooled, and fed to a linear classifier
    Bound: of each layer, that of Eq. 2 and then of Eq. 3; gamma of the sums at both ends
    """
    # Hold each stage of the package's network against its formula.
    return check(net, arithmetic)


@claim(networks(form=st.just(ResMlpForm.ALGORITHM), **_SIZES), share=0.12)
def network_of_algorithm1(net: Network, arithmetic: Arithmetic) -> Trial:
    """Algorithm 1's network has biases in A, B and C, LayerScale after each sublayer, and an Aff before the average of
    the patches; otherwise it is the network of Eq. 2 and 3.

    Place: Appendix C, Algorithm 1
    Corrected: Z = X + Diag(alpha) (A Aff(X)^T + a)^T and Y = Z + Diag(alpha') (C GELU(B Aff(Z) + b) + c) in each layer;
        a linear layer of the mean of Aff(Y) of the last one
    Bound: of each layer, that of Eq. 2 and then of Eq. 3; gamma of the sums at both ends
    """
    # Hold each stage of the package's network against its formula.
    return check(net, arithmetic)


@claim(networks(form=st.sampled_from(ResMlpForm), pooling=st.just(Pooling.CLASS_MLP), **_SIZES), share=0.16)
def network_with_class_mlp(net: Network, arithmetic: Arithmetic) -> Trial:
    """With class-MLP, two layers that differ in their weights update a class token from the patches that the last layer
    gave, and the linear classifier reads the class token alone.

    Read as: an Aff before and a LayerScale after each of a layer's two parts, all linear layers with biases; of
    Algorithm 1, the last Aff after both layers.

    Place: Sec. 2, Class-MLP as an alternative to average-pooling
    Printed: In CaiT, this consists of two layers that have the same structure as the transformer, but in which only the
        class token is updated based on the frozen patch embeddings. We translate this method to our architecture
    Bound: of each layer, that of Eq. 2 and then of Eq. 3; gamma of the sums at both ends
    """
    # Hold each stage of the package's network against its formula.
    return check(net, arithmetic)


_ANY_FORM = networks(form=st.sampled_from(ResMlpForm), pooling=st.sampled_from(Pooling), **_SIZES)
_CAITS = st.builds(
    Chain.at, st.sampled_from(CaitStage), networks(pooling=st.sampled_from(Pooling), **{**_SIZES, "width": st.just(2)})
)


@claim(st.one_of(_ANY_FORM, _CAITS), share=0.2)
def network_predicts_labels(net: Network, arithmetic: Arithmetic) -> Trial:
    """The last part of a network is a linear classifier: of each image it makes one number for each label.

    Read as: the package's module names the classifier, and makes images of the size that it was built for; so do the
    networks of Appendix A, from CaiT on.

    Place: Sec. 2, The overall ResMLP architecture
    Printed: a d-dimension vector to represent the image, which is fed to a linear classifier to predict the label
        associated with the image
    Bound: none: dimensions are integers
    """
    # Hold the shapes of the images, of the classifier and of the logits against the sizes.
    module = arithmetic.place(net.fresh())
    (images,) = module.example_inputs(2)  # type: ignore[operator]
    shapes = {
        "images": tuple(images.shape),
        "classifier": tuple(module.get_classifier().get_parameter("weight").shape),  # type: ignore[operator]
        "logits": tuple(module(images.to(arithmetic.tensor(0.0))).shape),
    }
    printed = {"images": (2, 3, *net.size), "classifier": (net.classes, net.width), "logits": (2, net.classes)}
    return Trial(shapes == printed, {**net.shown(), "dimensions": shapes, "printed": printed})
