"""The parts of a model that are looked at, found in a checkpoint by the names of its tensors."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import isqrt
from typing import TypeVar

from torch import Tensor

from imlp_audit.inspect.names import block, paths_before, shown
from imlp_audit.inspect.numbers import why_unusable

MOST_TOKENS = 4096  # larger matrices are not looked at: no model here comes near
MOST_LAYERS = 512  # of one kind

State = Mapping[str, Tensor]


@dataclass(frozen=True)
class Weight:
    """A tensor, the paper's letter for it and its name in the checkpoint."""

    letter: str
    name: str
    values: Tensor


@dataclass(frozen=True)
class AgeluFound:
    """An AGeLU: alpha, beta, gamma and theta in this order, each one number or one a unit."""

    name: str
    coefficients: tuple[Tensor, ...]


@dataclass(frozen=True)
class MixingFound:
    """A block of ResMLP (`across` is A, `channels` B and C) or MLP-Mixer (W1 with its bias and W2; W3 and W4)."""

    name: str
    across: tuple[Weight, ...]
    bias: Tensor | None
    channels: tuple[Weight, ...]

    @property
    def patches(self) -> int:
        """How many patches are mixed."""
        return int(self.across[0].values.shape[1])


@dataclass(frozen=True)
class GateFound:
    """A spatial gating unit: its W (n, n), or a tMLP's 2 n - 1 diagonals."""

    name: str
    weight: Tensor

    @property
    def tokens(self) -> int:
        """How many tokens are mixed."""
        return len(self.weight) if self.weight.ndim == 2 else (len(self.weight) + 1) // 2


@dataclass(frozen=True)
class Found:
    """What a checkpoint holds, in the order of its layers. `image` says that it begins with an embedding of patches."""

    agelus: tuple[AgeluFound, ...]
    mixing: tuple[MixingFound, ...]
    gates: tuple[GateFound, ...]
    image: bool
    left_out: tuple[str, ...]

    def side(self, patches: int) -> int | None:
        """Return the side of the square grid that patches of an image lie on; None where they can lie on none."""
        side = isqrt(patches)
        return side if self.image and side * side == patches else None


@dataclass(frozen=True)
class _Mixing:
    """Names that the tensors of a block have after its path: what mixes patches, then B and C."""

    across: tuple[str, ...]
    channels: tuple[str, str]


_MIXING = (
    _Mixing(("linear_tokens.weight",), ("mlp_channels.fc1.weight", "mlp_channels.fc2.weight")),  # timm
    _Mixing(("attn.weight",), ("mlp.fc1.weight", "mlp.fc2.weight")),  # ResMLP's authors
    _Mixing(("across_patches.a.weight",), ("across_channels.b.weight", "across_channels.c.weight")),  # ours
    _Mixing(("mlp_tokens.fc1.weight", "mlp_tokens.fc2.weight"), ("mlp_channels.fc1.weight", "mlp_channels.fc2.weight")),
    _Mixing(
        ("token_mixing.mlp.fc1.weight", "token_mixing.mlp.fc2.weight"),
        ("channel_mixing.mlp.fc1.weight", "channel_mixing.mlp.fc2.weight"),
    ),
    _Mixing(
        ("across_patches.mlp.b.weight", "across_patches.mlp.c.weight"),
        ("across_channels.b.weight", "across_channels.c.weight"),
    ),
)
_GATES = ("mlp_channels.gate.proj.weight", "sgu.proj.weight")
_AGELUS = (  # alpha, beta, gamma, theta: ours, and those of the authors' released code
    ("alpha", "beta", "gamma", "theta"),
    ("move1.scale", "move2.scale", "move1.bias", "move2.bias"),
)

Part = TypeVar("Part")


class _LeftOutError(Exception):
    """A part cannot be looked at; says why."""


def worth_looking(names: Iterable[str]) -> bool:
    """Say whether tensors of such names may be parts that are looked at; of no others need the numbers be read."""
    endings = (*(names[0] for names in _AGELUS), *(names.across[0] for names in _MIXING), *_GATES)
    return any(f".{name}".endswith(f".{ending}") for name in names for ending in endings)


def find(state: State) -> Found:
    """Find all parts that can be looked at; what is there but cannot be used is named in `left_out`."""
    left_out: list[str] = []
    agelus = [(path, names) for names in _AGELUS for path in _with(state, names[0], names[2])]
    mixing = [(path, names) for names in _MIXING for path in _with(state, names.across[0], *names.channels[:1])]
    gates = [(path, ending) for ending in _GATES for path in _with(state, ending)]
    return Found(
        agelus=_usable(agelus, lambda path, names: _agelu(state, path, names), left_out),
        mixing=_usable(mixing, lambda path, names: _mixing(state, path, names), left_out),
        gates=_usable(gates, lambda path, ending: _gate(state, path, path + ending), left_out),
        image=any(re.search(r"(^|\.)(stem|patch_embed)\.", n) and v.ndim == 4 for n, v in state.items()),
        left_out=tuple(left_out),
    )


def _with(state: State, ending: str, *others: str) -> Iterator[str]:
    """Yield the paths that have a tensor of each name."""
    return (path for path in paths_before(ending, state) if all(path + other in state for other in others))


Names = TypeVar("Names")


def _usable(
    places: list[tuple[str, Names]], take: Callable[[str, Names], Part], left_out: list[str]
) -> tuple[Part, ...]:
    """Take the part at each place; of one that cannot be used note why."""
    taken = []
    for path, names in places[:MOST_LAYERS]:
        try:
            taken.append(take(path, names))
        except _LeftOutError as error:
            left_out.append(f"{block(path)} is left out: {error}")
    if len(places) > MOST_LAYERS:
        left_out.append(f"{len(places) - MOST_LAYERS} layers are left out: {MOST_LAYERS} of a kind are looked at")
    return tuple(taken)


def _agelu(state: State, path: str, names: tuple[str, ...]) -> AgeluFound:
    if path + "phi.weight" in state:
        raise _LeftOutError("its base activation has weights of its own, so it is not GeLU")
    coefficients = tuple(_tensor(state, path + name) for name in names)
    sizes = {value.numel() for value in coefficients} - {1}
    if len(sizes) > 1:
        raise _LeftOutError(f"its coefficients are of {' and '.join(map(str, sorted(sizes)))} units")
    return AgeluFound(block(path), tuple(value.reshape(-1) for value in coefficients))


def _mixing(state: State, path: str, names: _Mixing) -> MixingFound:
    letters = ("A", "B", "C") if len(names.across) == 1 else ("W1", "W2", "W3", "W4")
    endings = (*names.across, *names.channels)
    matrices = [_matrix(state, letter, path + name) for letter, name in zip(letters, endings, strict=True)]
    across, channels = tuple(matrices[:-2]), tuple(matrices[-2:])
    patches, outputs = across[0].values.shape[1], across[-1].values.shape[0]
    if patches != outputs:
        raise _LeftOutError(f"it maps {patches} patches to {outputs}")
    _refuse_more(patches)
    bias = path + names.across[0].replace(".weight", ".bias")
    if len(across) == 1 or bias not in state:
        return MixingFound(block(path), across, None, channels)
    shift = _tensor(state, bias)
    if shift.numel() != len(across[0].values):
        raise _LeftOutError(f"{shown(bias)} has {shift.numel()} numbers, not {len(across[0].values)}")
    return MixingFound(block(path), across, shift.reshape(-1), channels)


def _gate(state: State, path: str, name: str) -> GateFound:
    weight = _tensor(state, name)
    square = weight.ndim == 2 and weight.shape[0] == weight.shape[1]
    if not square and not (weight.ndim == 1 and len(weight) % 2):
        told = f"is of shape {list(weight.shape)}: neither a square matrix nor the 2 n - 1 diagonals of one"
        raise _LeftOutError(f"{shown(name)} {told}")
    found = GateFound(block(path), weight)
    _refuse_more(found.tokens)
    return found


def _matrix(state: State, letter: str, name: str) -> Weight:
    values = _tensor(state, name)
    if values.ndim != 2:
        raise _LeftOutError(f"{shown(name)} is of shape {list(values.shape)}, which is no matrix")
    return Weight(letter, shown(name), values)


def _tensor(state: State, name: str) -> Tensor:
    if name not in state:
        raise _LeftOutError(f"{shown(name)} is missing")
    reason = why_unusable(state[name])
    if reason is not None:
        raise _LeftOutError(f"{shown(name)} {reason}")
    return state[name]


def _refuse_more(tokens: int) -> None:
    if tokens > MOST_TOKENS:
        raise _LeftOutError(f"it mixes {tokens} tokens, and at most {MOST_TOKENS} are looked at")
