"""From a recipe and a reading to a module."""

from __future__ import annotations

import copy
import fnmatch
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
from timm.layers import Mlp
from timm.models.volo import ClassBlock
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from imlp_audit.errors import BuildError
from imlp_audit.models import imlp
from imlp_audit.models.agelu import AGeLU, SumOfFunctions, base_activation
from imlp_audit.models.hosting import build_host
from imlp_audit.models.reading import AnyReading, ClassToken, Reading
from imlp_audit.models.recipe import Activation, Recipe, Replacement, Sums
from imlp_audit.models.recipe import Imlp as ImlpRecipe
from imlp_audit.models.replace import mlps_of, swapped


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


def _grid(host: nn.Module, path: str) -> tuple[int, int] | None:
    """Return the (H, W) of the tokens that the MLP at a path sees, where host or block know it."""
    block = host.get_submodule(path.rpartition(".")[0])
    known: tuple[int, int] | None = getattr(block, "input_resolution", None)  # Swin's blocks
    return known or getattr(getattr(host, "patch_embed", None), "grid_size", None)


def _imlp_for(host: nn.Module, path: str, mlp: Mlp, recipe: Recipe, block: ImlpRecipe, reading: Reading) -> nn.Module:
    """Make the block that replaces one MLP: its widths and layout are the MLP's, its grid the host's."""
    use_conv = isinstance(mlp.fc1, nn.Conv2d)
    width, out = mlp.fc1.weight.shape[1], mlp.fc2.weight.shape[0]
    hidden = int(width * block.ratio)
    if not hidden:
        raise BuildError(f"ratio: {block.ratio:g} of {width} channels leaves the first FC layer none")
    replacement = imlp.Imlp(
        width,
        hidden,
        out,
        act_layer=base_activation(recipe.activation or Activation.GELU),
        bias=(mlp.fc1.bias is not None, mlp.fc2.bias is not None),
        drop=(mlp.drop1.p, mlp.drop2.p),
        use_conv=use_conv,
        reading=reading,
        kernel=block.kernel,
        part=block.part,
        plain=block.plain,
        grid=None if use_conv else _grid(host, path),
        prefix_tokens=getattr(host, "num_prefix_tokens", 0),
    )
    of_the_class_token = isinstance(host.get_submodule(path.rpartition(".")[0]), ClassBlock)  # alone, it has no grid
    if replacement.spatial is not None and not of_the_class_token:
        replacement.spatial.register_forward_pre_hook(_refuse_a_kernel_larger_than_the_grid)
    return replacement.train(mlp.training)


def _refuse_a_kernel_larger_than_the_grid(block: nn.Module, inputs: tuple[Tensor, ...]) -> None:
    """Raise BuildError where a depthwise convolution has taps that no place of its grid could use."""
    assert isinstance(block, imlp.DepthwiseBlock)
    height, width = inputs[0].shape[-2:]
    kernel = block.conv.kernel_size[0]
    if kernel > min(height, width):
        raise BuildError(f"kernel: {kernel} is larger than the grid of {height} x {width} that it moves over")


def _sums_for(mlp: Mlp, sums: Sums) -> nn.Module:
    """Make the sum of nonlinear functions that replaces one MLP."""
    use_conv = isinstance(mlp.fc1, nn.Conv2d)
    width = mlp.fc1.weight.shape[1]
    replacement: nn.Module = SumOfFunctions(width, sums.ratio, agelu=sums.agelu, channels_first=use_conv)
    return replacement.train(mlp.training)


def _with_activation(mlp: Mlp, recipe: Recipe) -> nn.Module:
    """Return the MLP with the same layers and the recipe's activation."""
    base = base_activation(recipe.activation or Activation.GELU)
    use_conv, hidden = isinstance(mlp.fc1, nn.Conv2d), mlp.fc1.weight.shape[0]
    act = AGeLU(hidden, base, channels_first=use_conv) if recipe.agelu else base()
    other: nn.Module = copy.copy(mlp)
    other._modules = {**mlp._modules, "act": act}
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
    _hosts: dict[tuple[Recipe, AnyReading | None, ClassToken], nn.Module] = field(default_factory=dict)

    def _host(self, recipe: Recipe, reading: AnyReading | None, class_token: ClassToken) -> nn.Module:
        host = recipe.model_copy(update={"mlp": None, "activation": None, "agelu": False})
        key = (host, None if isinstance(reading, Reading) else reading, class_token)
        if key not in self._hosts:
            self._hosts[key] = build_host(host, reading, class_token)
        return self._hosts[key]

    def _host_for(self, recipe: Recipe, reading: AnyReading | None) -> nn.Module:
        """Return the host; a replaced MLP may ask for a ViT without a class token, a baseline keeps its own."""
        host = self._host(recipe, reading, ClassToken.KEPT)
        has_token = recipe.timm is not None and getattr(host, "cls_token", None) is not None
        if isinstance(reading, Reading) and has_token:
            return self._host(recipe, reading, reading.class_token)
        return host

    @contextmanager
    def variant(self, recipe: Recipe, reading: AnyReading | None) -> Iterator[Variant]:
        """Yield the model of a recipe under a reading; it is the host itself, changed for the time of the context.

        Raises BuildError where the host is unknown or cannot take the replacement.
        """
        with torch.device(self.device), SkipInitialisation():
            host = self._host_for(recipe, reading)
            replacements = _replacements(host, recipe, reading)
        mlps = tuple(mlps_of(host))
        with swapped(host, replacements):
            yield Variant(host, mlps)


def _replacements(host: nn.Module, recipe: Recipe, reading: AnyReading | None) -> dict[str, nn.Module]:
    """Make what takes the place of the host's MLPs; nothing where they stay as they are."""
    if recipe.mlp is None and recipe.activation is None and not recipe.agelu:
        return {}
    chosen = changed_mlps(host, recipe)
    if recipe.mlp is None:
        return {path: _with_activation(mlp, recipe) for path, mlp in chosen.items()}
    if recipe.mlp.sums is not None:
        return {path: _sums_for(mlp, recipe.mlp.sums) for path, mlp in chosen.items()}
    assert recipe.mlp.imlp is not None
    if not isinstance(reading, Reading):
        raise BuildError(f"{recipe.name} is built under a reading of the IMLP block, and the paper names none")
    return {path: _imlp_for(host, path, mlp, recipe, recipe.mlp.imlp, reading) for path, mlp in chosen.items()}


def changed_mlps(host: nn.Module, recipe: Recipe) -> dict[str, Mlp]:
    """Return the host's MLPs that a recipe replaces, or gives another activation, by their paths. Raises BuildError."""
    mlps = mlps_of(host)
    _refuse_what_would_stay(recipe, host, mlps)
    return mlps if recipe.mlp is None else _chosen(recipe.mlp, mlps)


def _chosen(replacement: Replacement, mlps: Mapping[str, Mlp]) -> dict[str, Mlp]:
    """Return the MLPs at the replacement's sites; each of its globs must name one."""
    for glob in replacement.sites:
        if not fnmatch.filter(mlps, glob):
            raise BuildError(f"sites: no MLP of the host is at {glob!r}; they are at {', '.join(mlps)}")
    return {path: mlp for path, mlp in mlps.items() if any(fnmatch.fnmatchcase(path, g) for g in replacement.sites)}


def _refuse_what_would_stay(recipe: Recipe, host: nn.Module, mlps: Mapping[str, Mlp]) -> None:
    """Raise BuildError for a host of which some MLP would stay as it is, or lose a part that IMLP has not."""
    kinds = "hosts that work are ViT and DeiT, Swin, PoolFormer, LVT and others whose MLPs are all timm.layers.Mlp"
    if not mlps:
        raise BuildError(f"{recipe.name} has no timm.layers.Mlp that could be replaced; {kinds}")
    others = [
        path
        for path, module in host.named_modules(remove_duplicate=False)
        if "mlp" in path.rpartition(".")[2].lower() and path not in mlps and not isinstance(module, nn.Identity)
    ]
    if others:
        raise BuildError(f"{recipe.name} has MLPs of another kind, such as {others[0]}, that would stay; {kinds}")
    normed = [path for path, mlp in mlps.items() if not isinstance(mlp.norm, nn.Identity)]
    if normed:
        raise BuildError(f"{recipe.name} has a norm inside its MLP {normed[0]}, which the replacement would lose")
