"""Proofs: what holds for every number is proved by running the modules on symbols, and what does not is refuted."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, prod, sqrt

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.catalogue import ClaimText
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.exact import Value
from imlp_audit.equations.expression import Applied, Expression
from imlp_audit.equations.functions import prelu
from imlp_audit.equations.proof import RefutedError, prove
from imlp_audit.equations.settings import Limits, Settings
from imlp_audit.equations.strategies import Vector, numbers, positive, vectors
from imlp_audit.equations.symbols import SymbolicArithmetic
from imlp_audit.equations.testing import run_claim
from imlp_audit.models import agelu, attention, gmlp, mixer, resmlp, vanillanet
from tests.equations.papers import all_claims, runnable

PROVED = [claim for claim in all_claims() if claim.paper == claim.code.folder.name and runnable(claim).proof]
SYMBOLS = SymbolicArithmetic()


def claim_named(name: str) -> Claim[object]:
    """Return a claim of any paper."""
    return next(runnable(claim) for claim in all_claims() if claim.name == name)


def square_of_a_sum(middle: float) -> Claim[Vector]:
    """Claims that (a + b)^2 = a^2 + middle a b + b^2."""

    def judge(case: Vector, arithmetic: Arithmetic) -> Trial:
        a, b = arithmetic.vector(case)
        return equal([(a + b) * (a + b)], [a * a + middle * a * b + b * b], a=case[0], b=case[1])

    return Claim(vectors(2), judge)


@pytest.mark.parametrize(
    "claim", [claim for claim in PROVED if claim.name != "eq10_index_set_corrected"], ids=lambda claim: claim.id
)
def test_a_claim_that_says_it_is_proved_is(claim: ClaimText) -> None:
    assert prove(runnable(claim)) >= 1


@pytest.mark.slow
def test_eq_10_is_proved_and_the_outcome_says_so() -> None:
    (claim,) = (claim for claim in PROVED if claim.name == "eq10_index_set_corrected")
    assert run_claim(claim.code, Settings(Limits(5))).proved == runnable(claim).proof


def test_an_identity_is_proved_and_a_wrong_one_refuted() -> None:
    assert prove(square_of_a_sum(2.0)) == 1
    with pytest.raises(RefutedError, match=r"a = s1; b = s2; left\[1\] = .*; right\[1\] = "):
        prove(square_of_a_sum(2.0000001))


def test_nothing_is_known_about_an_activation() -> None:
    """GELU(x) - GELU(-x) = x holds for GELU, and not for every function."""

    def judge(x: float, arithmetic: Arithmetic) -> Trial:
        there, back = (nn.GELU()(arithmetic.tensor([sign * x])) for sign in (1, -1))
        return equal([there[0] + back[0] * -1], [arithmetic.number(x)], x=x)

    with pytest.raises(RefutedError):
        prove(Claim(positive(), judge))


def test_functions_of_one_name_with_other_slopes_are_not_taken_for_one() -> None:
    def judge(x: float, arithmetic: Arithmetic) -> Trial:
        number = arithmetic.number(x)
        return equal([prelu(number, 0.25)], [prelu(number, 0.5)], x=x)

    with pytest.raises(RefutedError, match=r"left\[1\] = prelu\[1/4\]\(s1\); right\[1\] = prelu\[1/2\]\(s1\)"):
        prove(Claim(numbers(), judge))


def test_an_unknown_operation_and_examples_without_symbols_prove_nothing() -> None:
    unknown = Claim(numbers(), lambda x, arithmetic: equal(torch.sin(arithmetic.tensor([x])), arithmetic.vector([0.0])))
    with pytest.raises(NotImplementedError, match="sin is not known for symbols"):
        prove(unknown)
    with pytest.raises(ValueError, match="no symbols"):
        prove(
            Claim(
                st.sampled_from((1.0, 2.0)), lambda x, arithmetic: equal([arithmetic.number(x)], arithmetic.vector([x]))
            )
        )


PLANTS: dict[str, tuple[type[nn.Module], Callable[..., Tensor], str]] = {
    "gamma behind phi": (
        agelu.AGeLU, lambda m, x: m.beta * (m.phi(m.alpha * x) + m.gamma) + m.theta, "eq6_t1"
    ),
    "beta twice": (agelu.AGeLU, lambda m, x: m.beta * m.beta * m.phi(m.alpha * x + m.gamma) + m.theta, "eq6_t1"),
    "no second layer": (mixer.Mlp, lambda m, x: m.act(m.fc1(x)), "eq2_scale_and_bias"),
    "the activation last": (
        vanillanet.SeriesActivation, lambda m, x: m.act(m.norm(m.conv(x))), "eq10_index_set_corrected"
    ),
    "no beta": (resmlp.Aff, lambda m, x: m.alpha * x, "eq1_aff"),
    "rows for columns": (gmlp.TokenProjection, lambda m, z: m.weight.T @ z + m.bias[:, None], "sgu_projection"),
    "the halves exchanged": (
        gmlp.SpatialGatingUnit, lambda m, z, _=None: z.chunk(2, -1)[1] * m.f(z.chunk(2, -1)[0], None), "sgu_split"
    ),
    "no skip": (gmlp.GmlpBlock, lambda m, x: m.v(m.sgu(torch.nn.functional.gelu(m.u(m.norm(x))))), "gmlp_block"),
    "neighbours for copies": (
        agelu.SumOfFunctions,
        lambda m, x: torch.unflatten(
            m.agelus(torch.cat([x] * m.functions, m.axis)), m.axis, (m.channels, m.functions)
        ).sum(m.axis),
        "sums_of_agelus",
    ),
    "one function for all rows": (mixer.Mlp, lambda m, x: m.fc2(m.act(m.fc1(x.flip(-1)))), "mlp_by_row"),
}  # fmt: skip


@pytest.mark.parametrize(("module", "forward", "claim"), PLANTS.values(), ids=PLANTS)
def test_a_planted_error_is_refuted_on_symbols(
    monkeypatch: pytest.MonkeyPatch, module: type[nn.Module], forward: Callable[..., Tensor], claim: str
) -> None:
    monkeypatch.setattr(module, "forward", forward)
    with pytest.raises(RefutedError):
        prove(claim_named(claim))


def value_of(expression: Expression) -> float:
    """Return the number that an expression without symbols is."""
    return sum(float(c) * prod(map(_value_of_function, term)) for term, c in expression.terms.items())


def _value_of_function(symbol: str) -> float:
    assert isinstance(symbol, Applied)
    functions: dict[str, Callable[[float], float]] = {
        "reciprocal_root": lambda x: 1 / sqrt(x),
        "reciprocal": lambda x: 1 / x,
        "exp": exp,
    }
    return functions[symbol.name](value_of(symbol.argument))


def run_on_symbols(module: nn.Module, x: Tensor) -> list[float]:
    """Run a module on numbers as if they were symbols, its parameters and buffers among them."""
    for name, values in {**dict(module.named_parameters()), **dict(module.named_buffers())}.items():
        if values.ndim:
            SYMBOLS.put(module, name, values.tolist())
    return values_of(module(SYMBOLS.tensor(x.tolist())))


def values_of(tensor: Value) -> list[float]:
    """Return the numbers that a tensor of symbols holds."""
    return [value_of(each) for each in tensor.array.flat]


def normed_series() -> nn.Module:
    """Return a depthwise convolution and a batch norm that has seen data."""
    module = vanillanet.SeriesActivation(2, 1, nn.Identity)
    module.norm.running_mean, module.norm.running_var = torch.tensor([[0.5, -1.0], [4.0, 0.25]])
    return module


@pytest.mark.parametrize(
    ("build", "shape"),
    [
        (normed_series, (1, 2, 3, 4)),
        (lambda: nn.Conv2d(2, 3, 1), (1, 2, 2, 3)),
        (lambda: nn.LayerNorm(3, eps=0.25), (2, 2, 3)),
        (lambda: attention.SelfAttention(4, 2), (1, 3, 4)),
        (lambda: gmlp.TinyAttention(2, 3, d_attn=2), (1, 3, 2)),
    ],
    ids=["depthwise and batch norm", "1 x 1", "layer norm", "attention", "tiny attention"],
)
def test_operations_on_symbols_are_what_torch_gives_for_numbers(
    build: Callable[[], nn.Module], shape: tuple[int, ...]
) -> None:
    torch.manual_seed(0)
    module = build().double().eval()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn(parameter.shape))
    x = torch.randn(shape).double()
    there = module(x).flatten().tolist()
    assert run_on_symbols(module, x) == pytest.approx(there, rel=1e-12, abs=1e-12)


def test_attention_of_torch_on_symbols_is_what_it_gives_for_numbers() -> None:
    q, k, v = torch.randn(3, 1, 3, 2, generator=torch.Generator().manual_seed(0)).double()
    there = F.scaled_dot_product_attention(q, k, v).flatten().tolist()
    ours = F.scaled_dot_product_attention(*(SYMBOLS.tensor(each.tolist()) for each in (q, k, v)))
    assert values_of(ours) == pytest.approx(there, rel=1e-12, abs=1e-12)
