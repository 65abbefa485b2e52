"""What must not change a count, and what a count must not change."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from imlp_audit.count.from_python import ModelMeasurement, measure_model


class Mixed(nn.Module):
    """Convolution, batch norm, dropout, attention and a classifier on the mean of the tokens."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 4, stride=4), nn.BatchNorm2d(8), nn.GELU())
        self.block = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.5, batch_first=True)
        self.head = nn.Linear(8, 5)

    def forward(self, image: Tensor) -> Tensor:
        tokens = self.stem(image).flatten(2).transpose(1, 2)
        classes: Tensor = self.head(self.block(tokens).mean(dim=1))
        return classes


def counts(found: ModelMeasurement) -> tuple[Mapping[str, int], Mapping[str, int], object]:
    return found.parameters, found.flops, found.ledger.work


@settings(max_examples=10)
@given(st.integers(1, 6), st.integers(1, 4), st.integers(1, 4))
def test_work_is_linear_in_the_batch_and_parameters_do_not_depend_on_it(batch: int, height: int, width: int) -> None:
    model = Mixed()
    one = measure_model(model, torch.zeros(1, 3, 4 * height, 4 * width))
    many = measure_model(model, torch.zeros(batch, 3, 4 * height, 4 * width))
    assert many.parameters == one.parameters
    assert many.ledger.work == {key: batch * amount for key, amount in one.ledger.work.items()}
    assert many.flops["macs"] == batch * one.flops["macs"] > 0


@pytest.mark.parametrize(
    "change",
    [
        lambda model: model.train(),
        lambda model: model.eval(),
        lambda model: model.double(),
        lambda model: model.to(torch.bfloat16),
        lambda model: model.to("meta"),
        lambda model: model.to(memory_format=torch.channels_last),
    ],
    ids=["train", "eval", "double", "bfloat16", "meta", "channels last"],
)
def test_how_a_model_is_held_changes_no_count(change: Callable[[nn.Module], nn.Module]) -> None:
    image = torch.zeros(2, 3, 8, 8)
    model = change(Mixed())
    like = next(model.parameters())
    assert counts(measure_model(model, image.to(like.device, like.dtype))) == counts(measure_model(Mixed(), image))


def test_a_frozen_model_has_the_same_counts_except_what_is_trained() -> None:
    image = torch.zeros(2, 3, 8, 8)
    parameters, *work = counts(measure_model(Mixed().requires_grad_(False), image))
    expected, *same_work = counts(measure_model(Mixed(), image))
    assert parameters == {**expected, "trainable": 0}
    assert work == same_work


def test_nor_does_the_number_of_threads() -> None:
    before, threads = counts(measure_model(Mixed(), torch.zeros(1, 3, 8, 8))), torch.get_num_threads()
    try:
        torch.set_num_threads(1 if threads > 1 else 2)
        assert counts(measure_model(Mixed(), torch.zeros(1, 3, 8, 8))) == before
    finally:
        torch.set_num_threads(threads)


@pytest.mark.parametrize("training", [True, False])
def test_a_counted_model_is_as_it_was(training: bool) -> None:
    model = Mixed().train(training)
    model.stem[1].eval()  # a part that is held in another mode
    model.head.register_forward_hook(lambda *_: None)
    image = torch.rand(2, 3, 8, 8)

    def state() -> object:
        tensors = {name: (id(value), value._version, value.tolist()) for name, value in model.state_dict().items()}
        modes = {name: part.training for name, part in model.named_modules()}
        hooks = {
            name: [len(value) for key, value in vars(part).items() if key.endswith("hooks")]
            for name, part in model.named_modules()
        }
        gradients = [parameter.grad for parameter in model.parameters()]
        return list(tensors), [held[1:] for held in tensors.values()], modes, hooks, gradients, image.tolist()

    before, random = state(), torch.get_rng_state().tolist()
    measure_model(model, image)
    assert state() == before
    assert torch.get_rng_state().tolist() == random
    assert torch.is_grad_enabled()
    assert torch.get_default_dtype() is torch.float32
