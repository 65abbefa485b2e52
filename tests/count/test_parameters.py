from __future__ import annotations

import pytest
import torch
from torch import nn

from imlp_audit.count.conventions import ParameterConvention
from imlp_audit.count.parameters import count_parameters
from imlp_audit.errors import BuildError

from .counters import host


def deit_tiny_parameters() -> int:
    """Width 192, 12 blocks: patch projection, class token, 197 positions, attention, MLP x4, norms."""
    width = 192
    attention = width * 3 * width + 3 * width + width * width + width
    mlp = 2 * 4 * width * width + 4 * width + width
    patches = 3 * 16 * 16 * width + width
    return patches + width + 197 * width + 12 * (attention + mlp + 4 * width) + 2 * width


HEAD = 192 * 1000 + 1000


def test_deit_tiny_equals_its_closed_formula() -> None:
    model = host("deit_tiny_patch16_224", "meta")
    assert count_parameters(model) == deit_tiny_parameters() + HEAD == 5_717_416
    assert count_parameters(model, ParameterConvention.NO_HEAD) == deit_tiny_parameters()


@pytest.mark.parametrize(
    ("name", "head"),
    [
        ("deit_tiny_distilled_patch16_224", 2 * HEAD),
        ("swin_tiny_patch4_window7_224", 768 * 1000 + 1000),
        ("poolformer_s12", 512 * 1000 + 1000),
        ("mixer_b16_224", 768 * 1000 + 1000),
    ],
)
def test_head_is_what_get_classifier_returns(name: str, head: int) -> None:
    model = host(name, "meta")
    assert count_parameters(model) - count_parameters(model, ParameterConvention.NO_HEAD) == head


class Tied(nn.Module):
    """A language model whose output layer is its embedding; the head adds a bias."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(10, 4)
        self.output = nn.Linear(4, 10)
        self.output.weight = self.embedding.weight

    def get_classifier(self) -> nn.Module:
        return self.output


def test_shared_parameters_count_once_and_stay_with_the_rest() -> None:
    assert count_parameters(Tied()) == 40 + 10
    assert count_parameters(Tied(), ParameterConvention.NO_HEAD) == 40


def test_buffers_do_not_count_and_frozen_parameters_do() -> None:
    assert count_parameters(nn.BatchNorm2d(8).requires_grad_(False)) == 16


def test_a_model_without_classifier_is_rejected() -> None:
    with pytest.raises(BuildError, match=r"Linear has no get_classifier\(\)"):
        count_parameters(nn.Linear(2, 2), ParameterConvention.NO_HEAD)


class Buffered(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm2d(3)
        self.register_buffer("index", torch.zeros(7), persistent=False)
        self.register_buffer("table", torch.zeros(5))
        self.register_buffer("none", None)


def test_buffers_are_those_of_the_state_dict() -> None:
    """3 weights and 3 biases; running mean and variance, the number of batches, and the table."""
    model = Buffered()
    assert count_parameters(model) == 6
    assert count_parameters(model, ParameterConvention.WITH_BUFFERS) == 6 + 3 + 3 + 1 + 5
    assert sum(value.numel() for value in model.state_dict().values()) == 6 + 3 + 3 + 1 + 5
