"""Finds the parts of a model that are examined, by the names of a checkpoint's tensors."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import isqrt
from typing import TypeVar

from torch import Tensor

from imlp_audit.checkpoint.names import AGELU, GATES, MIXING, MixingNames
from imlp_audit.checkpoint.refusal import escape_name
from imlp_audit.inspect.arrays import why_unusable

MOST_TOKENS = 4096  # no model here has nearly as many
MOST_LAYERS = 512  # of one kind

State = Mapping[str, Tensor]


@dataclass(frozen=True)
class NamedMatrix:
    """A matrix, the paper's letter for it and its name in the checkpoint."""

    letter: str
    name: str
    values: Tensor


@dataclass(frozen=True)
class AgeluPart:
    """An AGeLU: alpha, beta, gamma and theta in this order, each one number or one a unit."""

    name: str
    coefficients: tuple[Tensor, ...]


@dataclass(frozen=True)
class MixingPart:
    """A block of ResMLP (`across` is A, `channels` B and C) or MLP-Mixer (W1 with its bias and W2; W3 and W4)."""

    name: str
    across: tuple[NamedMatrix, ...]
    bias: Tensor | None
    channels: tuple[NamedMatrix, ...]

    @property
    def patches(self) -> int:
        """How many patches are mixed."""
        return int(self.across[0].values.shape[1])


@dataclass(frozen=True)
class GatePart:
    """A spatial gating unit: its W (n, n), or a tMLP's 2 n - 1 diagonals."""

    name: str
    weight: Tensor

    @property
    def tokens(self) -> int:
        """How many tokens are mixed."""
        return len(self.weight) if self.weight.ndim == 2 else (len(self.weight) + 1) // 2


@dataclass(frozen=True)
class CheckpointParts:
    """All parts of a checkpoint, in the order of its layers. `image` says whether it begins by embedding patches."""

    agelus: tuple[AgeluPart, ...]
    mixing: tuple[MixingPart, ...]
    gates: tuple[GatePart, ...]
    image: bool
    left_out: tuple[str, ...]

    def side(self, patches: int) -> int | None:
        """Return the side of the square grid of an image's patches; None if there cannot be one."""
        side = isqrt(patches)
        return side if self.image and side * side == patches else None


Part = TypeVar("Part")
Names = TypeVar("Names")


class _LeftOutError(Exception):
    """Why a part cannot be examined."""


def has_parts(names: Iterable[str]) -> bool:
    """Say whether tensors of these names may be parts; if not, their numbers need not be read."""
    endings = (
        *(names[0] for names in AGELU),
        *(f"{names.across[0]}.weight" for names in MIXING),
        *(f"{name}.weight" for name in GATES),
    )
    return any(f".{name}".endswith(f".{ending}") for name in names for ending in endings)


def find_parts(state: State) -> CheckpointParts:
    """Find all parts; `left_out` names those that cannot be used, and why."""
    left_out: list[str] = []
    agelus = [(path, names) for names in AGELU for path in _find_paths(state, names[0], names[2])]
    mixing = [
        (path, names)
        for names in MIXING
        for path in _find_paths(state, f"{names.across[0]}.weight", f"{names.channels[0]}.weight")
    ]
    gates = [(path, f"{name}.weight") for name in GATES for path in _find_paths(state, f"{name}.weight")]
    return CheckpointParts(
        agelus=_take_usable(agelus, lambda path, names: _take_agelu(state, path, names), left_out),
        mixing=_take_usable(mixing, lambda path, names: _take_mixing(state, path, names), left_out),
        gates=_take_usable(gates, lambda path, name: _take_gate(state, path, path + name), left_out),
        image=any(re.search(r"(^|\.)(stem|patch_embed)\.", n) and v.ndim == 4 for n, v in state.items()),
        left_out=tuple(left_out),
    )


def _find_paths(state: State, ending: str, *others: str) -> Iterator[str]:
    """Yield the paths that have a tensor of each name, with their last dot, in the order of the layers.

    A file may list its tensors alphabetically, with blocks.10 before blocks.2.
    """
    paths = [name.removesuffix(ending) for name in state if f".{name}".endswith(f".{ending}")]
    return (path for path in sorted(paths, key=layer_order) if all(path + other in state for other in others))


def layer_order(path: str) -> tuple[tuple[int, int, str], ...]:
    """Return a sort key that sorts by words, and by value where a part of the path is a number."""
    parts = path.split(".")
    return tuple((0, int(part), "") if re.fullmatch(r"[0-9]{1,9}", part) else (1, 0, part) for part in parts)


def name_module(path: str) -> str:
    """Return the name of a module from what stands before the names of its tensors."""
    return escape_name(path.removesuffix(".")) or "the module"


def _take_usable(
    places: list[tuple[str, Names]], take: Callable[[str, Names], Part], left_out: list[str]
) -> tuple[Part, ...]:
    """Take the part at each place, and note why one cannot be used."""
    parts = []
    for path, names in places[:MOST_LAYERS]:
        try:
            parts.append(take(path, names))
        except _LeftOutError as error:
            left_out.append(f"{name_module(path)} is left out: {error}")
    if len(places) > MOST_LAYERS:
        left_out.append(f"{len(places) - MOST_LAYERS} layers are left out: the limit is {MOST_LAYERS} of a kind")
    return tuple(parts)


def _take_agelu(state: State, path: str, names: tuple[str, ...]) -> AgeluPart:
    if path + "phi.weight" in state:
        raise _LeftOutError("its base activation has weights of its own, so it is not GeLU")
    coefficients = tuple(_take_tensor(state, path + name) for name in names)
    sizes = {value.numel() for value in coefficients} - {1}
    if len(sizes) > 1:
        raise _LeftOutError(f"its coefficients are for {' and '.join(map(str, sorted(sizes)))} units")
    return AgeluPart(name_module(path), tuple(value.reshape(-1) for value in coefficients))


def _take_mixing(state: State, path: str, names: MixingNames) -> MixingPart:
    letters = ("A", "B", "C") if len(names.across) == 1 else ("W1", "W2", "W3", "W4")
    matrices = [
        _take_matrix(state, letter, f"{path}{name}.weight") for letter, name in zip(letters, names.layers, strict=True)
    ]
    across, channels = tuple(matrices[:-2]), tuple(matrices[-2:])
    patches, outputs = across[0].values.shape[1], across[-1].values.shape[0]
    if patches != outputs:
        raise _LeftOutError(f"it maps {patches} patches to {outputs}")
    _check_tokens(patches)
    bias = f"{path}{names.across[0]}.bias"
    if len(across) == 1 or bias not in state:
        return MixingPart(name_module(path), across, None, channels)
    shift = _take_tensor(state, bias)
    if shift.numel() != len(across[0].values):
        raise _LeftOutError(f"{escape_name(bias)} has {shift.numel()} numbers, not {len(across[0].values)}")
    return MixingPart(name_module(path), across, shift.reshape(-1), channels)


def _take_gate(state: State, path: str, name: str) -> GatePart:
    weight = _take_tensor(state, name)
    square = weight.ndim == 2 and weight.shape[0] == weight.shape[1]
    if not square and not (weight.ndim == 1 and len(weight) % 2):
        raise _LeftOutError(
            f"{escape_name(name)} has shape {list(weight.shape)}; a square matrix or the 2 n - 1 diagonals of one are "
            "needed"
        )
    part = GatePart(name_module(path), weight)
    _check_tokens(part.tokens)
    return part


def _take_matrix(state: State, letter: str, name: str) -> NamedMatrix:
    values = _take_tensor(state, name)
    if values.ndim != 2:
        raise _LeftOutError(f"{escape_name(name)} has shape {list(values.shape)}, which is not a matrix")
    return NamedMatrix(letter, escape_name(name), values)


def _take_tensor(state: State, name: str) -> Tensor:
    if name not in state:
        raise _LeftOutError(f"{escape_name(name)} is missing")
    reason = why_unusable(state[name])
    if reason is not None:
        raise _LeftOutError(f"{escape_name(name)} {reason}")
    return state[name]


def _check_tokens(tokens: int) -> None:
    if tokens > MOST_TOKENS:
        raise _LeftOutError(f"it mixes {tokens} tokens; the limit is {MOST_TOKENS}")
