"""Sec. 1 and 2, Appendix C: whole networks, from the images to the labels."""

from dataclasses import replace

import torch
from hypothesis import strategies as st

from imlp_audit.claims import Sides, choice, claim, gradients
from imlp_audit.models.available_hosts import ResMlp
from imlp_audit.models.blocks import Communication, Norm, Pooling
from imlp_audit.models.host import BuildRequest
from imlp_audit.models.new_modules import keeps_type, refuses, starts_as_torchs
from imlp_audit.models.readings import Family, Presence, ResMlpForm, axes_of

from ..models import CaitStage
from ._chain import at_stage
from ._network import Formula, Network, Parts, compare, networks

_forms, _poolings = choice("form", *ResMlpForm), choice("pooling", *Pooling)
_sizes = {
    "grid": st.sampled_from([(2, 3), (3, 2), (2, 2), (1, 2)]),
    "patch": st.integers(1, 2),
    "layers": choice("layers", 1, 2, 3),
    "width": st.integers(1, 3),
    "classes": st.integers(1, 3),
}


@claim(
    net=networks(st.builds(Parts, form=st.just(ResMlpForm.EQUATIONS), **_sizes)),
    place="Sec. 1, second paragraph, and Sec. 2, Eq. 2 and 3",
    printed="it takes image patches as input, projects them with a linear layer, and sequentially updates their "
    "representations with two residual operations; At the end of the network, the patch representations are average "
    "pooled, and fed to a linear classifier",
)
def network_of_eq2_eq3(net: Network) -> Sides:
    """A ResMLP projects each patch with a linear layer, applies layers of Eq. 2 and 3 with weights of their own one
    after the other, averages the patches, and classifies the average with a linear layer.

    Read as: the linear layers at both ends have biases; patches are the grid row by row, on images of any shape. Each
    part is judged on what the part before it gave.
    """
    return compare(net)


@claim(
    net=networks(st.builds(Parts, form=st.just(ResMlpForm.ALGORITHM), **_sizes)),
    place="Appendix C, Algorithm 1",
    corrected="Z = X + Diag(alpha) (A Aff(X)^T + a)^T and Y = Z + Diag(alpha') (C GELU(B Aff(Z) + b) + c) in each "
    "layer; a linear layer of the mean of Aff(Y) of the last one",
)
def network_of_algorithm1(net: Network) -> Sides:
    """Algorithm 1's network has biases in A, B and C, LayerScale after each sublayer, and an Aff before the average of
    the patches; otherwise it is the network of Eq. 2 and 3.
    """
    return compare(net)


@claim(
    net=networks(st.builds(Parts, form=_forms, pooling=st.just(Pooling.CLASS_MLP), **_sizes)),
    share=0.3,
    place="Sec. 2, Class-MLP as an alternative to average-pooling",
    printed="In CaiT, this consists of two layers that have the same structure as the transformer, but in which only "
    "the class token is updated based on the frozen patch embeddings. We translate this method to our architecture",
)
def network_with_class_mlp(net: Network) -> Sides:
    """With class-MLP, two layers that differ in their weights update a class token from the patches that the last layer
    gave, and the linear classifier reads the class token alone.

    Read as: an Aff before and a LayerScale after each of a layer's two parts, all linear layers with biases; of
    Algorithm 1, the last Aff after both layers.
    """
    return compare(net)


_parts = {"communication": st.sampled_from(Communication), "norm": st.sampled_from(Norm)}
_roomy = {**_sizes, "grid": st.sampled_from([(3, 4), (4, 3)])}
_resmlps = st.builds(Parts, form=_forms, pooling=_poolings, **_roomy, **_parts)
_caits = st.builds(at_stage, st.sampled_from(CaitStage), st.builds(Parts, pooling=_poolings, layers=st.integers(1, 2)))


@claim(
    parts=choice("network", _resmlps, _caits).flatmap(lambda parts: parts),
    share=0.2,
    place="Sec. 2, The overall ResMLP architecture",
    printed="a d-dimension vector to represent the image, which is fed to a linear classifier to predict the label "
    "associated with the image",
)
def network_predicts_labels(parts: Parts) -> Sides:
    """The last part of a network is a linear classifier: of each image it makes one number for each label.

    Read as: the package's module names the classifier, and makes images of the size that it was built for; so do the
    networks of Appendix A, from CaiT on. Weights may be of any type, in which a network computes.
    Linear layers, convolutions and norms start as torch's. Where nothing is said, images are of 224 x 224, in patches
    of 16 x 16, and of 1000 classes. Without a form there is no network, nor with an expansion of no MLP.
    """
    net = parts.build()
    (images,) = net.example_inputs(2)  # type: ignore[operator]
    classifier = net.get_classifier().get_parameter("weight")  # type: ignore[operator]
    found = [*images.shape, *classifier.shape, *net(images).shape]
    printed = [2, 3, *parts.size, parts.classes, parts.width, 2, parts.classes]
    with torch.device("meta"):
        usual = ResMlp(layers=1, width=2, form=parts.form).build(BuildRequest())
    sizes = {name: tuple(weight.shape) for name, weight in usual.named_parameters()}
    return [
        (torch.tensor(found), torch.tensor(printed)),
        keeps_type(parts.build, images),
        *starts_as_torchs(net),
        (sizes["stem.proj.weight"], sizes["head.weight"]) == ((2, 3, 16, 16), (1000, 2)),
        usual.example_inputs(1)[0].shape == (1, 3, 224, 224),  # type: ignore[operator]
        refuses(lambda: ResMlp(layers=1, width=2).build(BuildRequest())),
        refuses(lambda: ResMlp(layers=1, width=2, expansion=2)),
        [axis.default for axis in axes_of(Family.RESMLP).values()] == [ResMlpForm.EQUATIONS, Presence.NO],
    ]


_exchanges = [
    Parts(grid=(1, 2)),
    Parts(communication=Communication.NONE),
    Parts(communication=Communication.NONE, scales_stay=True),
    Parts(communication=Communication.MLP),
    Parts(communication=Communication.SEPARABLE, grid=(3, 4), layers=1),
]
_learning = [replace(parts, form=form, pooling=pool) for parts in _exchanges for form in ResMlpForm for pool in Pooling]
_learning.append(replace(_learning[-1], communication=Communication.LINEAR, grid=(14, 14), patch=16, width=192))


@claim(
    net=networks(choice("network", *_learning), training=True),
    share=0.3,
    place="Sec. 2, after Eq. 1 and after Eq. 3",
    printed="alpha and beta are learnable weight vectors; A, B and C are the main learnable weight matrices of the "
    "layer",
)
def network_learns_every_weight(net: Network) -> Sides:
    """Every weight of a network is learned by the derivatives of its formula: where all weights move in a direction,
    each logit changes as the printed formula does.
    """
    logits, printed = net.module(net.images), Formula(net.parts).logits(net.images, net.module)
    return gradients(logits, net.module), gradients(printed, net.module)
