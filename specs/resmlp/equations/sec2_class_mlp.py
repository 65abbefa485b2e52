"""Sec. 2 and 3.4: class-MLP."""

from __future__ import annotations

import torch

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Proof, Trial, claim, equal
from imlp_audit.equations.dependence import depends
from imlp_audit.equations.rounded import total
from imlp_audit.models.resmlp import ClassMlp, ClassMlpLayer

from ._class_mlp import ClassLayerCase, ClassMlpCase, class_layers, class_mlps
from ._costs import PATCHES, WIDTH, cost
from ._layer import Values, loaded


@claim(class_mlps(), proof=Proof("all numbers", ClassMlpCase.sizes))
def class_mlp_can_average(case: ClassMlpCase, arithmetic: Arithmetic) -> Trial:
    """Class-MLP can replace average pooling: from a class token of zero, with 1 / N^2 as the aggregator's weight for
    each patch, Affs and the first LayerScale as the identity, and the MLP's LayerScale zero, it gives the average of
    patches.

    Place: Sec. 2, Class-MLP as an alternative to average-pooling
    Printed: the purpose of these few layers is to replace average pooling
    Bound: gamma_{N^2} times the mean of |x_n|: weights of 1 and 1/4 are exact
    """
    # Hold class-MLP with those weights against the average.
    patches, width = len(case.patches), len(case.token)
    weights: dict[str, Values] = {
        "layers.0.aggregate.weight": ((0.0, *(1 / patches,) * patches),),
        "layers.0.aggregate.bias": (0.0,),
        "layers.0.post2.alpha": (0.0,) * width,
    }
    module = loaded(ClassMlp(width, patches, depth=1, scale=1.0), weights, arithmetic)
    average = [1 / patches * total(channel) for channel in arithmetic.matrix(case.patches).T]
    return equal(module(arithmetic.tensor([case.patches]))[0], average, patches=case.patches)


@claim(st.just(2))
def class_mlp_costs_little(layers: int, _: Arithmetic) -> Trial:
    """Class-MLP's computational cost is negligible: two of its layers take ResMLP-S12's twelve layers, of width 384 on
    14 x 14 patches, less than half of the tenth of a billion multiply-accumulates that the paper's FLOPs are printed
    to.

    Place: Sec. 3.4, Pooling
    Printed: Replacing average pooling with Class-MLP brings a significant gain for a negligible computational cost
    Bound: none: counts are integers
    """
    # Hold how many layers class-MLP has, and their multiply-accumulates against half of the last printed digit.
    found, count = len(ClassMlp(1, 1).layers), cost(lambda: ClassMlp(WIDTH, PATCHES)).work
    return Trial(found == layers and 0 < count < 50_000_000, {"layers": found, "multiply-accumulates": count})


@claim(class_mlps())
def class_mlp_keeps_patches_frozen(case: ClassMlpCase, arithmetic: Arithmetic) -> Trial:
    """Class-MLP updates only the class token: the patch embeddings come out of each of its layers as they went in, and
    have no derivative by the class token.

    Place: Sec. 2, Class-MLP as an alternative to average-pooling
    Printed: only the class token is updated based on the frozen patch embeddings; still keeping the patch embeddings
        frozen
    Bound: none: the patches are the same to the bit or they are not
    """
    # Hold patches that come out against those that went in, then look for derivatives by the class token.
    weights: dict[str, Values] = {"aggregate.weight": (case.aggregator,), "aggregate.bias": (1.0,)}
    layer = loaded(ClassMlpLayer(len(case.token), len(case.patches), scale=1.0), weights, arithmetic)
    tokens = arithmetic.tensor([[case.token, *case.patches]])
    patches = layer(tokens)[:, 1:]
    follows = bool(depends(layer, tokens)[:, 1:, :, :, 0].any())
    shown = {**case.shown(), "patches after": patches[0].tolist(), "depend on the class token": follows}
    return Trial(torch.equal(patches, tokens[:, 1:]) and not follows, shown)


@claim(class_layers(), proof=Proof("all numbers", ClassLayerCase.sizes))
def class_mlp_layer(case: ClassLayerCase, arithmetic: Arithmetic) -> Trial:
    """A layer of class-MLP adds to the class token a linear layer of all tokens, and then its MLP, each between an Aff
    and a LayerScale.

    Tested with ReLU in place of GELU.

    Place: Sec. 2, Class-MLP as an alternative to average-pooling
    Printed: after aggregating the patches with a linear layer, we replace the attention-based interaction between the
        class and patch embeddings by simple linear layers
    Bound: gamma of the sums and products
    """
    # Hold the class token that comes out, of the second of a batch of two images, against the formula.
    tokens = arithmetic.tensor(case.tokens)[:, None]
    token = case.module(arithmetic)(torch.stack((tokens + 1, tokens)))[1, 0, 0]
    return equal(token, case.printed(arithmetic), **vars(case))
