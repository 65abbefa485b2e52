"""Limits of a model that a spec asks for: a library builds a million layers if that is what an argument says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from torch.nn.modules.module import (
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)

from imlp_audit.errors import BuildError
from imlp_audit.models.recipe import Recipe
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
    own = recipe.code is not None
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
    numbers = sorted(_numbers(recipe.as_written(), ""), reverse=True)
    return f"; check `{numbers[0][1]}: {numbers[0][0]}`" if numbers else ""


def _numbers(value: object, path: str) -> Iterator[tuple[int, str]]:
    if isinstance(value, int) and not isinstance(value, bool):
        yield value, path
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _numbers(inner, str(key))
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for inner in value:
            yield from _numbers(inner, path)
