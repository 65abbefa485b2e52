"""Batch norms folded into the convolutions before them, as networks are deployed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping

import torch
from timm.layers import BatchNormAct2d
from torch import Tensor, nn
from torch._ops import OpOverload
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.conv import _ConvNd
from torch.nn.utils.fusion import fuse_conv_bn_eval
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from imlp_audit.errors import BuildError
from imlp_audit.models.settings import example_inputs

_CONVOLUTIONS = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
_NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.SyncBatchNorm, BatchNormAct2d)


def fold_batch_norms(model: nn.Module) -> int:
    """Fold each batch norm that directly follows a convolution into it; return how many. The model is in eval mode.

    The convolution gets a bias, and the norm's numbers go. One pass shows which norm follows which convolution.
    """
    if not any(type(module) in _NORMS for module in model.modules()):
        return 0
    seen = _Uses()
    with torch.inference_mode(), seen:
        outputs = model(*example_inputs(model))
    seen.use(outputs)
    others: dict[nn.Module, nn.Module] = {}
    for convolution, norm in _find_pairs(model, seen):
        others |= {convolution: fuse_conv_bn_eval(convolution, norm), norm: _what_remains(norm)}
    for parent in list(model.modules()):
        for name, child in list(parent._modules.items()):  # named_children leaves out a second name of a module
            if child in others:
                setattr(parent, name, others[child])
    _check_folded(model, others)
    return len(others) // 2


def _check_folded(model: nn.Module, others: Collection[nn.Module]) -> None:
    """Raise BuildError if a norm that was folded still runs: a model may keep it where torch does not see it."""
    again = _Uses()
    with torch.inference_mode(), again:
        model(*example_inputs(model))
    if any(norm.running_mean in again.normed for norm in others if isinstance(norm, _BatchNorm)):
        raise BuildError("form: the model runs batch norms that are not among its submodules, so they cannot be folded")


class _Uses(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch types it in part
    """Counts how often each tensor is used, and keeps it, so that none that is made later gets its identity.

    `weights` are those of convolutions by what these make; `normed`, what batch norms are given, by their means.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.times: Counter[Tensor] = Counter()
        self.weights: dict[object, object] = {}
        self.normed: dict[object, object] = {}

    def __torch_dispatch__(
        self,
        func: OpOverload,
        types: object,
        args: tuple[object, ...] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        """Run an operation, and note what it uses: if it is made of others, what those use, which may be nothing."""
        called = kwargs or {}
        if func is not torch.ops.aten.batch_norm.default:
            with self:
                made = func.decompose(*args, **called)
            if made is not NotImplemented:
                return made
        self.use((args, called))
        if "batch_norm" in func._schema.name:
            self.normed[args[3]] = args[0]
        if func is torch.ops.aten.batch_norm.default and isinstance(args[0], Tensor) and args[0].is_meta:
            return torch.empty_like(args[0])  # torch's own shape function takes a hundred times as long
        result = func(*args, **called)
        if func is torch.ops.aten.convolution.default:
            self.weights[result] = args[1]
        return result

    def use(self, values: object) -> None:
        """Count one use of each tensor in a structure."""
        self.times.update(one for one in tree_leaves(values) if isinstance(one, Tensor))


def _find_pairs(model: nn.Module, seen: _Uses) -> Iterator[tuple[_ConvNd, _BatchNorm]]:
    """Yield each convolution with the norm that is given what it makes, if nothing else is and both run once.

    The weights of the convolution must be its own: those that are standardised or made of others first aren't.
    """
    ours = (m for m in model.modules() if isinstance(m, _CONVOLUTIONS) and isinstance(m.weight, nn.Parameter))
    convolutions: Mapping[object, _ConvNd] = {m.weight: m for m in ours}
    norms = {m.running_mean: m for m in model.modules() if isinstance(m, _BatchNorm) and type(m) in _NORMS}
    for mean, norm in norms.items():
        made = seen.normed.get(mean)
        weight = seen.weights.get(made)
        if weight in convolutions and all(seen.times[one] == 1 for one in (mean, made, weight)):  # type: ignore[index]
            yield convolutions[weight], norm


def _what_remains(norm: _BatchNorm) -> nn.Module:
    """Return what a norm does after it has normalised: an activation, in timm's norms that have one."""
    return nn.Sequential(norm.drop, norm.act) if isinstance(norm, BatchNormAct2d) else nn.Identity()
