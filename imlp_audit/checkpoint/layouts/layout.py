"""A layout: the names of one code base for a model's tensors, and ours for them, as data."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

Rules: TypeAlias = tuple[tuple[str, str], ...]
"""Regular expressions, with what to put in their place, one after the other."""


@dataclass(frozen=True)
class NameLayout:
    """The names of one code base: `mark` is found in one of its names and in no other's.

    `unfolded` is found in our names of the tensors whose last axis lists the patches of 2 x 2 as `nn.Unfold` does
    (channel, row, column); ours list them by column, row, channel.
    """

    name: str
    mark: str
    rules: Rules
    unfolded: str | None = None

    def rename(self, name: str) -> str:
        """Return our name of a tensor."""
        for pattern, ours in self.rules:
            name = re.sub(pattern, ours, name)
        return name

    def is_unfolded(self, name: str) -> bool:
        """Say whether the tensor that has this name here lists patches as `nn.Unfold` does."""
        return self.unfolded is not None and re.search(self.unfolded, name) is not None
