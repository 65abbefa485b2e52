"""Batch norms folded into convolutions: the same function, fewer numbers, and as published."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest
import torch
from timm.layers import BatchNormAct2d, StdConv2d
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.modules.batchnorm import _BatchNorm

from imlp_audit.count.facts import Failure
from imlp_audit.errors import BuildError
from imlp_audit.models.build import build_host, fold_batch_norms
from imlp_audit.models.recipe import Recipe
from imlp_audit.numbers.parsing import parse_printed
from imlp_audit.numbers.printed import Rounding
from tests.models.test_strides import count, measured

# Table 4 of RepVGG (arXiv 2101.03697): parameters in M, of which it drops the later digits, and FLOPs in B. Its ResNets
# have their strides in 1x1 convolutions, its ResNeXts (32x4d) in 3x3 ones.
REPVGG = {
    "resnet18": ("11.68", "1.8", False),
    "resnet34": ("21.78", "3.7", False),
    "resnet50": ("25.53", "3.9", True),
    "resnet101": ("44.49", "7.6", True),
    "resnet152": ("60.11", "11.3", True),
    "resnext50_32x4d": ("24.99", "4.2", False),
    "resnext101_32x4d": ("44.10", "8.0", False),
    "efficientnet_b0": ("5.26", "0.4", False),
}
SLOW = {"resnet101", "resnet152", "resnext101_32x4d"}


def with_trained_norms(model: nn.Module) -> nn.Module:
    """Give a model norms that change what they are given."""
    for module in model.modules():
        if isinstance(module, _BatchNorm):
            for tensor, least, most in ((module.running_mean, -0.2, 0.2), (module.running_var, 0.7, 1.4)):
                if tensor is not None:
                    tensor.uniform_(least, most)
            if module.affine:
                nn.init.uniform_(module.weight, 0.7, 1.4)
                nn.init.uniform_(module.bias, -0.2, 0.2)
    return model


def folded(model: nn.Module, images: Tensor) -> tuple[int, int]:
    """Return how many norms of a model are folded, and how many numbers go; what it computes must stay."""
    torch.manual_seed(0)
    with_trained_norms(model.eval())
    model.pretrained_cfg = {"input_size": images.shape[1:]}  # type: ignore[assignment]
    other = copy.deepcopy(model)
    number = fold_batch_norms(other)
    with torch.no_grad():
        before, after = model(images), other(images)
    torch.testing.assert_close(after, before, rtol=1e-3, atol=1e-3)
    return number, size_of(model) - size_of(other)


def size_of(model: nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n in SLOW)) for n in REPVGG])
def test_the_resnets_of_repvgg_print_as_published(name: str) -> None:
    parameters, flops, in_1x1 = REPVGG[name]
    counted = count(Recipe.of(timm=name, image=224, form="deployed", stride_in_1x1=in_1x1))
    assert counted[0] in parse_printed(parameters).interval(Rounding.TRUNCATION) * 10**6
    assert counted[1] in parse_printed(flops).interval(Rounding.HALF_UP) * 10**9
    if name != "resnet18":  # 11.689 with its norms, and 11.684 without
        assert count(Recipe.of(timm=name))[0] not in parse_printed(parameters).interval(Rounding.TRUNCATION) * 10**6


@pytest.mark.parametrize("library", ["timm", "torchvision"])
def test_resnet50_loses_a_number_for_each_channel_of_a_norm(library: str) -> None:
    """Its stem has 64, its shortcuts 256 to 2048, and its 3, 4, 6 and 3 blocks p, p and 4p channels."""
    channels = 64 + sum(256 * 2**stage for stage in range(4))
    channels += sum(depth * 6 * 64 * 2**stage for stage, depth in enumerate((3, 4, 6, 3)))
    trained, deployed = (Recipe.of(**{library: "resnet50"}, image=224, form=form) for form in ("training", "deployed"))
    assert count(trained)[0] - count(deployed)[0] == channels == 26_560
    work = count(trained)[1]
    outputs = 64 * 112**2 + sum(256 * 2**stage * (56 // 2**stage) ** 2 for stage in range(4))
    for stage, depth in enumerate((3, 4, 6, 3)):
        planes, side = 64 * 2**stage, 56 // 2**stage
        first = 1 if stage == 0 else 4  # the first convolution of a stage runs before its stride
        outputs += side**2 * planes * (depth - 1 + first + depth + 4 * depth)
    assert count(deployed)[1] == work
    assert count(deployed, "ptflops")[1] == work + 1000 + outputs  # which counts biases
    assert count(trained, "fvcore")[1] - count(deployed, "fvcore")[1] == 2 * outputs  # which counts norms


@pytest.mark.parametrize(
    ("library", "name"),
    [
        ("timm", "resnet26d"),
        ("timm", "efficientnet_b0"),  # norms with an activation of their own
        ("timm", "densenet121"),  # norms before convolutions too
        ("timm", "dpn68"),
        ("timm", "convmixer_768_32"),  # no norm follows a convolution
        ("timm", "tf_mobilenetv3_small_minimal_100"),  # paddings that depend on the image
        ("torchvision", "shufflenet_v2_x0_5"),
        ("torchvision", "googlenet"),  # norms of a head that runs only in training
        ("torchvision", "regnet_y_400mf"),
    ],
)
def test_models_of_libraries_compute_the_same(library: str, name: str) -> None:
    model = build_host(Recipe.of(**{library: name}), None)
    channels = {m: m.num_features for m in model.modules() if isinstance(m, _BatchNorm)}
    number, fewer = folded(model, torch.randn(1, 3, 64, 64))
    assert number <= len(channels)
    assert (number == len(channels)) is (name not in {"densenet121", "dpn68", "convmixer_768_32", "googlenet"})
    if number == len(channels):
        assert fewer == sum(channels.values())  # none of these convolutions has a bias


class Net(nn.Module):
    """A convolution and a norm, with something between or beside them."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind
        self.conv = StdConv2d(8, 8, 3, padding=1) if kind == "standardised" else nn.Conv2d(8, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8, track_running_stats=kind != "own statistics", affine=kind != "plain norm")
        self.rest = nn.BatchNorm2d(8)

    def forward(self, x: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        """Keep the shape."""
        made = self.conv(x)
        if self.kind == "changed in place":
            made.clamp_(min=0)
        if self.kind == "dropout":
            made = functional.dropout(made, training=self.training)
        if self.kind == "of its type":
            made = made.to(torch.float32)
        y: Tensor = self.norm(made)
        match self.kind:
            case "used before the norm":
                y = y + made
            case "a view is used":
                y = y + made.flatten(1).mean()
            case "two norms":
                y = y + self.rest(made)
            case "norm used again":
                y = self.norm(torch.relu(y))
            case "convolution used again":
                y = self.conv(y)
        return (y, made) if self.kind == "returned too" else y


@pytest.mark.parametrize(
    "kind",
    [
        "standardised",
        "own statistics",
        "changed in place",
        "used before the norm",
        "returned too",
        "a view is used",
        "two norms",
        "norm used again",
        "convolution used again",
    ],
)
def test_a_norm_stays_that_does_more_or_less_than_follow(kind: str) -> None:
    assert folded(Net(kind), torch.randn(2, 8, 5, 5)) == (0, 0)


def folds_on(device: str, make: Callable[[], nn.Module], channels: int) -> int:
    """Return how many norms of a model on a device are folded."""
    with torch.device(device):
        net = make().eval()
        net.pretrained_cfg = {"input_size": (channels, 5, 5)}  # type: ignore[assignment]
        return fold_batch_norms(net)


@pytest.mark.parametrize("kind", ["dropout", "of its type"])
@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_what_changes_nothing_may_stand_between(kind: str, device: str) -> None:
    assert folds_on(device, lambda: Net(kind), 8) == 1


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_weights_that_are_made_of_others_stay(device: str) -> None:
    def make() -> nn.Module:
        return nn.Sequential(nn.utils.spectral_norm(nn.Conv2d(3, 4, 3)), nn.BatchNorm2d(4))

    assert folds_on(device, make, 3) == 0


class Direct(nn.Module):
    """A norm by torch's operation itself, which returns three tensors, after one that can be folded."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(3, 3, 1), nn.BatchNorm2d(3))

    def forward(self, x: Tensor) -> Tensor:
        zeros, ones = torch.zeros(3), torch.ones(3)
        return torch.native_batch_norm(self.first(x), ones, zeros, zeros, ones, False, 0.1, 1e-5)[0]


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_an_operation_that_returns_more_than_a_norm_still_does(device: str) -> None:
    assert folds_on(device, Direct, 3) == 1


@pytest.mark.parametrize(("kind", "fewer"), [("plain", 8 + 8), ("plain norm", 0)])
def test_a_bias_that_is_there_takes_the_norm_too(kind: str, fewer: int) -> None:
    assert folded(Net(kind), torch.randn(2, 8, 5, 5)) == (1, fewer)


def test_what_a_norm_does_besides_stays() -> None:
    net = nn.Sequential(nn.Conv2d(4, 6, 3, bias=False), BatchNormAct2d(6, act_layer=nn.SiLU))
    assert folded(net, torch.randn(2, 4, 5, 5)) == (1, 6)


class Named(nn.Module):
    """A convolution and its norm that are registered under two names each, or run from a list that torch cannot see."""

    def __init__(self, *, hidden: bool) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, 4, 3, bias=False), nn.BatchNorm2d(4)
        self.again, self.after = self.conv, self.norm
        self.hidden = [(self.conv, self.norm)] if hidden else []

    def forward(self, x: Tensor) -> Tensor:
        for conv, norm in self.hidden or [(self.again, self.after)]:
            x = norm(conv(x))
        return x


def test_modules_with_two_names_are_folded_under_both() -> None:
    assert folded(Named(hidden=False), torch.randn(2, 3, 5, 5)) == (1, 4)


def test_norms_that_still_run_are_an_error() -> None:
    with pytest.raises(BuildError, match="not among its submodules"):
        folded(Named(hidden=True), torch.randn(2, 3, 5, 5))


def test_synchronised_norms_are_folded() -> None:
    net = nn.Sequential(nn.Conv2d(3, 4, 3, bias=False), nn.SyncBatchNorm(4))
    assert folded(net, torch.randn(2, 3, 5, 5)) == (1, 4)


def test_other_dimensions_are_folded() -> None:
    net = nn.Sequential(nn.Conv1d(4, 6, 3, bias=False), nn.BatchNorm1d(6))
    assert folded(net, torch.randn(2, 4, 5)) == (1, 6)


def test_what_timm_merges_keeps_its_other_norms() -> None:
    """README of ChengpengChen/RepGhost: 6.6 M for 1.5x. Without the norms that timm leaves it were 6.54 M."""
    counted = count(Recipe.of(timm="repghostnet_150", form="deployed"))[0]
    assert counted in parse_printed("6.6").interval(Rounding.HALF_UP) * 10**6
    with torch.device("meta"):
        model = build_host(Recipe.of(timm="repghostnet_150", form="deployed"), None)
        assert fold_batch_norms(model)
    assert size_of(model) not in parse_printed("6.6").interval(Rounding.HALF_UP) * 10**6


@pytest.mark.parametrize("name", ["deit_tiny_patch16_224", "convmixer_768_32"])
def test_a_model_without_norms_after_convolutions_has_no_deployed_form(name: str) -> None:
    failure = measured(Recipe.of(timm=name, form="deployed"))
    assert isinstance(failure, Failure)
    assert failure.message == (
        f"form: {name} has no branches that timm merges and no batch norm that directly follows a convolution, so its "
        "deployed form is its training form"
    )


def test_a_model_of_transformers_is_folded() -> None:
    """ResNet-50, the same numbers as timm's."""
    config = {"depths": [3, 4, 6, 3]}
    theirs = {"architecture": "ResNetForImageClassification", "config": config}
    assert count(Recipe.of(transformers=theirs, classes=1000, form="deployed"))[0] == 25_557_032 - 26_560
