"""Which of the things in a file are the weights of the model, and under which names."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from imlp_audit.checkpoint.held import MOST_TENSORS, Held
from imlp_audit.checkpoint.refusal import RefusedError, listed, shown
from imlp_audit.near import did_you_mean

_FIRST = ("model", "state_dict", "model_state_dict", "model_ema", "state_dict_ema", "ema")
"""The names that states go by, the one that is taken first: the weights themselves, then their running averages."""

_AVERAGES = ("model_ema", "state_dict_ema", "ema")
_PREFIXES = ("module.", "_orig_mod.")  # of DistributedDataParallel and torch.compile
_DEEPEST = 2
_LONGEST_NAME = 300


@dataclass(frozen=True)
class State:
    """The weights that a file is read for.

    `path` are the keys that lead to them, none where the file is nothing else. `tensors` are by the model's own
    names, `names` says what each is called in the file. `others` are the states that were not taken, `rest` what else
    the file holds.
    """

    path: tuple[str, ...]
    tensors: Mapping[str, Held]
    names: Mapping[str, str]
    others: tuple[str, ...] = ()
    rest: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What the state is called, "" where it is the whole file."""
        return ".".join(self.path)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was chosen, left out and renamed: one sentence each."""
        return tuple(self._notes())

    def _notes(self) -> Iterator[str]:
        if self.others:
            name = shown(self.name) or "its top level"
            yield f"{name} is used; it also holds {listed(self.others)}, which --state would choose"
        if self.name in _AVERAGES:
            yield f"{self.name} is a running average of the weights"
        if self.rest:
            yield f"left out, as no weights: {listed(self.rest)}"
        cut = {old.removesuffix(new) for new, old in self.names.items()} - {""}
        if cut:
            yield f"cut off the names: {listed(sorted(cut))}"


def choose(made: object, wanted: str | None = None) -> State:
    """Return the state that a file is read for: the one asked for, or the first by its name.

    Raises RefusedError where there is none, where names do not tell which of several it is, or names are none.
    """
    states = {".".join(path): (path, mapping) for path, mapping in _states(made)}
    if not states:
        raise RefusedError("holds no tensors by name; save model.state_dict(), with safetensors")
    name = wanted if wanted is not None else _first(states)
    if name not in states:
        raise RefusedError(f"holds no state {shown(name)}; {did_you_mean(name, list(map(shown, states)), 'it holds')}")
    path, mapping = states[name]
    tensors = {old: value for old, value in mapping.items() if isinstance(value, Held)}
    names = _names(tensors)
    others = tuple(other for other in states if other != name)
    rest = tuple(dict.fromkeys(_rest(made, path, {other.partition(".")[0] for other in others})))
    return State(path, {new: tensors[old] for new, old in names.items()}, names, others, rest)


def _rest(made: object, path: tuple[str, ...], others: Collection[str]) -> Iterator[str]:
    """Yield what lies beside the way to a state, and in it without being a tensor; the other states are told apart."""
    table = made
    for taken in (*path, None):
        assert isinstance(table, Mapping)
        held = {key for key, value in table.items() if taken is None and isinstance(value, Held)}
        yield from (str(key) for key in table if key != taken and key not in held and key not in others)
        table = table.get(taken)


def _states(made: object) -> Iterator[tuple[tuple[str, ...], Mapping[object, object]]]:
    """Yield the tables that hold tensors themselves, each once, with the keys that lead to them."""
    seen: set[int] = set()
    waiting: list[tuple[tuple[str, ...], object]] = [((), made)]
    while waiting:
        path, table = waiting.pop(0)
        if not isinstance(table, Mapping) or id(table) in seen:
            continue
        seen.add(id(table))
        if any(isinstance(value, Held) for value in table.values()):
            yield path, table
        if len(path) < _DEEPEST:
            waiting += [((*path, key), value) for key, value in table.items() if isinstance(key, str)]


def _first(states: Mapping[str, object]) -> str:
    known = sorted((name for name in states if _last(name) in _FIRST), key=lambda name: _FIRST.index(_last(name)))
    if known:
        return known[0]
    if "" in states or len(states) == 1:
        return "" if "" in states else next(iter(states))
    raise RefusedError(f"holds several states: {listed(states)}; choose one with --state")


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _names(tensors: Mapping[object, Held]) -> dict[str, str]:
    """Return the model's own name of each tensor with the one in the file."""
    if len(tensors) > MOST_TENSORS:
        raise RefusedError(f"holds {len(tensors)} tensors, and {MOST_TENSORS} are the most that are read; split it")
    names: dict[str, str] = {}
    for old in tensors:
        new = _own(old) if isinstance(old, str) else ""
        if not isinstance(old, str) or not new or not old.isprintable() or len(old) > _LONGEST_NAME:
            told = f"holds a tensor named {shown(old)!r}, which is no name of a parameter"
            raise RefusedError(f"{told}; save model.state_dict(), with safetensors")
        if new in names:
            told = f"holds {shown(new)} twice, as {shown(names[new])} and {shown(old)}"
            raise RefusedError(f"{told}; save one of the two")
        names[new] = old
    return names


def _own(name: str) -> str:
    while name.startswith(_PREFIXES):
        name = next(name.removeprefix(prefix) for prefix in _PREFIXES if name.startswith(prefix))
    return name
