from __future__ import annotations

from collections.abc import Mapping

import pytest
import torch
from torch import Tensor, nn
from torch.nn.modules import module as torch_module
from torch.utils._python_dispatch import TorchDispatchMode

from imlp_audit.count.call import Operation as Op
from imlp_audit.count.conventions import FLOPS_CONVENTIONS, total
from imlp_audit.count.hooks import Bucket
from imlp_audit.count.ledger import CallCache, Recorder, measure
from imlp_audit.count.record import Ledger
from imlp_audit.errors import BuildError

from .counters import by_operation, host

IMAGE = torch.empty(1, 3, 224, 224, device="meta")


def deit_tiny_macs() -> int:
    """Multiply-accumulates of DeiT-Ti: 196 patches and a class token, width 192, 12 blocks, 1000 classes."""
    tokens, width = 197, 192
    projections = tokens * width * width * (3 + 1 + 4 + 4)  # query, key, value; output; the MLP's two
    attention = 2 * tokens * tokens * width
    return 196 * width * 3 * 16 * 16 + 12 * (projections + attention) + width * 1000


def test_deit_tiny_equals_its_closed_formula() -> None:
    ledger = measure(host("deit_tiny_patch16_224", "meta"), IMAGE)
    assert total(ledger, FLOPS_CONVENTIONS["macs"]) == deit_tiny_macs()
    # Five for each element that the 25 LayerNorms see.
    assert total(ledger, FLOPS_CONVENTIONS["fvcore"]) == deit_tiny_macs() + 25 * 5 * 197 * 192


def test_published_flops_of_deit_tiny() -> None:
    ledger = measure(host("deit_tiny_patch16_224", "meta"), IMAGE)
    assert round(total(ledger, FLOPS_CONVENTIONS["fvcore"]) / 1e9, 4) == 1.2584


def test_work_of_the_mlps() -> None:
    model = host("deit_tiny_patch16_224", "meta")
    mlps = [path for path, _ in model.named_modules() if path.endswith(".mlp")]
    macs = total(measure(model, IMAGE).within(mlps), FLOPS_CONVENTIONS["macs"])
    assert macs == 12 * 197 * 192 * 192 * 8


def test_prefixes_match_whole_names() -> None:
    work = {("blocks.1", Op.LINEAR): 1, ("blocks.1.mlp", Op.LINEAR): 2, ("blocks.10", Op.LINEAR): 4, ("", Op.LINEAR): 8}
    ledger = Ledger(work, {})
    for prefixes, amount in ((["blocks.1"], 3), ([""], 15), ([], 0), (["blocks.10", "blocks.1.mlp"], 6)):
        assert sum(ledger.within(prefixes).work.values()) == amount


class Shared(nn.Module):
    """One linear layer called under two names, and a product of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(4, 4, bias=False)
        self.second = self.first

    def forward(self, x: Tensor) -> Tensor:
        return torch.matmul(self.second(self.first(x)), x)


def test_work_belongs_to_the_innermost_module() -> None:
    ledger = measure(Shared().to("meta"), torch.empty(4, 4, device="meta"))
    seen_by_hooks = (Op.IN_LAYERS, Op.THOP, Op.MMCV, Op.PTFLOPS_HOOKS)
    layers = {("first", one): 2 * 64 for one in (Op.LINEAR, *seen_by_hooks)}
    assert ledger.work == {**layers, ("", Op.PRODUCT): 64}


def test_work_of_layers_is_booked_a_second_time() -> None:
    """A function gets the same weights, and a class derived from a layer does its own thing: no hook sees either."""

    class Derived(nn.Linear):
        pass

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer, self.conv, self.derived = nn.Linear(4, 5), nn.Conv1d(5, 6, 1), Derived(6, 7)

        def forward(self, x: Tensor) -> Tensor:
            x = nn.functional.linear(x, self.layer.weight)
            x = self.conv(self.layer(x @ self.layer.weight).mT).mT
            y: Tensor = self.derived(x)
            return y

    work = measure(Model().to("meta"), torch.empty(2, 3, 4, device="meta")).by_site
    amounts = {op: sum(n for (_, one), n in work.items() if one is op) for op in (Op.IN_LAYERS, Op.LINEAR, Op.CONV)}
    assert amounts[Op.IN_LAYERS] == 6 * 4 * 5 + 6 * 5 * 6
    assert amounts[Op.CONV] == 6 * 5 * 6


class Failing(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        raise RuntimeError("planned failure")


def hooks() -> list[object]:
    """Return what is called at every module's forward pass."""
    return [*torch_module._global_forward_hooks.values(), *torch_module._global_forward_pre_hooks.values()]


def test_a_failing_model_keeps_no_hooks() -> None:
    model = nn.Sequential(nn.Linear(2, 2), Failing()).to("meta")
    with pytest.raises(RuntimeError, match="planned failure"):
        measure(model, torch.empty(1, 2, device="meta"))
    assert not hooks()
    assert torch.zeros(1).device.type == "cpu"


def test_a_counted_model_keeps_no_hooks() -> None:
    model = nn.Sequential(nn.Linear(2, 2)).to("meta")
    assert measure(model, torch.empty(1, 2, device="meta")) == measure(model, torch.empty(1, 2, device="meta"))
    assert not hooks()


def test_a_model_with_data_is_rejected() -> None:
    with pytest.raises(BuildError, match=r"weight is on cpu; build the model under torch.device\('meta'\)"):
        measure(nn.Linear(2, 2), torch.empty(1, 2, device="meta"))


class Positions(nn.Module):
    """Makes its tables in the forward pass, on torch's default device."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([x + torch.arange(4), torch.tensor([1.0, 2.0, 3.0, 4.0])])


def test_tables_made_on_the_cpu_follow_the_input() -> None:
    ledger = measure(Positions(), torch.empty(4, device="meta"))
    assert by_operation(ledger) == {Op.ELEMENTWISE: 4}


class Results(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Notes what every operation of a forward pass returns."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.seen: list[object] = []

    def __torch_dispatch__(
        self,
        func: torch._ops.OpOverload,
        types: tuple[type, ...],
        args: tuple[object, ...] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        result = func(*args, **(kwargs or {}))
        tensors = result if isinstance(result, tuple | list) else [result]
        described = [(t.shape, t.stride(), t.dtype, t.device) for t in tensors if isinstance(t, Tensor)]
        self.seen.append((func, described))
        return result


@pytest.mark.parametrize(
    "name",
    [
        "poolformer_s12",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("swin_tiny_patch4_window7_224", "maxvit_tiny_tf_224", "densenet121")
        ),
    ],
)
def test_cached_results_are_what_torch_returns(name: str) -> None:
    model = host(name, "meta")
    with torch.inference_mode(), Results() as real:
        model(IMAGE)
    with torch.inference_mode(), Recorder(Bucket(), {}), Results() as ours:
        model(IMAGE)
    assert ours.seen == real.seen


@pytest.mark.slow
def test_a_shared_cache_changes_no_count() -> None:
    cache: CallCache = {}
    for name in ("swin_tiny_patch4_window7_224", "poolformer_s12", "swin_tiny_patch4_window7_224"):
        model = host(name, "meta")
        assert measure(model, IMAGE, cache=cache) == measure(model, IMAGE)
