"""From a recipe and a reading to a module."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import timm
import torch
from timm.layers import Mlp
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from imlp_audit.errors import BuildError
from imlp_audit.models import imlp
from imlp_audit.models.agelu import base_activation
from imlp_audit.models.reading import ClassToken, Reading
from imlp_audit.models.recipe import Activation, Recipe
from imlp_audit.models.swap import mlps_of, swapped
from imlp_audit.near import did_you_mean


class SkipInitialisation(TorchFunctionMode):
    """Skips in-place arithmetic on meta tensors, which is how weights are initialised: there are none to set.

    Building a host is three times as fast so; shapes and sharing stay as they are.
    """

    _IN_PLACE = frozenset({"uniform_", "normal_", "erfinv_", "mul_", "add_", "clamp_", "fill_", "zero_", "copy_"})

    def __torch_function__(
        self,
        func: Callable[..., object],
        types: Sequence[type],
        args: tuple[object, ...] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        """Return the tensor that an in-place call was to change; run every other call."""
        target = args[0] if args else None
        if isinstance(target, Tensor) and target.is_meta and getattr(func, "__name__", "") in self._IN_PLACE:
            return target
        return func(*args, **(kwargs or {}))


def build_host(name: str, class_token: ClassToken = ClassToken.KEPT) -> nn.Module:
    """Build a timm classifier by name, with fresh weights on the current default device, in eval mode.

    A ViT whose class token is removed averages its patches after its last norm, as the released IFFN
    code does; hosts without a class token are the same either way. Raises BuildError.
    """
    if not timm.is_model(name):
        raise BuildError(f"timm has no model {name!r}; {did_you_mean(name, timm.list_models(), 'it has')}")
    options = {}
    if class_token is ClassToken.REMOVED:
        options = {"class_token": False, "global_pool": "avg", "fc_norm": False}
    model: nn.Module = timm.create_model(name, pretrained=False, **options)
    return model.eval()


def _grid(host: nn.Module, path: str) -> tuple[int, int] | None:
    """Return the (H, W) of the tokens that the MLP at a path sees, where host or block know it."""
    block = host.get_submodule(path.rpartition(".")[0])
    known: tuple[int, int] | None = getattr(block, "input_resolution", None)  # Swin's blocks
    return known or getattr(getattr(host, "patch_embed", None), "grid_size", None)


def _imlp_for(host: nn.Module, path: str, mlp: Mlp, recipe: Recipe, reading: Reading) -> nn.Module:
    """Make the block that replaces one MLP: its widths and layout are the MLP's, its grid the host's."""
    assert recipe.mlp is not None
    block = recipe.mlp.imlp
    use_conv = isinstance(mlp.fc1, nn.Conv2d)
    width = mlp.fc1.in_channels if use_conv else mlp.fc1.in_features
    out = mlp.fc2.out_channels if use_conv else mlp.fc2.out_features
    replacement: nn.Module = imlp.Imlp(
        width,
        int(width * block.ratio),
        out,
        act_layer=base_activation(recipe.activation or Activation.GELU),
        bias=(mlp.fc1.bias is not None, mlp.fc2.bias is not None),
        drop=(mlp.drop1.p, mlp.drop2.p),
        use_conv=use_conv,
        reading=reading,
        kernel=block.kernel,
        part=block.part,
        grid=None if use_conv else _grid(host, path),
        prefix_tokens=getattr(host, "num_prefix_tokens", 0),
    )
    return replacement.train(mlp.training)


def _with_activation(mlp: Mlp, activation: Activation) -> nn.Module:
    """Return the MLP with the same layers and another activation."""
    other: nn.Module = copy.copy(mlp)
    other._modules = {**mlp._modules, "act": base_activation(activation)()}
    return other


@dataclass(frozen=True)
class Variant:
    """A model as a recipe describes it, and the dotted paths of its MLP modules or their replacements."""

    model: nn.Module
    mlps: tuple[str, ...]


@dataclass(frozen=True)
class Builder:
    """Builds hosts once and makes their variants in place, on one device ("meta" where nothing is computed)."""

    device: str = "meta"
    _hosts: dict[tuple[str, ClassToken], nn.Module] = field(default_factory=dict)

    def _host(self, name: str, class_token: ClassToken) -> nn.Module:
        key = (name, class_token)
        if key not in self._hosts:
            self._hosts[key] = build_host(name, class_token)
        return self._hosts[key]

    def _host_for(self, recipe: Recipe, reading: Reading | None) -> nn.Module:
        """Return the host; a replaced MLP may ask for one without a class token, a baseline keeps its own."""
        host = self._host(recipe.timm, ClassToken.KEPT)
        has_token = getattr(host, "cls_token", None) is not None
        if recipe.mlp is not None and reading is not None and has_token:
            return self._host(recipe.timm, reading.class_token)
        return host

    @contextmanager
    def variant(self, recipe: Recipe, reading: Reading | None) -> Iterator[Variant]:
        """Yield the model of a recipe under a reading; it is the host itself, changed for the time of the context.

        Raises BuildError where the host is unknown or cannot take the replacement.
        """
        with torch.device(self.device), SkipInitialisation():
            host = self._host_for(recipe, reading)
            replacements = _replacements(host, recipe, reading)
        mlps = tuple(mlps_of(host))
        with swapped(host, replacements):
            yield Variant(host, mlps)


def _replacements(host: nn.Module, recipe: Recipe, reading: Reading | None) -> dict[str, nn.Module]:
    """Make what takes the place of the host's MLPs; nothing where they stay as they are."""
    if recipe.mlp is None and recipe.activation is None:
        return {}
    mlps = mlps_of(host)
    _refuse_what_would_stay(recipe, host, mlps)
    if recipe.mlp is not None:
        if reading is None:
            raise BuildError(f"{recipe.timm} + IMLP is built under a reading, and the paper names none")
        return {path: _imlp_for(host, path, mlp, recipe, reading) for path, mlp in mlps.items()}
    assert recipe.activation is not None
    return {path: _with_activation(mlp, recipe.activation) for path, mlp in mlps.items()}


def _refuse_what_would_stay(recipe: Recipe, host: nn.Module, mlps: Mapping[str, Mlp]) -> None:
    """Raise BuildError for a host of which some MLP would stay as it is, or lose a part that IMLP has not."""
    kinds = "hosts that work are ViT and DeiT, Swin, PoolFormer and others whose MLPs are all timm.layers.Mlp"
    if not mlps:
        raise BuildError(f"{recipe.timm} has no timm.layers.Mlp that could be replaced; {kinds}")
    others = [
        path
        for path, module in host.named_modules(remove_duplicate=False)
        if "mlp" in path.rpartition(".")[2].lower() and path not in mlps and not isinstance(module, nn.Identity)
    ]
    if others:
        raise BuildError(f"{recipe.timm} has MLPs of another kind, such as {others[0]}, that would stay; {kinds}")
    normed = [path for path, mlp in mlps.items() if not isinstance(mlp.norm, nn.Identity)]
    if normed:
        raise BuildError(f"{recipe.timm} has a norm inside its MLP {normed[0]}, which the replacement would lose")
