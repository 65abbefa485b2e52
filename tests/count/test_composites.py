"""Operations made of others: their inside is booked, and fvcore's blindness to it is too."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor, nn

from imlp_audit.count.call import Operation as Op

from .counters import both_fvcore, by_operation, flop_counter_macs, ledger_of, on_meta


@pytest.fixture
def library() -> Iterator[torch.library.Library]:
    with torch.library._scoped_library("imlp_audit_test", "DEF") as made:
        made.define("scaled_product(Tensor x, Tensor weight) -> Tensor")
        made.define("opaque(Tensor x) -> Tensor")
        yield made


class Custom(nn.Module):
    """Calls an operation of the test's library on its input and the further inputs."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def forward(self, *inputs: Tensor) -> Tensor:
        result: Tensor = getattr(torch.ops.imlp_audit_test, self.name)(*inputs)
        return result


def test_inside_of_a_composite_does_not_vanish(library: torch.library.Library) -> None:
    library.impl("scaled_product", lambda x, weight: 2 * (x @ weight), "CompositeImplicitAutograd")  # type: ignore[no-untyped-call]

    ledger = ledger_of(Custom("scaled_product"), torch.zeros(5, 6), torch.zeros(6, 7))

    # fvcore sees one operation that it doesn't know, and counts nothing.
    assert by_operation(ledger) == {Op.PRODUCT: 210, Op.ELEMENTWISE: 35, Op.FVCORE_EXCESS: -210}
    assert ledger.unknown == {}


def test_operation_without_formula_is_unknown(library: torch.library.Library) -> None:
    library.impl("opaque", lambda x: torch.empty_like(x), "Meta")  # type: ignore[no-untyped-call]

    ledger = ledger_of(nn.Sequential(Custom("opaque"), Custom("opaque")), torch.zeros(5, 6))

    assert ledger.unknown == {"imlp_audit_test::opaque": 2}
    assert ledger.work == {("0", Op.UNKNOWN): 30, ("1", Op.UNKNOWN): 30}


class Last(nn.Module):
    """The first output of a module that has several."""

    def __init__(self, module: nn.Module, repeats: int = 1) -> None:
        super().__init__()
        self.module = module
        self.repeats = repeats

    def forward(self, x: Tensor) -> Tensor:
        first: Tensor = self.module(*[x] * self.repeats)[0]
        return first


@pytest.mark.parametrize(
    ("module", "macs"),
    [
        # Four gates of width 7, from an input of 6 and a state of 7; 2 sequences of 5, in two directions.
        (Last(nn.LSTM(6, 7, batch_first=True)), 10 * 4 * 7 * (6 + 7)),
        (Last(nn.LSTM(6, 7, batch_first=True, bidirectional=True)), 2 * 10 * 4 * 7 * (6 + 7)),
        (Last(nn.GRU(6, 7, batch_first=True)), 10 * 3 * 7 * (6 + 7)),
        # Query, key, value and output, each 6 by 6, and two products of 5 by 5 tokens.
        (Last(nn.MultiheadAttention(6, 2, batch_first=True), 3), 10 * 4 * 36 + 2 * 2 * 25 * 6),
    ],
    ids=["lstm", "bidirectional lstm", "gru", "multi-head attention"],
)
def test_modules_that_torch_implements_as_one(module: nn.Module, macs: int) -> None:
    x = torch.zeros(2, 5, 6)
    ours, real = both_fvcore(module, x)
    assert ours == real
    work = by_operation(ledger_of(module, x))
    assert work.get(Op.LINEAR, 0) + work.get(Op.PRODUCT, 0) == macs
    assert flop_counter_macs(module.requires_grad_(False), *on_meta(x)) == macs


@pytest.mark.parametrize("cell", [nn.LSTMCell(6, 7), nn.GRUCell(6, 7), nn.RNNCell(6, 7)])
def test_cells_are_traced_through(cell: nn.Module) -> None:
    ours, real = both_fvcore(cell, torch.zeros(2, 6))
    assert ours == real > 0
