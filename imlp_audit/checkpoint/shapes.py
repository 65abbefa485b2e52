"""What a checkpoint holds, told without reading a number of it and without torch."""

from __future__ import annotations

import mmap
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from imlp_audit.checkpoint.container import Container, kind_of, opened
from imlp_audit.checkpoint.layouts import State, choose
from imlp_audit.checkpoint.refusal import RefusedError, naming, shown
from imlp_audit.checkpoint.safetensors_header import header_of
from imlp_audit.checkpoint.torch_file import in_a_row, in_zip
from imlp_audit.checkpoint.zip_directory import corrupt_members, members

_STATISTICS = ("running_mean", "running_var", "num_batches_tracked")


@dataclass(frozen=True)
class Contents:
    """A checkpoint that has passed: the kind of file, its size in bytes, and the state that it is read for."""

    container: Container
    size: int
    state: State

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of each tensor."""
        return {name: held.shape for name, held in self.state.tensors.items()}

    @property
    def dtypes(self) -> Mapping[str, int]:
        """How many tensors have each type of numbers, the most frequent first."""
        return dict(Counter(held.dtype for held in self.state.tensors.values()).most_common())

    @property
    def parameters(self) -> int:
        """How many numbers it holds, without the statistics of batch norms."""
        tensors = self.state.tensors.items()
        return sum(held.numel for name, held in tensors if name.rpartition(".")[2] not in _STATISTICS)


def examine(path: Path, state: str | None = None, *, sums: bool = False) -> Contents:
    """Return what a checkpoint holds; `state` chooses among several states in it.

    No number is read but for check sums, where these are asked for, and nothing in the file is run. Raises
    CheckpointError for a file that cannot be used: none that weights are kept in, damaged, or one that would do or
    claim more than hold plain tensors.
    """
    with naming(path), opened(path) as one:
        contents = preflight(one.data, state)
        if sums and contents.container is Container.TORCH:
            check_sums(one.data)
        return contents


def preflight(data: mmap.mmap, state: str | None) -> Contents:
    """Return what the bytes of a file hold. Raises RefusedError."""
    kind = kind_of(data)
    match kind:
        case Container.SAFETENSORS:
            made: object = header_of(data)
        case Container.TORCH:
            made = in_zip(data)
        case Container.LEGACY_TORCH:
            made = in_a_row(data)
        case _:
            assert_never(kind)
    return Contents(kind, len(data), choose(made, state))


def check_sums(data: mmap.mmap) -> None:
    """Raise RefusedError where bytes of an archive are not those that were written, which torch does not look at."""
    corrupt = next(corrupt_members(data, members(data)), None)
    if corrupt is not None:
        raise RefusedError(f"is corrupt: {shown(corrupt)} has other bytes than were written; download it again")


def read_shapes(path: Path, state: str | None = None) -> dict[str, tuple[int, ...]]:
    """Return the shape of each tensor of a checkpoint by its name. Raises CheckpointError."""
    return examine(path, state).shapes
