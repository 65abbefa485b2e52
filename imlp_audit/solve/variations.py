"""Recipes that differ from a row's in one place, which a text may leave open or get wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TypeAlias

from pydantic import ValidationError

from imlp_audit.models.recipe import Recipe
from imlp_audit.records.solution import SolvedChange

# The sides that published classifiers take; the kernels and ratios around those of IMLP's Tables 1 and 5.
SIDES = (160, 192, 224, 256, 288, 300, 320, 336, 380, 384, 448, 456, 480, 512, 528, 576, 600)
KERNELS = (1, 3, 5, 7, 9)
RATIOS = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0)

Variation: TypeAlias = tuple[SolvedChange, Recipe]
Edit: TypeAlias = tuple[SolvedChange, Mapping[str, object]]
"""What differs, in words and as a recipe writes it."""


def with_other_blocks(recipe: Recipe, mlps: Sequence[str]) -> Iterator[Variation]:
    """Yield recipes whose IMLP blocks differ in one place, with what differs; `mlps` are the host's."""
    for change, fields in _blocks(recipe, mlps):
        varied = _edit(recipe, fields)
        if varied is not None:
            yield change, varied


def with_other_sides(recipe: Recipe, side: int, *, larger: bool) -> Iterator[Variation]:
    """Yield the recipes with images larger than their own `side`, or smaller ones, the nearest first."""
    for other in sorted(SIDES, reverse=not larger):
        varied = _edit(recipe, {"image": other}) if (other > side if larger else other < side) else None
        if varied is not None:
            yield SolvedChange(axis="image", was=str(side), becomes=str(other)), varied


def _edit(recipe: Recipe, change: Mapping[str, object]) -> Recipe | None:
    """Return the recipe with some fields changed; None where no such model exists."""
    try:
        return recipe.with_change(change)
    except ValidationError:
        return None


def _blocks(recipe: Recipe, mlps: Sequence[str]) -> Iterator[Edit]:
    """Yield other kernels, ratios and places of IMLP blocks."""
    block = recipe.imlp
    if block is None or recipe.mlp is None:
        return
    for kernel in KERNELS:
        if kernel != block.kernel:
            yield (
                SolvedChange(axis="kernel", was=str(block.kernel), becomes=str(kernel)),
                {"mlp": {"imlp": {"kernel": kernel}}},
            )
    for ratio in RATIOS:
        if ratio != block.ratio:
            yield (
                SolvedChange(axis="ratio", was=f"{block.ratio:g}", becomes=f"{ratio:g}"),
                {"mlp": {"imlp": {"ratio": ratio}}},
            )
    if recipe.mlp.sites == ("*",):
        for name, sites in _sites(mlps):
            yield SolvedChange(axis="sites", was="all", becomes=name), {"mlp": {"sites": sites}}


def _sites(mlps: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the MLPs of some but not all stages; for a host without stages, some of its MLPs."""
    stages: dict[str, list[str]] = {}
    for path in mlps:
        stages.setdefault(stage_of(path), []).append(path)
    if len(stages) == 1:
        yield from ((f"{number} of {len(mlps)}", tuple(mlps[:number])) for number in range(1, len(mlps)))
        return
    for number in range(1, len(stages)):
        for chosen in combinations(stages, number):
            name = " and ".join(f"{stage}.*" for stage in chosen)
            yield name, tuple(path for stage in chosen for path in stages[stage])


def stage_of(path: str) -> str:
    """Return where a block is, "stages.1" of the MLP "stages.1.blocks.0.mlp", "blocks" of "blocks.0.mlp"."""
    return re.sub(r"(\.blocks)?\.\d+\.mlp$", "", path)
