"""Packages that count, each called as its documentation says on models as their libraries build them.

    pip install '.[counters]'
    python -m tests.count.packages

prints the table of docs/counters.md.
"""

from __future__ import annotations

import io
import statistics
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from typing import Any

import timm
import torch
import torchvision
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from imlp_audit.count.conventions import FLOPS_CONVENTIONS, total
from imlp_audit.count.fvcore import unfuse_attention
from imlp_audit.count.ledger import measure
from imlp_audit.count.record import Ledger

from .counters import image_size

MODELS = (
    "resnet50 vgg11_bn mobilenetv3_large_100 efficientnet_b0 densenet121 regnety_008 ghostnet_100 hrnet_w18_small"
    " convnext_tiny deit_small_patch16_224 swin_tiny_patch4_window7_224 mixer_s16_224 pvt_v2_b1 levit_192"
    " maxvit_tiny_tf_224 poolformer_s12 edgenext_x_small mobilevit_xs xcit_nano_12_p8_224 volo_d1_224"
    " tv:vit_b_16 tv:swin_t tv:shufflenet_v2_x1_0 tv:mobilenet_v2 tv:googlenet"
)


def on_meta(name: str) -> tuple[nn.Module, Tensor]:
    """A classifier of timm, or of torchvision (`tv:...`), and an image, without data."""
    with torch.device("meta"):
        if name.startswith("tv:"):
            options = {"init_weights": False, "aux_logits": False} if name == "tv:googlenet" else {}
            model: nn.Module = torchvision.models.get_model(name.removeprefix("tv:"), weights=None, **options)
            return model.eval(), torch.empty(1, 3, 224, 224)
        model = timm.create_model(name).eval()
        return model, torch.empty(image_size(model))


def on_processor(name: str) -> tuple[nn.Module, Tensor]:
    """The same with zeros; parameters want gradients, as they do when a user counts."""
    model, image = on_meta(name)
    model.to_empty(device="cpu")
    with torch.no_grad():
        for tensor in (*model.parameters(), *model.buffers()):
            tensor.zero_()
    return model, torch.zeros(image.shape)


def ledger_of(name: str) -> Ledger:
    """A classifier's ledger, as an audit measures it."""
    model, image = on_meta(name)
    return measure(unfuse_attention(model), image)


def _thop(model: nn.Module, image: Tensor) -> float:
    from thop import profile

    return float(profile(model, inputs=(image,), verbose=False)[0])


def _ptflops(**options: object) -> Callable[[nn.Module, Tensor], float]:
    def count(model: nn.Module, image: Tensor) -> float:
        from ptflops import get_model_complexity_info

        given: Any = {"as_strings": False, "print_per_layer_stat": False, **options}
        return float(get_model_complexity_info(model, tuple(image.shape[1:]), **given)[0])

    return count


def _mmcv(model: nn.Module, image: Tensor) -> float:
    from mmcv.cnn.utils import get_model_complexity_info

    found = get_model_complexity_info(model, tuple(image.shape[1:]), as_strings=False, print_per_layer_stat=False)
    return float(found[0])


def _mmengine(model: nn.Module, image: Tensor) -> float:
    from mmengine.analysis import get_model_complexity_info

    with torch.enable_grad():
        found = get_model_complexity_info(model, tuple(image.shape[1:]), show_table=False, show_arch=False)
    return float(found["flops"])


def _fvcore(model: nn.Module, image: Tensor) -> float:
    from fvcore.nn import FlopCountAnalysis

    with torch.enable_grad():
        counted = FlopCountAnalysis(model, image).unsupported_ops_warnings(False).uncalled_modules_warnings(False)
        return float(counted.total())


def _torch(model: nn.Module, image: Tensor) -> float:
    with FlopCounterMode(display=False) as counter:
        model(image)
    return float(counter.get_total_flops())


def _calflops(kind: int) -> Callable[[nn.Module, Tensor], float]:
    def count(model: nn.Module, image: Tensor) -> float:
        from calflops import calculate_flops

        found = calculate_flops(model, tuple(image.shape), output_as_string=False, print_results=False)
        return float(found[kind])

    return count


def _deepspeed(kind: int) -> Callable[[nn.Module, Tensor], float]:
    def count(model: nn.Module, image: Tensor) -> float:
        from deepspeed.profiling.flops_profiler import get_model_profile

        options: Any = {"print_profile": False, "detailed": False, "as_string": False, "warm_up": 0}
        return float(get_model_profile(model, tuple(image.shape), **options)[kind])

    return count


def _torchinfo(model: nn.Module, image: Tensor) -> float:
    from torchinfo import summary

    return float(summary(model, input_size=tuple(image.shape), verbose=0).total_mult_adds)


@dataclass(frozen=True)
class Package:
    """A package's counter, and the convention nearest to it; its `own` equals it on all models.

    `unfused` if timm's attention computes its products apart.
    """

    convention: str
    count: Callable[[nn.Module, Tensor], float]
    own: bool = False
    unfused: bool = False

    def __call__(self, name: str) -> int:
        """The count of a classifier."""
        model, image = on_processor(name)
        with quiet(), torch.no_grad():
            return int(self.count(unfuse_attention(model) if self.unfused else model, image))


@contextmanager
def quiet() -> Iterator[None]:
    """Ignore warnings and what is printed."""
    with warnings.catch_warnings(), redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        yield


PACKAGES: Mapping[str, Package] = {
    "fvcore": Package("fvcore_fused", _fvcore, own=True),
    "mmengine": Package("fvcore_fused", _mmengine, own=True),
    "thop": Package("thop", _thop, own=True),
    "mmcv": Package("mmcv", _mmcv, own=True),
    'ptflops, "pytorch", no functional calls': Package(
        "ptflops_hooks", _ptflops(backend="pytorch", backend_specific_config={"count_functional": False}), own=True
    ),
    'ptflops, "pytorch"': Package("ptflops_hooks", _ptflops(backend="pytorch")),
    'ptflops, "aten", attention not fused': Package("ptflops", _ptflops(backend="aten"), own=True, unfused=True),
    'ptflops, "aten"': Package("ptflops", _ptflops(backend="aten")),
    "torch, FlopCounterMode, attention not fused": Package("torch", _torch, own=True, unfused=True),
    "torch, FlopCounterMode": Package("torch", _torch),
    "calflops, MACs": Package("no_products", _calflops(1)),
    "calflops, FLOPs": Package("torch", _calflops(0)),
    "deepspeed, MACs": Package("macs", _deepspeed(1)),
    "deepspeed, FLOPs": Package("torch", _deepspeed(0)),
    "torchinfo, mult-adds": Package("macs", _torchinfo),
}


def main() -> None:
    """Print how far the nearest convention is from each package."""
    names = MODELS.split()
    ledgers = {name: ledger_of(name) for name in names}
    print("| counter | nearest convention | equal | median difference | largest difference |")
    print("| --- | --- | --: | --: | --- |")
    for title, package in PACKAGES.items():
        ours = {name: total(ledgers[name], FLOPS_CONVENTIONS[package.convention]) for name in names}
        apart = {name: ours[name] / package(name) - 1 for name in names}
        equal, worst = sum(gap == 0 for gap in apart.values()), max(names, key=lambda name: abs(apart[name]))
        largest = f"{apart[worst]:+.2%} ({worst})" if apart[worst] else "0"
        middle = statistics.median(map(abs, apart.values()))
        print(f"| {title} | `{package.convention}` | {equal} of {len(names)} | {middle:.2%} | {largest} |", flush=True)


if __name__ == "__main__":
    main()
