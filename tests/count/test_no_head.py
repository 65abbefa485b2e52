"""The work that `no_head` leaves out: that of the modules whose parameters `no_head` leaves out too."""

from __future__ import annotations

import pytest
import timm
import torch
from torch import Tensor, nn, zeros

from imlp_audit.count.conventions import FLOPS_CONVENTIONS, total
from imlp_audit.count.from_python import measure_model
from imlp_audit.count.ledger import measure
from imlp_audit.count.parameters import parameter_counts


@pytest.mark.parametrize(
    ("name", "work", "parameters"),
    [
        ("efficientnet_b0", 1280 * 1000, 1280 * 1000 + 1000),  # conv_head, 320 x 1280 x 7 x 7, is no classifier
        ("mobilenetv3_small_050", 1024 * 1000, 1024 * 1000 + 1000),  # nor is the one after pooling, 288 x 1024
        ("resnet50", 2048 * 1000, 2048 * 1000 + 1000),
        ("deit_tiny_patch16_224", 192 * 1000, 192 * 1000 + 1000),
        ("deit_tiny_distilled_patch16_224", 2 * 192 * 1000, 2 * (192 * 1000 + 1000)),
        # Two heads, each with a batch norm, which has parameters and no multiply-accumulates.
        ("levit_128s", 2 * 384 * 1000, 2 * (2 * 384 + 384 * 1000 + 1000)),
    ],
)
def test_the_classifier_and_nothing_else_is_left_out(name: str, work: int, parameters: int) -> None:
    with torch.device("meta"):
        model = timm.create_model(name)
        ledger = measure(model, torch.empty(1, 3, 224, 224))
    macs, rest = (total(ledger, FLOPS_CONVENTIONS[convention]) for convention in ("macs", "no_head"))
    counts = {str(convention): count for convention, count in parameter_counts(model).items()}

    assert macs - rest == work
    assert counts["all"] - counts["no_head"] == parameters


class Layered(nn.Module):
    """A classifier of two layers, under a name that no host has; `head` is a layer of the body."""

    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Linear(5, 7)
        self.answer = nn.Sequential(nn.Linear(7, 11), nn.ReLU(), nn.Linear(11, 13))

    def forward(self, x: Tensor) -> Tensor:
        logits: Tensor = self.answer(self.head(x))
        return logits

    def get_classifier(self) -> nn.Module:
        return self.answer


def test_a_classifier_of_several_layers_is_left_out_whole_whatever_its_name() -> None:
    found = measure_model(Layered(), zeros(3, 5))

    assert found.parameters["no_head"] == 5 * 7 + 7
    assert found.flops["no_head"] == 3 * 5 * 7
    assert found.flops["macs"] == 3 * (5 * 7 + 7 * 11 + 11 * 13)


def test_a_model_that_does_not_name_its_classifier_has_no_such_number() -> None:
    found = measure_model(nn.Sequential(nn.Linear(5, 7)), zeros(3, 5))

    assert "no_head" not in found.flops
    assert "no_head" not in found.parameters
    assert found.flops["macs"] == 3 * 5 * 7
