"""Bounds of AMLP modules against singular values, the Jacobian and what `lipschitz` computes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import torch
from torch import Tensor

from imlp_audit.equations.lipschitz.branches import Branch, branches
from imlp_audit.equations.lipschitz.estimate import product_of_norms
from imlp_audit.equations.lipschitz.slopes import GELU
from imlp_audit.inspect.blocks import bound_of_norms, measure_modules
from imlp_audit.inspect.parts import find_parts
from imlp_audit.models.imlp import amlp
from tests.models.released import ReleasedBlock

State = dict[str, Tensor]


def state(width: int = 5, hidden: int = 7, seed: int = 0) -> State:
    torch.manual_seed(seed)
    module = amlp(width, hidden)
    for parameter in module.parameters():
        torch.nn.init.normal_(parameter)
    return dict(module.state_dict())


@pytest.mark.parametrize("seed", range(6))
def test_the_bound_of_norms_is_that_of_singular_values(seed: int) -> None:
    pair = branches(state(seed=seed))
    inner, outer = np.vstack([one.inner for one in pair]), np.hstack([one.outer for one in pair])
    apart = sum(np.linalg.norm(one.inner, 2) * np.linalg.norm(one.outer, 2) for one in pair)
    exact = GELU.high * min(apart, np.linalg.norm(inner, 2) * np.linalg.norm(outer, 2))
    assert exact <= bound_of_norms(pair) <= exact * (1 + 1e-9)
    assert bound_of_norms(pair) <= sum(map(product_of_norms, pair)) * (1 + 1e-9)


def test_the_bound_of_diagonal_weights_in_closed_form() -> None:
    one = Branch(np.diag([3.0, 1.0]), np.zeros(2), np.diag([2.0, 5.0]))
    other = Branch(np.diag([0.0, 4.0]), np.zeros(2), np.diag([1.0, 1.0]))
    # apart 3 * 5 + 4 * 1; together the norms of [diag(3, 1); diag(0, 4)] and [diag(2, 5), 1]
    assert bound_of_norms((one, other)) == pytest.approx(GELU.high * min(19, (17 * 26) ** 0.5), rel=1e-9)


@pytest.mark.parametrize("seed", range(40))
def test_the_bound_is_not_below_exact_norms(seed: int) -> None:
    """A matrix u v^T of integers has the norm |u| |v|: squares and products of integers tell it exactly."""
    rng = np.random.default_rng(seed)
    u, v, w, x = rng.integers(-1000, 1000, size=(4, 60))
    one = Branch(np.outer(u, v).astype(float), np.zeros(60), np.outer(w, x).astype(float))
    none = Branch(np.zeros((60, 60)), np.zeros(60), np.zeros((60, 60)))
    exact = Fraction(GELU.high) ** 2
    for vector in (u, v, w, x):
        exact *= sum(int(entry) ** 2 for entry in vector)
    assert Fraction(bound_of_norms((one, none))) ** 2 >= exact


def test_bounds_hold_the_jacobian() -> None:
    module = amlp(5, 7).double()
    torch.manual_seed(3)
    for parameter in module.parameters():
        torch.nn.init.normal_(parameter)
    found = dict(module.state_dict())
    ((block,), left_out) = measure_modules(found, find_parts(found).agelus)
    norms = []
    for x in (torch.zeros(5), *torch.randn(20, 5)):
        jacobian = torch.func.jacrev(module)(x.double()).detach()
        norms.append(float(torch.linalg.matrix_norm(jacobian, 2)))
    assert block.gradient == pytest.approx(norms[0])
    assert max(norms) <= block.norms
    assert (block.name, block.width, block.hidden, left_out) == ("the module", 5, 7, ())


def test_units_whose_agelus_differ_are_counted() -> None:
    found = dict(amlp(3, 4).state_dict())
    assert measure_modules(found, find_parts(found).agelus)[0][0].different == 0
    for name, unit in (("agelu1.alpha", 0), ("agelu2.theta", 0), ("agelu2.beta", 2)):
        found[f"act.{name}"][unit] += 1
    assert measure_modules(found, find_parts(found).agelus)[0][0].different == 2


def test_one_coefficient_for_all_units_and_one_for_each() -> None:
    found = state(hidden=4) | {f"act.agelu1.{name}": torch.ones(1) for name in ("alpha", "beta", "gamma", "theta")}
    ((block,), _) = measure_modules(found, find_parts(found).agelus)
    assert block.slopes[0] == pytest.approx((GELU.low, GELU.high))
    assert block.different == 4


def test_the_released_block_and_many_layers() -> None:
    found = {f"blocks.{at}.mlp.{n}": v for at in range(11) for n, v in ReleasedBlock(3, 4, 3).state_dict().items()}
    found = {name: found[name] for name in sorted(found)}
    blocks, _ = measure_modules(found, find_parts(found).agelus)
    assert [block.name for block in blocks] == [f"blocks.{at}.mlp" for at in range(11)]


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("fc1.weight", torch.full((7, 5), float("nan")), "numbers that are not finite"),
        ("fc2.weight", torch.ones(5, 3), "3 input channels; expected twice fc1's 7"),
        ("act.agelu1.phi.weight", torch.ones(1), "its two AGeLUs were not both found"),
    ],
)
def test_a_module_that_cannot_be_used_is_named(name: str, value: Tensor, told: str) -> None:
    found = state() | {name: value}
    blocks, left_out = measure_modules(found, find_parts(found).agelus)
    assert (blocks, len(left_out)) == ((), 1)
    assert told in left_out[0]


def test_weights_of_zero() -> None:
    found = {name: torch.zeros_like(value) for name, value in state().items()}
    ((block,), _) = measure_modules(found, find_parts(found).agelus)
    assert (block.gradient, block.slopes) == (0, ((0, 0), (0, 0)))
    assert block.norms < 1e-300
