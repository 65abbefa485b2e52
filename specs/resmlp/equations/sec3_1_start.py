"""Sec. 3.1 and 2: what a network starts with."""

from __future__ import annotations

from math import sqrt

import torch
from torch import nn

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, claim
from imlp_audit.models.blocks import Communication, Pooling
from imlp_audit.models.reading import ResMlpForm
from imlp_audit.models.resmlp import Aggregate, AlgorithmLayer, ClassLayer, ClassMlp, EquationLayer, FeedForward

from ..models import CaitStage
from ._network import Network, networks
from ._network_chain import Chain

_STARTS = {12: 0.1, 18: 0.1, 19: 1e-5, 24: 1e-5, 25: 1e-6, 36: 1e-6}


_ENDS = {
    "pooling": st.just(Pooling.CLASS_MLP),
    "grid": st.just((1, 1)),
    "layers": st.sampled_from(tuple(_STARTS)),
    "classes": st.just(1),
}
_RESMLPS = networks(
    form=st.sampled_from(ResMlpForm),
    communication=st.sampled_from((Communication.LINEAR, Communication.NONE)),
    **_ENDS,
)
_CAITS = st.builds(Chain.at, st.just(CaitStage.ATTENTION), networks(**_ENDS))


@claim(st.one_of(_RESMLPS, _CAITS), share=0.3)
def layer_scale_starts_by_depth(net: Network, _: Arithmetic) -> Trial:
    """LayerScale, and Aff as a post-normalization, start with 0.1 in a network of up to 18 layers, with 1e-5 in one of
    up to 24 and with 1e-6 in a deeper one; Aff as a pre-normalization starts with alpha = 1, and every beta with 0.

    Read as: CaiT (arXiv 2103.17239, Sec. 2) names 0.1 until depth 18, 1e-5 for depth 24 and 1e-6 for deeper networks,
    and its code has 1e-5 from 19 layers on; class-MLP's layers start with the same value.

    Place: Sec. 3.1, Hyper-parameter settings, and Sec. 2, before Eq. 2
    Printed: We initialize the LayerScale parameters as a function of the depth by following CaiT; As a
        pre-normalization, we initialize alpha = 1, and beta = 0; As a post-normalization, Aff is similar to LayerScale
        and we initialize alpha with the same small value
    Bound: none: a start is a number of the arithmetic or it is not
    """
    # Hold every alpha and beta, none of which may be missing, and its first values against the paper's.
    printed = {name: start for name, _ in net.shapes() if (start := _start(name, net.layers)) is not None}
    found = {name: weight for name, weight in net.fresh().named_parameters() if _start(name, net.layers) is not None}
    wrong: dict[str, object] = dict.fromkeys(printed.keys() ^ found.keys())
    for name in printed.keys() & found.keys():
        if not bool((found[name] == printed[name]).all()):
            wrong[name] = found[name].tolist()
    return Trial(not wrong, {**net.shown(), "starts otherwise": wrong})


def _start(name: str, layers: int) -> float | None:
    """What an alpha or a beta starts with; None for other weights."""
    part, _, kind = name.rpartition(".")
    if kind == "alpha":
        return _STARTS[layers] if "post" in part else 1.0
    return 0.0 if kind == "beta" else None


_SMALL = 1e-4


@claim(
    st.tuples(st.integers(1, 3), st.integers(1, 4), st.sampled_from((None, 0.25)), st.sampled_from((4, 2))), share=0.1
)
def layer_starts_with_a_small_scale(case: tuple[int, int, float | None, int], _: Arithmetic) -> Trial:
    """A layer of Eq. 2 and 3, of Algorithm 1 or of class-MLP that is made alone starts with alpha = 1 before its
    sublayers and with the same small value after both, and with every beta 0.

    Read as: the small value of a layer in no network of a known depth is 1e-4, as in timm's ResMLP, unless another is
    given; B has four times as many rows as columns, or the given multiple.

    Place: Sec. 2, before Eq. 2
    Printed: As a pre-normalization, we initialize alpha = 1, and beta = 0; As a post-normalization, Aff is similar to
        LayerScale and we initialize alpha with the same small value
    Bound: none: a start is a number of the arithmetic or it is not
    """
    # Hold every alpha and beta of new layers against the values, and their number.
    d, patches, given, expansion = case
    scale = _SMALL if given is None else given
    layers: dict[str, nn.Module] = {
        "Eq. 2 and 3": EquationLayer(d, patches, expansion=expansion, scale=scale),
        "Algorithm 1": AlgorithmLayer(d, patches, expansion=expansion, scale=scale),
        "class-MLP": ClassMlp(d, patches, scale=scale),
        "class layer": ClassLayer(d, Aggregate(1 + patches), FeedForward(d, expansion, bias=True), scale),
    }
    if given is None and expansion == 4:
        layers |= {"Eq. 2 and 3": EquationLayer(d, patches), "Algorithm 1": AlgorithmLayer(d, patches)}
        layers |= {"class-MLP": ClassMlp(d, patches)}
    wrong: dict[str, object] = {}
    for kind, layer in layers.items():
        scales = {name: weight for name, weight in layer.named_parameters() if name.endswith((".alpha", ".beta"))}
        for name, weight in scales.items():
            start = 0.0 if name.endswith("beta") else scale if "post" in name else 1.0
            if not bool((weight == start).all()):
                wrong[f"{kind}: {name}"] = weight.tolist()
        if len(scales) != {"Eq. 2 and 3": 8, "Algorithm 1": 6, "class-MLP": 12, "class layer": 6}[kind]:
            wrong[kind] = sorted(scales)
        rows = 4 if kind == "class-MLP" else expansion
        if {tuple(w.shape) for name, w in layer.named_parameters() if name.endswith("b.weight")} != {(rows * d, d)}:
            wrong[f"B of {kind}"] = rows
    return Trial(not wrong, {"d, N^2, alpha, expansion": case, "starts otherwise": wrong})


@claim(st.integers(0, 999), share=0.03)
def positions_start_small(seed: int, _: Arithmetic) -> Trial:
    """CaiT's positions start at random, with mean 0 and a standard deviation of 0.02.

    Read as: this is the start in CaiT's code (timm: trunc_normal_(pos_embed, std=.02)); the text has none.

    Place: Appendix A, CaiT with a class embedding and positional encodings
    Corrected: the positions start with mean 0 and standard deviation 0.02
    Bound: 5 standard errors of the mean and of the deviation of 16 x 256 numbers
    """
    # Hold the moments of many numbers against those of the distribution.
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        positions = Chain(grid=(4, 4), width=256, layers=1).fresh().get_parameter("positions")
    mean, deviation = positions.mean().item(), positions.std().item()
    error = 0.02 / sqrt(positions.numel())
    normal = abs(mean) <= 5 * error and abs(deviation - 0.02) <= 5 * error / sqrt(2)
    return Trial(normal, {"seed": seed, "mean": mean, "standard deviation": deviation})
