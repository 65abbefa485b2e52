"""Finding the MLPs of a host, and replacing them and nothing else."""

from __future__ import annotations

import fnmatch
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager

from timm.layers import ConvMlp, GatedMlp, GlobalResponseNormMlp, GluMlp, Mlp, SwiGLU
from timm.models.volo import ClassBlock
from torch import Tensor, nn

from imlp_audit.errors import BuildError
from imlp_audit.models import imlp
from imlp_audit.models.blocks import ImlpRecipe
from imlp_audit.models.imlp import imlp_for, with_activation
from imlp_audit.models.own import OwnBlock
from imlp_audit.models.readings import AnyReading, Reading
from imlp_audit.models.recipe import Recipe, Replacement
from imlp_audit.models.run_code import make_block

OWN_KINDS = (Mlp, ConvMlp, GatedMlp, GlobalResponseNormMlp, GluMlp, SwiGLU)
"""The MLPs whose place a block of a user's own can take: all that timm has."""


def mlps_of(model: nn.Module, recipe: Recipe | None = None) -> dict[str, Mlp]:
    """Return the model's MLP modules by their dotted paths, in order; of any kind where a recipe has a block for it.

    They are timm's `Mlp` and what a model's own code makes of it, such as one that convolves between its layers.
    """
    kinds = OWN_KINDS if recipe is not None and _is_own(recipe) else (Mlp,)
    return {path: module for path, module in model.named_modules() if isinstance(module, kinds)}


def _is_own(recipe: Recipe) -> bool:
    return recipe.mlp is not None and recipe.mlp.python is not None


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
    """Make what takes the place of the host's MLPs, all of which are given; nothing where they stay as they are."""
    if not recipe.changes_mlps:
        return {}
    chosen = changed_mlps(host, mlps, recipe)
    if recipe.mlp is None:
        return {path: with_activation(mlp, recipe.activation, agelu=recipe.agelu) for path, mlp in chosen.items()}
    block = recipe.mlp.block
    if isinstance(block, OwnBlock):
        return {path: make_block(block, path, mlp, reading) for path, mlp in chosen.items()}
    if not isinstance(reading, Reading):
        raise BuildError(f"{recipe.name} needs a reading of the IMLP block, and the paper has none")
    return {path: _imlp_for(host, path, mlp, recipe, block, reading) for path, mlp in chosen.items()}


def changed_mlps(host: nn.Module, mlps: Mapping[str, Mlp], recipe: Recipe) -> Mapping[str, Mlp]:
    """Return those of the host's MLPs that a recipe replaces, or gives another activation. Raises BuildError."""
    if _is_own(recipe):
        _refuse_what_no_block_replaces(recipe, host, mlps)
    else:
        _refuse_what_would_stay(recipe, host, mlps)
    return mlps if recipe.mlp is None else _choose_mlps(recipe.mlp, mlps)


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
    assert isinstance(block, imlp.DepthwiseBlock)
    height, width = inputs[0].shape[-2:]
    kernel = block.conv.kernel_size[0]
    if kernel > min(height, width):
        raise BuildError(f"kernel: {kernel} is larger than the grid of {height} x {width}")
