"""Sec. 3.1 and 2: what a network starts with."""

from dataclasses import replace
from typing import Any

from torch import Tensor, cat, full_like, nn, stack, tensor, zeros

from imlp_audit.claims import Sides, choice, claim, size
from imlp_audit.models.blocks import Communication, Pooling
from imlp_audit.models.readings import ResMlpForm
from imlp_audit.models.resmlp import ClassMlpLayer

from ..models import AlgorithmLayer, CaitStage, ClassMlp, EquationLayer
from ._chain import at_stage
from ._network import Parts


def _starts(module: nn.Module, small: float, alphas: int, betas: int) -> list[tuple[Tensor | int, Tensor | int]]:
    """Hold what every alpha and beta starts with against the paper's values, and how many there are."""
    starts = {"alpha": list[Tensor](), "beta": list[Tensor]()}
    for name, weight in module.named_parameters():
        kind = name.rpartition(".")[2]
        if kind in starts:
            start = 0.0 if kind == "beta" else small if "post" in name else 1.0
            starts[kind].append(stack([weight, full_like(weight, start)]))
    counts = [(len(starts["alpha"]), alphas), (len(starts["beta"]), betas)]
    return [*counts, *((found, printed) for found, printed in (cat(each, dim=1) for each in starts.values()))]


_depths = {12: 0.1, 18: 0.1, 19: 1e-5, 24: 1e-5, 25: 1e-6, 36: 1e-6}
_resmlps = [
    Parts(form=form, communication=communication, pooling=Pooling.CLASS_MLP, grid=(1, 1), classes=1)
    for form in ResMlpForm
    for communication in (Communication.LINEAR, Communication.NONE)
]
_parts = [replace(_resmlps[0], layers=depth) for depth in _depths]
_parts += [replace(parts, layers=19) for parts in (*_resmlps[1:], at_stage(CaitStage.ATTENTION, _resmlps[0]))]


@claim(
    parts=choice("network", *_parts),
    place="Sec. 3.1, Hyper-parameter settings, and Sec. 2, before Eq. 2",
    printed="We initialize the LayerScale parameters as a function of the depth by following CaiT; As a "
    "pre-normalization, we initialize alpha = 1, and beta = 0; As a post-normalization, Aff is similar to LayerScale "
    "and we initialize alpha with the same small value",
)
def layer_scale_starts_by_depth(parts: Parts) -> Sides:
    """LayerScale, and Aff as a post-normalization, start with 0.1 in a network of up to 18 layers, with 1e-5 in one of
    up to 24 and with 1e-6 in a deeper one; Aff as a pre-normalization starts with alpha = 1, and every beta with 0.

    Read as: CaiT (arXiv 2103.17239, Sec. 2) names 0.1 until depth 18, 1e-5 for depth 24 and 1e-6 for deeper networks,
    and its code has 1e-5 from 19 layers on; class-MLP's layers start with the same value.
    """
    depth, sublayers = parts.layers, 1 if parts.communication is Communication.NONE else 2
    alphas, betas = 2 * sublayers * depth + 8, (1 if parts.as_in_code else 2) * sublayers * depth + 4
    last = 1 if parts.as_in_code else 0
    return _starts(parts.build(), _depths[depth], alphas + last, betas + last)


@claim(
    d=size("d", 1, 3),
    patches=size("N^2", 1, 4),
    given=choice("alpha", None, 0.25),
    expansion=size("expansion", 4, 2),
    share=0.1,
    place="Sec. 2, before Eq. 2",
    printed="As a pre-normalization, we initialize alpha = 1, and beta = 0; As a post-normalization, Aff is similar "
    "to LayerScale and we initialize alpha with the same small value",
)
def layer_starts_with_a_small_scale(d: int, patches: int, given: float | None, expansion: int) -> Sides:
    """A layer of Eq. 2 and 3, of Algorithm 1 or of class-MLP that is made alone starts with alpha = 1 before its
    sublayers and with the same small value after both, and with every beta 0.

    Read as: the small value of a layer in no network of a known depth is 1e-4, as in timm's ResMLP, unless another is
    given; B has four times as many rows as columns, or the given multiple.
    """
    scale: Any = {} if given is None else {"scale": given}
    hidden: Any = {} if expansion == 4 else {"expansion": expansion}
    small = 1e-4 if given is None else given
    equations, algorithm = EquationLayer(d, patches, **hidden, **scale), AlgorithmLayer(d, patches, **hidden, **scale)
    class_mlp = ClassMlp(d, patches, **scale)
    class_layer = ClassMlpLayer(d, patches, **hidden, scale=small)
    rows = [len(layer.get_parameter("across_channels.b.weight")) for layer in (equations, algorithm)]
    rows += [len(layer.get_parameter("mlp.b.weight")) for layer in (class_layer, *class_mlp.layers)]
    return [
        *_starts(equations, small, 4, 4),
        *_starts(algorithm, small, 4, 2),
        *_starts(class_mlp, small, 8, 4),
        *_starts(class_layer, small, 4, 2),
        (class_mlp.token, zeros(d)),
        (tensor(rows), d * tensor([expansion, expansion, expansion, 4, 4])),
    ]
