"""Peak memory: by hand, by closed formula, by tensors with data, and by what torch's allocator hands out."""

from __future__ import annotations

from collections.abc import Callable, Collection
from itertools import accumulate, pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn import functional as F
from torch.profiler import ProfilerActivity, profile

from imlp_audit.count.ledger import CallCache, Lifetimes, peak_memory
from imlp_audit.count.record import Peak

from .counters import host

FLOAT = 4
N = 5 * 7 * FLOAT  # bytes of one input of the small modules below


class Applied(nn.Module):
    """A forward pass without weights."""

    def __init__(self, function: Callable[..., Tensor]) -> None:
        super().__init__()
        self.forward = function


def meta(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.empty(*shape, dtype=dtype, device="meta")


def peak(function: Callable[..., Tensor], *inputs: Tensor) -> Peak:
    return peak_memory(Applied(function), *inputs)


def held(x: Tensor) -> Tensor:
    """Four tensors of one size: the input, two that have names, and the result."""
    a = x.exp()
    b = a.exp()
    return b.exp()


def rebound(x: Tensor) -> Tensor:
    """The caller holds the input; of the rest an operand and a result live at once."""
    x = x.exp()
    x = x.exp()
    return x.exp()


def deleted(x: Tensor) -> Tensor:
    a = x.exp()
    b = a.exp()
    del a
    return b.exp()


def nested(x: Tensor) -> Tensor:
    """The names of an outer frame hold what is used no more."""
    a = x.exp()
    return rebound(a)


def views(x: Tensor) -> Tensor:
    row, *_ = x.t().chunk(7)
    return row.squeeze().unsqueeze(1).expand(5, 9)[:, 1:].view(5, 2, 4).select(0, 1).detach().as_strided((2,), (0,))


def view_of_a_result(x: Tensor) -> Tensor:
    """A view keeps what it is a view of."""
    part = x.exp()[0]
    return part.exp()


def in_place(x: Tensor) -> Tensor:
    y = x.exp()
    y += x
    y.relu_().mul_(2).add_(x)
    return F.relu(y, inplace=True)


def reshaped(x: Tensor) -> Tensor:
    """A transposed matrix has to be copied to be read as one row, a matrix has not."""
    return torch.stack([x.t().reshape(35), x.reshape(35)])


@pytest.mark.parametrize(
    ("function", "live", "least"),
    [
        (held, 4, 2),
        (rebound, 3, 2),
        (deleted, 3, 2),
        (nested, 4, 2),
        (lambda x: x, 1, 0),
        (views, 1, 0),
        (view_of_a_result, 2 + 1 / 5, 2),
        (in_place, 2, 2),
        (reshaped, 1 + 1 + 2, 1 + 1 + 2),  # the copy, x itself, and both of them stacked
        (lambda x: x * x, 2, 2),
        (lambda x: x * x.clone(), 3, 3),
        (lambda x: torch.cat([x, x, x]), 4, 4),
        (lambda x: torch.cat([x, x.clone(), x.exp()]), 1 + 2 + 3, 6),
        (lambda x: F.dropout(F.dropout(x, training=False), training=False), 1, 1),
    ],
)
def test_small_modules_match_hand_counts(function: Callable[[Tensor], Tensor], live: float, least: float) -> None:
    """In units of the input's size."""
    assert peak(function, meta(5, 7)) == Peak(round(live * N), round(least * N))


def test_several_results_of_one_operation_all_live() -> None:
    """Each half of the values, and an index of eight bytes for each."""
    size = FLOAT * 8 * 4 + 8 * 2 * (FLOAT + 8)
    assert peak(lambda x: x.topk(2).values, meta(8, 4)) == Peak(size, size)


def test_inputs_that_share_their_storage_count_once() -> None:
    x = meta(4, 4)
    assert peak(lambda a, b: a + b, x, x.t()) == Peak(2 * 64, 2 * 64)
    assert peak(lambda a, b: a + b, x, meta(4, 4)) == Peak(3 * 64, 3 * 64)


def test_a_chain_of_linear_layers_by_hand() -> None:
    """Weights, the input that the caller holds, and the operand and result of the second layer."""
    model = nn.Sequential(nn.Linear(4, 8, bias=False), nn.Linear(8, 2, bias=False)).to("meta")
    weights, x, hidden, out = (FLOAT * n for n in (4 * 8 + 8 * 2, 3 * 4, 3 * 8, 3 * 2))
    assert peak_memory(model, meta(3, 4)) == Peak(weights + x + hidden + out, weights + x + hidden)


def test_biases_and_buffers_are_weights_and_untrained_ones_too() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4)).to("meta").requires_grad_(False)
    weights = FLOAT * (4 * 4 + 4 + 4 * 4) + 8  # the norm's scale, shift, mean and variance, and how many batches it saw
    assert peak_memory(model, meta(2, 4)) == Peak(weights + 3 * 32, weights + 2 * 32)


class Tied(nn.Module):
    """A language model whose output layer is its embedding."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(10, 4)
        self.output = nn.Linear(4, 10, bias=False)
        self.output.weight = self.embedding.weight
        self.register_buffer("unsaved", torch.zeros(6), persistent=False)

    def forward(self, tokens: Tensor) -> Tensor:
        logits: Tensor = self.output(self.embedding(tokens))
        return logits


def test_tied_weights_count_once_and_belong_to_every_operation() -> None:
    model = Tied().to("meta")
    model.output.weight = model.embedding.weight
    weights, tokens, hidden, logits = FLOAT * (10 * 4 + 6), 8 * 2 * 3, FLOAT * 2 * 3 * 4, FLOAT * 2 * 3 * 10
    expected = Peak(weights + tokens + hidden + logits, weights + hidden + logits)
    assert peak_memory(model, meta(2, 3, dtype=torch.int64)) == expected


def test_a_model_is_counted_as_it_is_used_and_stays_as_it_was() -> None:
    model = nn.Sequential(nn.Dropout(0.5), nn.BatchNorm1d(3)).to("meta").train()
    assert peak_memory(model, meta(2, 3)).live == FLOAT * 12 + 8 + 2 * 24  # no mask of the dropout
    assert not model.training


WIDTHS = st.lists(st.integers(1, 9), min_size=2, max_size=6)


def mlp(widths: list[int]) -> nn.Module:
    layers = [nn.Linear(one, other, bias=False) for one, other in pairwise(widths)]
    return nn.Sequential(*layers).to("meta")


def chain(widths: list[int], batch: int) -> Peak:
    """The input lives all the time; so do, at each layer, what it reads and what it makes."""
    weights = sum(one * other for one, other in pairwise(widths))
    first, *later = [one + other for one, other in pairwise(widths)]
    live = max([first, *(widths[0] + pair for pair in later)])
    return Peak(FLOAT * (weights + batch * live), FLOAT * (weights + batch * max([first, *later])))


@given(widths=WIDTHS, batch=st.integers(1, 40))
@settings(max_examples=60, deadline=None)
def test_chains_follow_the_closed_formula(widths: list[int], batch: int) -> None:
    assert peak_memory(mlp(widths), meta(batch, widths[0])) == chain(widths, batch)


FUNCTIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "exp": torch.exp,
    "double": lambda x: x + x,
    "relu_": lambda x: torch.relu_(x.clone()),
    "t": lambda x: x.t(),
    "softmax": lambda x: x.softmax(-1),
    "gram": lambda x: x @ x.t() @ x,
    "halves": lambda x: torch.cat(x.chunk(2, -1)[::-1], -1),
    "dropout": lambda x: F.dropout(x, training=False),
    "contiguous": lambda x: x.t().contiguous().t(),
}


class Residual(nn.Module):
    """A branch of operations, added to what went in."""

    def __init__(self, names: list[str]) -> None:
        super().__init__()
        self.names = names

    def forward(self, x: Tensor) -> Tensor:
        y = x
        for name in self.names:
            y = FUNCTIONS[name](y)
        return x + y.reshape(x.shape)


def programs(names: Collection[str]) -> st.SearchStrategy[list[list[str]]]:
    return st.lists(st.lists(st.sampled_from(sorted(names)), max_size=4), min_size=1, max_size=3)


def with_data(model: nn.Module, *inputs: Tensor) -> Peak:
    """The same count over a forward pass that computes: its tensors are torch's own, none is made from memory."""
    storages = [tensor.untyped_storage() for tensor in (*model.parameters(), *model.buffers())]
    weights = {storage._cdata: storage.nbytes() for storage in storages}
    with torch.inference_mode():
        lifetimes = Lifetimes(weights)
        for tensor in inputs:
            lifetimes.hold(tensor.untyped_storage())
        with lifetimes:
            model.eval()(*inputs)
    return Peak(lifetimes.peak, lifetimes.least)


def allocated(model: nn.Module, x: Tensor) -> int:
    """The most bytes that torch's allocator on the CPU had handed out at once for a forward pass."""
    with torch.inference_mode(), profile(activities=[ProfilerActivity.CPU], profile_memory=True) as recorded:
        model.eval()(x)
    assert recorded.profiler is not None
    events = recorded.profiler.kineto_results.events()
    given_out: list[int] = [event.nbytes() for event in events if event.name() == "[memory]"]
    return max(accumulate(given_out, initial=0))


@given(program=programs(FUNCTIONS))
@settings(max_examples=60, deadline=None)
def test_programs_are_as_large_as_with_data(program: list[list[str]]) -> None:
    model = nn.Sequential(*map(Residual, program))
    assert peak_memory(model, meta(6, 6)) == with_data(model, torch.rand(6, 6))


@given(program=programs(FUNCTIONS.keys() - {"softmax"}))  # on the CPU it copies a transposed matrix first
@settings(max_examples=15, deadline=None)
def test_programs_are_as_large_as_what_is_allocated_for_them(program: list[list[str]]) -> None:
    """Matrices so small that copying a transposed one takes no work space."""
    model = nn.Sequential(*map(Residual, program))
    found = peak_memory(model, meta(32, 32))
    assert found.live - 32 * 32 * FLOAT == allocated(model, torch.rand(32, 32))


def test_a_model_is_as_large_as_what_is_allocated_for_it() -> None:
    """One whose peak lies in its MLPs, where kernels on the CPU take no work space."""
    model, x = host("resmlp_12_224", "cpu"), torch.zeros(2, 3, 224, 224)
    weights = FLOAT * sum(p.numel() for p in model.parameters())
    needed = allocated(model, x)
    found = peak_memory(model.to("meta"), x.to("meta"))
    assert found.live == weights + x.numel() * FLOAT + needed


@pytest.mark.daily(3)
@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("resnet18", 64),
        ("efficientnet_b0", 64),
        ("poolformer_s12", 64),
        ("regnety_002", 64),
        ("gmlp_ti16_224", 224),
        ("deit_tiny_patch16_224", 224),
        ("swin_tiny_patch4_window7_224", 224),
    ],
)
def test_models_are_as_large_as_with_data(name: str, size: int) -> None:
    model, x = host(name, "cpu"), torch.zeros(1, 3, size, size)
    real = with_data(model, x)
    memory: CallCache = {}
    model = model.to("meta")
    assert peak_memory(model, x.to("meta"), cache=memory) == real
    assert peak_memory(model, x.to("meta"), cache=memory) == real  # each operation's result is told from memory now


@pytest.mark.parametrize("name", ["resnet18", "mixer_s32_224"])
def test_the_floor_is_below_what_is_live_and_above_the_weights(name: str) -> None:
    model = host(name, "meta")
    weights = FLOAT * sum(p.numel() for p in model.parameters())
    peaks = [peak_memory(model, meta(batch, 3, 224, 224)) for batch in (1, 2, 4)]
    assert all(weights < one.least < one.live for one in peaks)
    assert peaks == sorted(peaks, key=lambda one: one.live)
    assert [one.least for one in peaks] == sorted(one.least for one in peaks)
