"""Sec. 2 and 3.4: class-MLP."""

from functools import partial

import torch
from hypothesis import strategies as st
from torch import Tensor, nn, ones, zeros
from torch.nn.functional import relu

from imlp_audit.claims import Sides, choice, claim, depends, gradients, macs, modules, tensors
from imlp_audit.models.blocks import Pooling
from imlp_audit.models.resmlp import ClassMlpLayer

from ..models import ClassMlp
from ._layer import d, loaded, patches
from ._network import SMALL_WEIGHTS, WEIGHTS, Formula, Parts, has_own_weights


@claim(
    x=tensors(2, patches, d),
    place="Sec. 2, Class-MLP as an alternative to average-pooling",
    printed="the purpose of these few layers is to replace average pooling",
)
def class_mlp_can_average(x: Tensor) -> Sides:
    """Class-MLP can replace average pooling: from a class token of zero, with 1 / N^2 as the aggregator's weight for
    each patch, Affs and the first LayerScale as the identity, and the MLP's LayerScale zero, it gives the average of
    patches.
    """
    _, n, d = x.shape
    weights = {
        "token": zeros(d),
        "layers.0.aggregate.weight": torch.cat([zeros(1, 1), ones(1, n) / n], dim=1),
        "layers.0.aggregate.bias": zeros(1),
        "layers.0.post2.alpha": zeros(d),
    }
    module = loaded(ClassMlp(d, n, depth=1, scale=1.0), weights)
    return module(x), x.sum(dim=1) / n


@claim(
    layers=choice("layers", 2),
    place="Sec. 3.4, Pooling",
    printed="Replacing average pooling with Class-MLP brings a significant gain for a negligible computational cost",
)
def class_mlp_costs_little(layers: int) -> Sides:
    """Class-MLP's computational cost is negligible: two of its layers take ResMLP-S12's twelve layers, of width 384 on
    14 x 14 patches, less than half of the tenth of a billion multiply-accumulates that the paper's FLOPs are printed
    to.
    """
    cost = macs(lambda: ClassMlp(384, 14 * 14), 1, 14 * 14, 384)
    return [(len(ClassMlp(1, 1).layers), layers), 0 < cost < 50_000_000]


@claim(
    layer=modules(partial(ClassMlpLayer, scale=1.0), d, patches),
    tokens=tensors(2, patches.map(lambda n: 1 + n), d),
    place="Sec. 2, Class-MLP as an alternative to average-pooling",
    printed="only the class token is updated based on the frozen patch embeddings; still keeping the patch "
    "embeddings frozen",
)
def class_mlp_keeps_patches_frozen(layer: ClassMlpLayer, tokens: Tensor) -> Sides:
    """Class-MLP updates only the class token: the patch embeddings come out of each of its layers as they went in, and
    have no derivative by the class token.
    """
    follows = depends(layer, tokens)[:, 1:, :, :, 0].any()
    return [torch.equal(layer(tokens)[:, 1:], tokens[:, 1:]), not bool(follows)]


_relu = partial(ClassMlpLayer, scale=1.0, expansion=2, activation=nn.ReLU)


@claim(
    layer=modules(_relu, d, patches, training=st.booleans()),
    tokens=tensors(2, patches.map(lambda n: 1 + n), d),
    place="Sec. 2, Class-MLP as an alternative to average-pooling",
    printed="after aggregating the patches with a linear layer, we replace the attention-based interaction between "
    "the class and patch embeddings by simple linear layers",
)
def class_mlp_layer(layer: ClassMlpLayer, tokens: Tensor) -> Sides:
    """A layer of class-MLP adds to the class token a linear layer of all tokens, and then its MLP, each between an Aff
    and a LayerScale.

    Tested with ReLU in place of GELU.
    """

    def weights(*names: str) -> list[Tensor]:
        return [layer.get_parameter(name) for name in names]

    alpha1, beta1, alpha2, beta2 = weights("pre1.alpha", "pre1.beta", "pre2.alpha", "pre2.beta")
    scale1, scale2, w, b = weights("post1.alpha", "post2.alpha", "aggregate.weight", "aggregate.bias")
    B, b_b, C, b_c = weights("mlp.b.weight", "mlp.b.bias", "mlp.c.weight", "mlp.c.bias")
    token = tokens[:, 0] + scale1 * (w @ (alpha1 * tokens + beta1) + b)[:, 0]
    token = token + scale2 * (relu((alpha2 * token + beta2) @ B.T + b_b) @ C.T + b_c)
    return layer(tokens)[:, 0], token


def _class_mlp(d: int, patches: int, depth: int | None) -> ClassMlp:
    return ClassMlp(d, patches) if depth is None else ClassMlp(d, patches, depth=depth)


def _weights(width: int) -> tuple[float, ...]:
    return WEIGHTS if width < 100 else SMALL_WEIGHTS


_depth, _sizes = choice("layers", None, 2, 1), choice("d, N^2", (1, 1), (2, 3), (3, 2), (192, 14 * 14))


@claim(
    patches=_sizes.flatmap(lambda n: tensors(2, n[1], n[0], values=WEIGHTS)),
    module=_sizes.flatmap(lambda n: modules(_class_mlp, *n, _depth, values=_weights(n[0]), training=st.booleans())),
    depth=_depth,
    share=0.3,
    place="Sec. 2, Class-MLP as an alternative to average-pooling",
    printed="this consists of two layers that have the same structure as the transformer, but in which only the "
    "class token is updated based on the frozen patch embeddings",
)
def class_mlp_of_two_layers(patches: Tensor, module: ClassMlp, depth: int | None) -> Sides:
    """Class-MLP is two layers, each with weights of its own, that update a learned class token from the patches; the
    class token after the last one is the average's replacement.
    """
    formula = Formula(Parts(pooling=Pooling.CLASS_MLP))
    token = formula.class_token(patches, module, depth=2 if depth is None else depth)[:, 0]
    found = module(patches)
    derivatives = gradients(found, module), gradients(token, module)
    return [(found, token), derivatives, has_own_weights(module)]
