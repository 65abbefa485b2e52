"""From a recipe and a reading to a module, within limits: hosts, and what takes the place of their MLPs."""

from __future__ import annotations

import fnmatch
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from threading import get_ident

import torch
from timm.layers import BatchNormAct2d, ConvMlp, GatedMlp, GlobalResponseNormMlp, GluMlp, Mlp, SwiGLU
from timm.models.volo import ClassBlock
from timm.utils.model import reparameterize_model
from torch import Tensor, nn
from torch._ops import OpOverload
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.conv import _ConvNd
from torch.nn.modules.module import (
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)
from torch.nn.utils.fusion import fuse_conv_bn_eval
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from imlp_audit.errors import BuildError
from imlp_audit.models.available_hosts import Timm
from imlp_audit.models.blocks import ImlpRecipe
from imlp_audit.models.host import BuildRequest, Host
from imlp_audit.models.imlp import DepthwiseBlock, copy_module, imlp_for, with_activation
from imlp_audit.models.names.known import known_models, own_size
from imlp_audit.models.own import OwnBlock, PythonModule
from imlp_audit.models.readings import AnyReading, ClassToken, Reading
from imlp_audit.models.recipe import Form, Recipe, Replacement
from imlp_audit.models.recipe_changes import find_leaves
from imlp_audit.models.relatives import name_in_library
from imlp_audit.models.run_code import build_python, describe_error, locate, make_block, write_error
from imlp_audit.models.settings import example_inputs
from imlp_audit.models.torch_modes import SkipInitialisation
from imlp_audit.processes.limits import MEMORY_OF_CODE, LimitError, limited

OWN_KINDS = (Mlp, ConvMlp, GatedMlp, GlobalResponseNormMlp, GluMlp, SwiGLU)
"""The MLPs whose place a block of a user's own can take: all that timm has."""


def mlps_of(model: nn.Module, recipe: Recipe | None = None) -> dict[str, Mlp]:
    """Return the model's MLP modules by their dotted paths, in order; of any kind where a recipe has a block for it.

    They are timm's `Mlp` and what a model's own code makes of it, such as one that convolves between its layers.
    """
    kinds = OWN_KINDS if recipe is not None and recipe.own_block is not None else (Mlp,)
    return {path: module for path, module in model.named_modules() if isinstance(module, kinds)}


@contextmanager
def use_modules(model: nn.Module, replacements: Mapping[str, nn.Module]) -> Iterator[None]:
    """Put other modules at the given paths as long as the context lasts.

    So one host on the meta device serves all its variants and is built once.
    """
    originals = {path: model.get_submodule(path) for path in replacements}
    try:
        _place(model, replacements)
        yield
    finally:
        _place(model, originals)


def _place(model: nn.Module, modules: Mapping[str, nn.Module]) -> None:
    for path, module in modules.items():
        parent, _, name = path.rpartition(".")
        setattr(model.get_submodule(parent), name, module)


def make_replacements(
    host: nn.Module, mlps: Mapping[str, Mlp], recipe: Recipe, reading: AnyReading | None
) -> dict[str, nn.Module]:
    """Make what takes the place of the host's MLPs, all of which are given; nothing where they stay as they are.

    Raises BuildError for a host whose MLPs cannot be replaced.
    """
    if not recipe.changes_mlps:
        return {}
    if recipe.own_block is not None:
        _refuse_what_no_block_replaces(recipe, host, mlps)
    else:
        _refuse_what_would_stay(recipe, host, mlps)
    if recipe.mlp is None:
        return {path: with_activation(mlp, recipe.activation, agelu=recipe.agelu) for path, mlp in mlps.items()}
    chosen, block = _choose_mlps(recipe.mlp, mlps), recipe.mlp.block
    if isinstance(block, OwnBlock):
        return {path: make_block(block, path, mlp, reading) for path, mlp in chosen.items()}
    if not isinstance(reading, Reading):
        raise BuildError(f"{recipe.name} needs a reading of the IMLP block, and the paper has none")
    made: dict[object, nn.Module] = {}
    for path, mlp in chosen.items():
        like = _grid(host, path), str(mlp), type(host.get_submodule(path.rpartition(".")[0]))
        again = like in made and mlp.fc1.weight.is_meta  # without values, a copy is as good and faster to make
        made[path] = copy_module(made[like]) if again else _imlp_for(host, path, mlp, recipe, block, reading)
        made.setdefault(like, made[path])
    return {path: made[path] for path in chosen}


def _choose_mlps(replacement: Replacement, mlps: Mapping[str, Mlp]) -> dict[str, Mlp]:
    """Return the MLPs at the replacement's sites; each of its globs must name one."""
    for glob in replacement.sites:
        if not fnmatch.filter(mlps, glob):
            raise BuildError(f"sites: the host has no MLP at {glob!r}; its MLPs are at {', '.join(mlps)}")
    return {path: mlp for path, mlp in mlps.items() if any(fnmatch.fnmatchcase(path, g) for g in replacement.sites)}


def _refuse_what_would_stay(recipe: Recipe, host: nn.Module, mlps: Mapping[str, Mlp]) -> None:
    """Raise BuildError for a host with an MLP that cannot be replaced, or that would lose a part by it."""
    kinds = "hosts that work are ViT and DeiT, Swin, PoolFormer and others whose MLPs are all timm.layers.Mlp"
    if not mlps:
        raise BuildError(f"{recipe.name} has no timm.layers.Mlp that could be replaced; {kinds}")
    others = _other_mlps(host, mlps)
    if others:
        raise BuildError(f"{recipe.name} has MLPs of another kind, such as {others[0]}, that would stay; {kinds}")
    normed = [path for path, mlp in mlps.items() if not isinstance(mlp.norm, nn.Identity)]
    if normed:
        raise BuildError(f"{recipe.name} has a norm inside its MLP {normed[0]}, which the replacement would lose")


def _refuse_what_no_block_replaces(recipe: Recipe, host: nn.Module, mlps: Collection[str]) -> None:
    """Raise BuildError for a host without MLPs of timm, or with others unless the spec names those to replace."""
    if not mlps:
        known = ", ".join(kind.__name__ for kind in OWN_KINDS)
        raise BuildError(f"{recipe.name} has none of timm's MLPs, whose place a block can take: {known}")
    others = _other_mlps(host, mlps)
    if others and recipe.mlp is not None and recipe.mlp.sites == ("*",):
        name = next(iter(mlps)).rpartition(".")[2]
        raise BuildError(
            f"{recipe.name} has modules of other kinds called MLP, such as {others[0]}, that would stay; "
            f'if they should, name those to replace with sites, such as sites: ["*.{name}"]'
        )


def _other_mlps(host: nn.Module, mlps: Collection[str]) -> list[str]:
    """Return the paths of modules that are called MLPs and are none of these."""
    return [
        path
        for path, module in host.named_modules(remove_duplicate=False)
        if "mlp" in path.rpartition(".")[2].lower() and path not in mlps and not isinstance(module, nn.Identity)
    ]


def _grid(host: nn.Module, path: str) -> tuple[int, int] | None:
    """Return the (H, W) of the tokens that the MLP at a path sees, where its block (Swin's) or the host knows it."""
    block = host.get_submodule(path.rpartition(".")[0])
    known: tuple[int, int] | None = getattr(block, "input_resolution", None)
    embedding = getattr(host, "patch_embed", None) or getattr(host, "stem", None)  # Mixer's is its stem
    return known or getattr(embedding, "grid_size", None)


def _imlp_for(host: nn.Module, path: str, mlp: Mlp, recipe: Recipe, block: ImlpRecipe, reading: Reading) -> nn.Module:
    """Make the block that replaces the MLP at a path: its grid is the host's; it refuses other inputs."""
    prefix_tokens = getattr(host, "num_prefix_tokens", 0)
    replacement = imlp_for(mlp, block, reading, recipe.activation, grid=_grid(host, path), prefix_tokens=prefix_tokens)
    of_the_class_token = isinstance(host.get_submodule(path.rpartition(".")[0]), ClassBlock)  # alone, it has no grid
    replacement.advice = (
        f"; the MLP at {path} has no place for IMLP's convolution: replace only others with sites, or give "
        "part: channel, which needs none"
    )
    if replacement.spatial is not None and not of_the_class_token:
        replacement.spatial.register_forward_pre_hook(_refuse_a_kernel_larger_than_the_grid)
    return replacement


def _refuse_a_kernel_larger_than_the_grid(block: nn.Module, inputs: tuple[Tensor, ...]) -> None:
    """Raise BuildError where a depthwise convolution has taps that no place of its grid could use."""
    assert isinstance(block, DepthwiseBlock)
    height, width = inputs[0].shape[-2:]
    kernel = block.conv.kernel_size[0]
    if kernel > min(height, width):
        raise BuildError(f"kernel: {kernel} is larger than the grid of {height} x {width}")


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
        self, func: OpOverload, types: object, args: tuple[object, ...] = (), kwargs: Mapping[str, object] | None = None
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


MOST_PARTS = 20_000  # modules and tensors of parameters; NLLB-MoE, the largest of three libraries, has 8,000
_MEMORY = 1024**3
_SECONDS, _SECONDS_OF_CODE = 8.0, 600.0


@contextmanager
def limited_model(recipe: Recipe) -> Iterator[None]:
    """Raise BuildError where building or counting a model on the meta device takes more than any real model does."""
    parts, thread = 0, get_ident()

    def register(*_: object) -> None:
        nonlocal parts
        parts += get_ident() == thread  # another may build a model of its own
        if parts > MOST_PARTS:
            raise LimitError(f"it has more than {MOST_PARTS:,} modules and tensors of parameters")

    hooks = register_module_module_registration_hook(register), register_module_parameter_registration_hook(register)
    own = recipe.runs_code
    try:
        with limited(MEMORY_OF_CODE if own else _MEMORY, _SECONDS_OF_CODE if own else _SECONDS):
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
    """Merge branches as timm does for inference, and a norm that it merges into the classifier; return if any."""
    before = {path: tensor.shape for path, tensor in model.state_dict().items()}
    get_classifier = getattr(model, "get_classifier", lambda: None)
    paths = {module: path for path, module in model.named_modules()}
    parent = paths.get(get_classifier(), "").rpartition(".")[0]
    reparameterize_model(model, inplace=True)
    if isinstance(head := model.get_submodule(parent), nn.Linear):
        model.get_classifier = lambda: head  # type: ignore[assignment]
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
    library, name = found
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
            needed = self.essence(recipe, reading)
            # a replaced MLP may ask for a ViT without class token; a baseline keeps its own
            host = self._get(recipe, needed, needed.class_token if isinstance(needed, Reading) else ClassToken.KEPT)
            mlps = mlps_of(host, recipe)
            with SkipInitialisation():
                others = make_replacements(host, mlps, recipe, reading)
        with use_modules(host, others):
            yield Variant(host, tuple(mlps))

    def drop(self, host: Recipe) -> None:
        """Forget a host, which no recipe needs any more."""
        for key in [key for key in self._built if key[0] == host]:
            del self._built[key]

    def essence(self, recipe: Recipe, reading: AnyReading | None) -> AnyReading | None:
        """Return a reading without what changes nothing: a host that has no class token has none to remove."""
        if not isinstance(reading, Reading):
            return reading
        host = self._get(recipe, reading, ClassToken.KEPT)
        optional = isinstance(recipe.host, Timm) and getattr(host, "cls_token", None) is not None
        return reading if optional else replace(reading, class_token=ClassToken.KEPT)

    def _get(self, recipe: Recipe, reading: AnyReading | None, class_token: ClassToken) -> nn.Module:
        host = recipe.with_own_mlps()
        key = (host, None if isinstance(reading, Reading) else reading, class_token)
        if key not in self._built:
            self._built[key] = build_host(host, reading, class_token)
        return self._built[key]
