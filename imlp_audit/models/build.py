"""From a recipe and a reading to a module, within limits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field

import torch
from timm.utils.model import reparameterize_model
from torch import nn
from torch.nn.modules.module import (
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)

from imlp_audit.errors import BuildError
from imlp_audit.models.change import find_leaves
from imlp_audit.models.folding import fold_batch_norms
from imlp_audit.models.host import BuildRequest, Host
from imlp_audit.models.hosts import Timm
from imlp_audit.models.names.known import known_models, own_size
from imlp_audit.models.own import PythonModule
from imlp_audit.models.readings import AnyReading, ClassToken, Reading
from imlp_audit.models.recipe import Form, Recipe
from imlp_audit.models.relatives import name_in_library
from imlp_audit.models.replace import make_replacements, mlps_of, use_modules
from imlp_audit.models.run_code import build_python, describe_error, locate, write_error
from imlp_audit.models.torch_modes import SkipInitialisation
from imlp_audit.processes.limits import LimitError, limited

MOST_PARTS = 20_000  # modules and tensors of parameters; NLLB-MoE, the largest of three libraries, has 8,000
_MEMORY = 1024**3
_MEMORY_OF_CODE = 8 * 1024**3  # of somebody's own, which has a process with a time limit
_SECONDS, _SECONDS_OF_CODE = 8.0, 600.0


@contextmanager
def limited_model(recipe: Recipe) -> Iterator[None]:
    """Raise BuildError where building or counting a model on the meta device takes more than any real model does."""
    parts = 0

    def register(*_: object) -> None:
        nonlocal parts
        parts += 1
        if parts > MOST_PARTS:
            raise LimitError(f"it has more than {MOST_PARTS:,} modules and tensors of parameters")

    hooks = register_module_module_registration_hook(register), register_module_parameter_registration_hook(register)
    own = recipe.runs_code
    try:
        with limited(_MEMORY_OF_CODE if own else _MEMORY, _SECONDS_OF_CODE if own else _SECONDS):
            yield
    except LimitError as error:
        raise BuildError(f"{recipe.name} is too large to be built and counted: {error}{_advice(recipe)}") from error
    finally:
        for hook in hooks:
            hook.remove()


def _advice(recipe: Recipe) -> str:
    """Name the largest number that the recipe asks for, which is where a mistake is likely."""
    leaves = find_leaves(recipe.as_written())
    lists = ((path[-1], value if isinstance(value, list | tuple) else [value]) for path, value in leaves.items())
    numbers = [(one, name) for name, values in lists for one in values if type(one) is int]
    return f"; check `{max(numbers)[1]}: {max(numbers)[0]}`" if numbers else ""


_POINT = (1, 1)


def move_strides(model: nn.Module) -> int:
    """Move the stride of each bottleneck from its second convolution to its first, 1x1; return how many were moved.

    The shapes of all that leaves a bottleneck stay. One whose map is halved by another layer, such as timm's filters
    against aliasing, stays as it is.
    """
    moved = 0
    for module in model.modules():
        first, second = getattr(module, "conv1", None), getattr(module, "conv2", None)
        if isinstance(first, nn.Conv2d) and isinstance(second, nn.Conv2d) and _may_move(first, second):
            first.stride, second.stride = second.stride, first.stride
            moved += 1
    return moved


def _may_move(first: nn.Conv2d, second: nn.Conv2d) -> bool:
    in_1x1 = first.kernel_size == first.stride == _POINT and first.out_channels == second.in_channels
    return in_1x1 and second.kernel_size != _POINT and second.stride != _POINT


def deploy(model: nn.Module, host: Host) -> None:
    """Merge the branches of a model, in eval mode, as timm does for inference; fold the batch norms of any other.

    Of a model that timm merges, the norms that timm leaves stay. Raises BuildError for a model with neither.
    """
    merged = isinstance(host, Timm) and _merge_branches(model)
    if not merged and not fold_batch_norms(model):
        raise BuildError(
            f"form: {host.value()} has no branches that timm merges and no batch norm that directly follows a "
            "convolution, so its deployed form is its training form"
        )


def _merge_branches(model: nn.Module) -> bool:
    """Merge branches as timm does for inference; return whether there were any."""
    before = {path: tensor.shape for path, tensor in model.state_dict().items()}
    reparameterize_model(model, inplace=True)
    return {path: tensor.shape for path, tensor in model.state_dict().items()} != before


def build_host(recipe: Recipe, reading: AnyReading | None, class_token: ClassToken = ClassToken.KEPT) -> nn.Module:
    """Build the host of a recipe with fresh weights on the current default device, in eval mode. Raises BuildError.

    Hosts without an optional class token are the same either way. Nothing is downloaded.
    """
    with SkipInitialisation():
        request = BuildRequest(recipe.image, recipe.classes, reading, class_token)
        host = recipe.host
        model = (build_python(host) if isinstance(host, PythonModule) else host.build(request)).eval()
    if recipe.stride_in_1x1 and not move_strides(model):
        raise BuildError(f"stride_in_1x1: {recipe.host.value()} has no ResNet bottleneck whose stride could be moved")
    if recipe.form is Form.DEPLOYED:
        deploy(model, recipe.host)
    return model


def describe_failure(recipe: Recipe, error: BaseException) -> str:
    """Return why a model could not be built or counted; of a user's own code, the line comes first."""
    code = recipe.code
    in_it = code is not None and code.folder is not None and locate(error, code.folder, "")
    if code is not None and (in_it or isinstance(code, PythonModule)):
        return describe_error(code, error)
    return f"{recipe.name} could not be built or counted: {write_error(error)}{_advise_on_images(recipe)}"


def _advise_on_images(recipe: Recipe) -> str:
    """Say for which images a library has a model that was asked for others."""
    found = name_in_library(recipe)
    if found is None or recipe.image is None:
        return ""
    library, name = found[0], found[1].partition(".")[0]
    own = own_size(library, name) if name in known_models(library) else 0
    other = own and recipe.image != (own, own)
    return f"; {library} has it for {own} x {own}: remove `image`, or give a size that it takes" if other else ""


@dataclass(frozen=True)
class Variant:
    """A model as a recipe describes it, and the dotted paths of its MLP modules or their replacements."""

    model: nn.Module
    mlps: tuple[str, ...]


@dataclass(frozen=True)
class Builder:
    """Builds hosts once and makes their variants in place, on one device ("meta" where nothing is computed)."""

    device: str = "meta"
    _built: dict[tuple[Recipe, AnyReading | None, ClassToken], nn.Module] = field(default_factory=dict)

    @contextmanager
    def variant(self, recipe: Recipe, reading: AnyReading | None) -> Iterator[Variant]:
        """Yield the model of a recipe under a reading: the host itself, changed as long as the context lasts.

        Raises BuildError where the host is unknown, too large, or cannot take the replacement.
        """
        limits = limited_model(recipe) if self.device == "meta" else nullcontext()
        with torch.device(self.device), limits:
            host = self._host_for(recipe, reading)
            mlps = mlps_of(host, recipe)
            with SkipInitialisation():
                others = make_replacements(host, mlps, recipe, reading)
        with use_modules(host, others):
            yield Variant(host, tuple(mlps))

    def drop(self, host: Recipe) -> None:
        """Forget a host, which no recipe needs any more."""
        for key in [key for key in self._built if key[0] == host]:
            del self._built[key]

    def _host_for(self, recipe: Recipe, reading: AnyReading | None) -> nn.Module:
        """Return the host. A replaced MLP may ask for a ViT without class token; a baseline keeps its own."""
        host = self._get(recipe, reading, ClassToken.KEPT)
        optional = isinstance(recipe.host, Timm) and getattr(host, "cls_token", None) is not None
        if isinstance(reading, Reading) and optional:
            return self._get(recipe, reading, reading.class_token)
        return host

    def _get(self, recipe: Recipe, reading: AnyReading | None, class_token: ClassToken) -> nn.Module:
        host = recipe.with_own_mlps()
        key = (host, None if isinstance(reading, Reading) else reading, class_token)
        if key not in self._built:
            self._built[key] = build_host(host, reading, class_token)
        return self._built[key]
