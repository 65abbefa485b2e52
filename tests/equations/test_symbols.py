"""Operations on symbols, held against those of torch on numbers."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, prod, sqrt

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from imlp_audit.equations.exact import Value
from imlp_audit.equations.expression import Applied, Expression
from imlp_audit.equations.symbols import SymbolicArithmetic
from imlp_audit.models import attention, gmlp, vanillanet

SYMBOLS = SymbolicArithmetic()


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
        (lambda: nn.Conv2d(2, 3, (2, 3), stride=(2, 1), padding=1), (1, 2, 4, 3)),
        (lambda: nn.Conv2d(2, 2, 3, padding=1, padding_mode="reflect", groups=2), (1, 2, 3, 2)),
        (lambda: gmlp.ToeplitzProjection(3), (3, 2)),
        (lambda: nn.LayerNorm(3, eps=0.25), (2, 2, 3)),
        (lambda: attention.SelfAttention(4, 2), (1, 3, 4)),
        (lambda: gmlp.TinyAttention(2, 3, d_attn=2), (1, 3, 2)),
    ],
    ids=[
        "depthwise and batch norm",
        "1 x 1",
        "strided",
        "reflected",
        "Toeplitz",
        "layer norm",
        "attention",
        "tiny attention",
    ],
)  # fmt: skip
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
