"""A layout: the names of one code base for a model's tensors, and ours for them, as data."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

Rules: TypeAlias = tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...]
"""Regular expressions, with what to put in their place, one after the other."""


@dataclass(frozen=True)
class NameLayout:
    """The names of one code base: `mark` is found in one of its names and in no other's.

    `unfolded` is found in our names of the tensors whose last axis lists the patches of 2 x 2 as `nn.Unfold` does
    (channel, row, column); ours list them by column, row, channel. `reshaped` is found in those that have another shape
    there with the same numbers in the same order, and `training` in the publisher's names of what only training needs.
    `eps` are the path of norms in our model and what the publisher's add to the variance.
    """

    name: str
    mark: str
    rules: Rules
    unfolded: str | None = None
    reshaped: str | None = None
    training: str | None = None
    eps: tuple[str, float] | None = None

    def rename(self, name: str) -> str:
        """Return our name of a tensor."""
        for pattern, ours in self.rules:
            name = re.sub(pattern, ours, name)
        return name

    def rename_all(self, names: Iterable[str]) -> dict[str, str]:
        """Return our name of each tensor that evaluation needs."""
        needed = (name for name in names if self.training is None or not re.search(self.training, name))
        return {name: self.rename(name) for name in needed}

    def is_unfolded(self, name: str) -> bool:
        """Say whether the tensor that has this name here lists patches as `nn.Unfold` does."""
        return self.unfolded is not None and re.search(self.unfolded, name) is not None

    def is_reshaped(self, name: str) -> bool:
        """Say whether the tensor that has this name here may have another shape in the publisher's code."""
        return self.reshaped is not None and re.search(self.reshaped, name) is not None
