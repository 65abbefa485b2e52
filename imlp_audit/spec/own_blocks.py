"""Blocks of a paper's own in place of MLPs: their families of axes, and what readings say about them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from imlp_audit.errors import Problem, did_you_mean
from imlp_audit.models.own import OwnBlock
from imlp_audit.models.reading import OwnFamily, axis_of
from imlp_audit.models.recipe import Recipe
from imlp_audit.spec.readings import Choice
from imlp_audit.spec.references import rows_of
from imlp_audit.spec.tree import Located

if TYPE_CHECKING:
    from imlp_audit.spec.paper import Paper

_BLOCK = ("model", "mlp", "python")


def own_families(paper: Paper) -> tuple[OwnFamily, ...]:
    """Return the families of axes that a paper's own blocks declare, in the order of its models."""
    rows = (row.row.model for row in rows_of(paper))
    blocks = map(_block_of, (*rows, *(system.value.model for system in paper.systems)))
    return tuple(dict.fromkeys(one.family for one in blocks if one is not None and one.family is not None))


def _block_of(recipe: Recipe | None) -> OwnBlock | None:
    return recipe.mlp.python if recipe is not None and recipe.mlp is not None else None


def broken_blocks(paper: Paper) -> Iterator[Problem]:
    """Yield a problem for each block that has the name of another, and for what readings say about no axis."""
    yield from _blocks_of_one_name(paper)
    families: dict[str, OwnFamily] = {}
    for family in own_families(paper):
        families.setdefault(family.name, family)
    for name, reading in paper.about.value.readings.items():
        for block, choices in reading.blocks.items():
            if block in families:
                found = _choices(families[block], choices)
            else:
                found = iter([((), f"no model has a block {block!r} with axes; {did_you_mean(block, list(families))}")])
            for below, message in found:
                yield paper.about.problem(message, "readings", name, "blocks", block, *below)


def _blocks_of_one_name(paper: Paper) -> Iterator[Problem]:
    files: dict[str, str] = {}
    places: list[tuple[Recipe | None, Located[Any], tuple[str | int, ...]]]
    places = [(row.row.model, row.table, ("rows", row.index)) for row in rows_of(paper)]
    places += [(system.value.model, system, ()) for system in paper.systems]
    for recipe, located, at in places:
        block = _block_of(recipe)
        if block is not None and files.setdefault(block.name, block.file) != block.file:
            message = (
                f"the block of {files[block.name]} is called {block.name} too, and readings go by the name; rename one"
            )
            yield located.problem(message, *at, *_BLOCK, "name")


def _choices(family: OwnFamily, choices: Mapping[str, Choice[str]]) -> Iterator[tuple[Sequence[str], str]]:
    """Yield each answer of a reading that names an unknown axis of a block, or an unknown value, and say why."""
    values = dict(family.axes)
    for axis, choice in choices.items():
        known = values.get(axis_of(family.name, axis))
        if known is None:
            names = [name.partition(".")[2] for name in values]
            yield (axis,), f"{family.name} has no axis {axis!r}; {did_you_mean(axis, names)}"
        elif choice.value not in known:
            yield (axis, "value"), f"{axis} is never {choice.value!r}; {did_you_mean(choice.value, known)}"
