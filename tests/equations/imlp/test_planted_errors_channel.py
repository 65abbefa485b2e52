"""Each error that is planted in the package makes a claim about the MLP, AGeLU or the AMLP false."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.models.agelu import AGeLU
from imlp_audit.models.imlp import ChannelPart, Imlp
from specs.imlp.equations import _amlp, _kinks, _mlp, _rprelu, _units, sec4_1_agelu
from tests.equations import papers

Plant = Callable[[pytest.MonkeyPatch], None]

AGELU = ["eq3_arbitrary_function", "eq4_agelu", "eq5_amlp", "eq6_t1", "eq6_t1_prime_corrected", "eq6_t2_corrected"]
AMLP = ["eq6_t2_corrected", "eq6_output_corrected", "eq6_scale_and_bias_corrected"]


def _is_false(name: str) -> bool:
    return papers.is_false("imlp", name, 40)


def _forward(forward: Callable[[AGeLU, Tensor], Tensor]) -> Plant:
    return lambda patch: patch.setattr(AGeLU, "forward", forward)


def _concatenate(forward: Callable[[ChannelPart, Tensor], Tensor]) -> Plant:
    return lambda patch: patch.setattr(ChannelPart, "forward", forward)


def _tanh_form(patch: pytest.MonkeyPatch) -> None:
    exact = F.gelu
    patch.setattr(F, "gelu", lambda x, **_: exact(x, approximate="tanh"))


def _start(name: str, value: float) -> Plant:
    def starting_wrongly(channels: int) -> AGeLU:
        agelu = AGeLU(channels)
        nn.init.constant_(getattr(agelu, name), value)
        return agelu

    return lambda patch: patch.setattr(sec4_1_agelu, "AGeLU", starting_wrongly)


def _base(base: type[nn.Module]) -> Plant:
    """Make one base function of every activation that is asked for."""
    return lambda patch: patch.setattr(sec4_1_agelu, "base_activation", lambda _: base)


def _skip(imlp: Imlp, x: Tensor) -> Tensor:
    y: Tensor = imlp.fc2(imlp.act(imlp.fc1(x)))
    return x + y


def _first_twice(part: ChannelPart, x: Tensor) -> Tensor:
    return torch.cat((part.agelu1(x), part.agelu1(x)), dim=part.axis)


def _turned(part: ChannelPart, x: Tensor) -> Tensor:
    return torch.cat((part.agelu2(x), part.agelu1(x)), dim=part.axis)


def _rows_mixed(mlp: _mlp.Mlp, arithmetic: Arithmetic) -> Tensor:
    return F.gelu(arithmetic.tensor(mlp.x) @ arithmetic.tensor(mlp.wa).flip(0)) @ arithmetic.tensor(mlp.wb)


def _without_theta(patch: pytest.MonkeyPatch) -> None:
    at = _units.Unit.at
    patch.setattr(_units.Unit, "at", lambda unit, *where: at(replace(unit, theta=0.0), *where))


PLANTS: dict[str, tuple[Plant, list[str]]] = {
    "AGeLU without beta": (_forward(lambda a, x: a.phi(a.alpha * x + a.gamma) + a.theta), AGELU),
    "AGeLU without theta": (_forward(lambda a, x: a.beta * a.phi(a.alpha * x + a.gamma)), AGELU),
    "AGeLU without gamma": (_forward(lambda a, x: a.beta * a.phi(a.alpha * x) + a.theta), AGELU),
    "AGeLU without alpha": (
        _forward(lambda a, x: a.beta * a.phi(x + a.gamma) + a.theta),
        [*AGELU, "eq6_inner_corrected"],
    ),
    "alpha times the bias": (_forward(lambda a, x: a.beta * a.phi(a.alpha * (x + a.gamma)) + a.theta), AGELU),
    "beta times theta": (_forward(lambda a, x: a.beta * (a.phi(a.alpha * x + a.gamma) + a.theta)), AGELU),
    "alpha even": (
        _forward(lambda a, x: a.beta * a.phi(a.alpha.abs() * x + a.gamma) + a.theta),
        ["agelu_alpha_mirrors", "agelu_learnable_slope", "eq6_scale_is_a_weight"],
    ),
    "beta even": (
        _forward(lambda a, x: a.beta.abs() * a.phi(a.alpha * x + a.gamma) + a.theta),
        ["agelu_beta_reflects", "agelu_learnable_slope"],
    ),
    "AGeLU starts at alpha 1/2": (_start("alpha", 0.5), ["agelu_starts_as_gelu"]),
    "AGeLU starts at theta 1": (_start("theta", 1.0), ["agelu_starts_as_gelu"]),
    "the tanh form of GeLU": (
        _tanh_form,
        ["eq1_rows_independent", "eq2_activation", "eq2_output", "eq2_scale_and_bias", "rank_agelu_without_concat"],
    ),
    "ReLU for every base": (_base(nn.ReLU), ["eq3_arbitrary_function"]),
    "concatenation in the wrong order": (_concatenate(_turned), ["eq5_amlp"]),
    "the first AGeLU twice": (_concatenate(_first_twice), ["eq5_amlp"]),
    "a skip around the block": (lambda patch: patch.setattr(Imlp, "forward", _skip), ["eq5_amlp"]),
    "columns of W^a in the wrong order": (
        lambda patch: patch.setattr(_mlp.Mlp, "matrix_form", _rows_mixed),
        ["eq2_output", "eq2_scale_and_bias"],
    ),
    "f that turns the halves": (
        lambda patch: patch.setattr(_amlp.Symbols, "f", lambda s, j: len(s.half) - 1 - j % len(s.half)),
        [*AMLP, "eq6_inner_corrected", "eq6_scale_is_a_weight"],
    ),
    "a bias that has its own input in it": (
        lambda patch: patch.setattr(_amlp.Symbols, "others", lambda s, c, j: s.inner(j)),
        ["eq6_inner_corrected", "eq6_scale_and_bias_corrected"],
    ),
    "a jump with the sign of m": (
        lambda patch: patch.setattr(_kinks.Relu, "jump", property(lambda unit: unit.w * unit.m)),
        ["fig2_mlp_kinks_corrected", "fig2_amlp_kinks_corrected"],
    ),
    "a kink at n / m": (
        lambda patch: patch.setattr(_kinks.Relu, "place", property(lambda unit: unit.n / unit.m)),
        ["fig2_piecewise_linear"],
    ),
    "RPReLU that scales zeta": (
        lambda patch: patch.setattr(
            _rprelu.RPReLU, "at", lambda f, x, a: (a.number(x) - f.gamma + f.zeta) * (1 if x > f.gamma else f.beta)
        ),
        ["agelu_rprelu_turning_point", "agelu_more_flexible_corrected"],
    ),
    "hidden units without theta": (_without_theta, ["rank_agelu_concat_corrected"]),
}


@pytest.mark.parametrize(
    ("plant", "claim"),
    [pytest.param(plant, claim, id=f"{name}: {claim}") for name, (plant, claims) in PLANTS.items() for claim in claims],
)
def test_a_planted_error_makes_the_claim_false(monkeypatch: pytest.MonkeyPatch, plant: Plant, claim: str) -> None:
    plant(monkeypatch)
    assert _is_false(claim)
