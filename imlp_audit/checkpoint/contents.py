"""Parses a checkpoint: which tensors it holds. No number is read, torch is not imported, and nothing in it is run."""

from __future__ import annotations

import hashlib
import mmap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from imlp_audit.checkpoint.files.container import Container, OpenFile, find_kind, open_file
from imlp_audit.checkpoint.files.foreign import is_numpy
from imlp_audit.checkpoint.files.safetensors_file import read_header
from imlp_audit.checkpoint.files.shards import join_shards, read_index, refuse_shard
from imlp_audit.checkpoint.files.sources import Content, ParsedFile
from imlp_audit.checkpoint.files.torch_file import read_legacy, read_zip
from imlp_audit.checkpoint.files.zip_archive import ZipMember, find_corrupt
from imlp_audit.checkpoint.refusal import RefusedError, escape_name, name_in_errors
from imlp_audit.checkpoint.states import State, choose_state, find_states
from imlp_audit.checkpoint.tensors import StorageSpan

BUFFERS = (
    "running_mean", "running_var", "num_batches_tracked", "n_averaged", "relative_position_index", "attn_mask",
    "relative_coords_table", "attention_bias_idxs", "position_ids",
)  # fmt: skip


@dataclass(frozen=True)
class Checkpoint:
    """Parsed weights: the kind of file they are in, and the state that was chosen from it.

    Files are parsed once, and this record is passed on. `spans` are the bytes of each storage in the `sources`. With
    `sums_checked` the bytes of zip archives are known to be those that were written.
    """

    path: Path
    container: Container
    state: State
    spans: Mapping[str, StorageSpan]
    sources: tuple[ParsedFile, ...]
    sums_checked: bool = False

    @property
    def size(self) -> int:
        """The size of its files in bytes."""
        return sum(source.identity.size for source in self.sources)

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of each tensor."""
        return {name: info.shape for name, info in self.state.tensors.items()}

    @property
    def dtypes(self) -> Mapping[str, int]:
        """How many tensors have each type of numbers, the most frequent first."""
        return dict(Counter(info.dtype for info in self.state.tensors.values()).most_common())

    @property
    def parameters(self) -> int:
        """How many numbers its parameters have: all but those of tensors that are named as buffers are."""
        return sum(info.numel for info in self.state.tensors.values()) - self.buffers

    @property
    def buffers(self) -> int:
        """How many numbers its buffers have, such as the statistics of batch norms."""
        tensors = self.state.tensors.items()
        return sum(info.numel for name, info in tensors if name.rpartition(".")[2] in BUFFERS)


def parse(path: Path, state: str | None = None, prefix: str = "", *, sums: bool = False) -> Checkpoint:
    """Parse a checkpoint, and choose a state by its name; `sums` asks for its check sums to be checked.

    Of the names only those that begin with `prefix` count. Raises CheckpointError for a file that cannot be used:
    another kind of file, a damaged one, or one that claims more than it holds or whose tensors are not plain.
    """
    found = parse_states(path, state, prefix, sums=sums)
    with name_in_errors(path):
        chosen = choose_state([one.state for one in found], state)
    return next(one for one in found if one.state is chosen)


def parse_states(
    path: Path, state: str | None = None, prefix: str = "", *, sums: bool = False
) -> tuple[Checkpoint, ...]:
    """Parse a checkpoint once, and return it with each of its states, or only with the one that is named.

    Raises CheckpointError as `parse` does.
    """
    kind, content, sources = _read_files(path, sums=sums)
    with name_in_errors(path):
        states = find_states(content.tree, prefix, state)
        chosen = states if state is None else [choose_state(states, state)]
    return tuple(Checkpoint(path, kind, one, content.spans, sources, sums_checked=sums) for one in chosen)


def _read_files(path: Path, *, sums: bool) -> tuple[Container, Content, tuple[ParsedFile, ...]]:
    """Return what a file, or the shards that an index names, hold."""
    kind, content, source = _read_file(path, sums=sums)
    with name_in_errors(path):
        if kind is not Container.SHARDED:
            refuse_shard(path)
            return kind, content, (source,)
        index = content.tree
        assert isinstance(index, dict)
        files = {name: _read_file(path.parent / name, sums=sums) for name in sorted({*index.values()})}
        if any(one is Container.SHARDED for one, _, _ in files.values()):
            raise RefusedError("names another index; give the index of the weights themselves")
        joined = join_shards(index, {name: shard for name, (_, shard, _) in files.items()})
    return kind, joined, (source, *(one for _, _, one in files.values()))


def _read_file(path: Path, *, sums: bool) -> tuple[Container, Content, ParsedFile]:
    """Return what one file holds, of an index the table of files by tensor."""
    with name_in_errors(path), open_file(path) as opened:
        kind = find_kind(opened.data)
        content = _read_content(opened, kind)
        if sums:
            check_sums(opened.data, content.members)
        if kind is Container.TORCH and is_numpy([member.name for member in content.members]):
            kind = Container.NUMPY
        return kind, content, ParsedFile(path, opened.identity, content.members)


def _read_content(opened: OpenFile, kind: Container) -> Content:
    match kind:
        case Container.SAFETENSORS:
            return Content(*read_header(opened.data))
        case Container.TORCH | Container.NUMPY:
            return read_zip(opened)
        case Container.LEGACY_TORCH:
            return read_legacy(opened.data)
        case Container.SHARDED:
            return Content(read_index(opened.data), {})
        case _:
            assert_never(kind)


def check_kind(path: Path) -> None:
    """Raise CheckpointError for a file that does not exist or is of another kind, which takes no time to see."""
    with name_in_errors(path), open_file(path) as opened:
        find_kind(opened.data)


def check_sums(data: mmap.mmap, members: Iterable[ZipMember]) -> None:
    """Raise RefusedError if bytes of an archive are not those that were written, which torch does not check."""
    corrupt = next(find_corrupt(data, members), None)
    if corrupt is not None:
        raise RefusedError(f"is corrupt: {escape_name(corrupt)} is not as it was written; download it again")


def hash_sources(sources: Sequence[ParsedFile]) -> str:
    """Return the SHA-256 of a checkpoint: of its file, or of what `sha256sum` prints for the index and its shards.

    Raises CheckpointError, also if a file has changed since it was parsed.
    """
    if len(sources) == 1:
        return _hash_source(sources[0])
    lines = "".join(f"{_hash_source(source)}  {source.path.name}\n" for source in sources)
    return hashlib.sha256(lines.encode()).hexdigest()


def _hash_source(source: ParsedFile) -> str:
    with name_in_errors(source.path), open_file(source.path) as opened:
        check_unchanged(opened, source)
        return hashlib.file_digest(opened.file, "sha256").hexdigest()


def check_unchanged(opened: OpenFile, source: ParsedFile) -> None:
    """Raise RefusedError if a file is not the one that was parsed."""
    if opened.identity != source.identity:
        raise RefusedError("changed while it was being read; run the command again")
