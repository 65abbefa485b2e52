"""The states in a file: tables of tensors that can be the weights of a model, and their names."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from imlp_audit.checkpoint.container import RefusedError, escape_name, list_names
from imlp_audit.checkpoint.pickles import (
    MOST_TENSORS,
    OTHER_KEYS,
    Inert,
    Storage,
    TensorInfo,
    explain_code,
    explain_odd,
)
from imlp_audit.errors import did_you_mean

_OF_MODULES = {"_parameters", "_buffers", "_modules"}
_KEYS = "holds a dictionary of tensors whose keys are not names; save model.state_dict() alone, with safetensors"
_FIRST = ("model", "state_dict", "model_state_dict", "model_ema", "state_dict_ema", "ema")
"""Common names of states in order of preference: the weights themselves, then their running averages."""
_AVERAGES = ("model_ema", "state_dict_ema", "ema")
_PREFIXES = ("module.", "_orig_mod.")  # of DistributedDataParallel and torch.compile
_COUNT = "n_averaged"  # of torch.optim.swa_utils.AveragedModel, beside the names that it prefixes
_NO_WEIGHTS = ("optimizer", "optimizers", "optimizer_state_dict", "optimizer_states")
_DEEPEST = 4
_MOST_STATES = 64
_LONGEST_NAME = 300


def find_inert(content: object) -> Iterator[Inert]:
    """Yield every object that was not made, in the order of the file."""
    return (value for value in _walk(content) if isinstance(value, Inert) and value is not OTHER_KEYS)


def find_given(content: object) -> Mapping[int | str, Inert]:
    """Return what objects that were not made were given: tables by their identity, tensors by their storage."""
    seen: set[int] = set()
    parts = ((one, value) for one in find_inert(content) for value in _walk(one, seen))
    return {value.storage if isinstance(value, TensorInfo) else id(value): one for one, value in parts}


def check_apart(state: Mapping[object, object], given: Mapping[int | str, Inert]) -> None:
    """Raise RefusedError if the weights of a state depend on objects that were not made, so on unknown code.

    That is so if one stands where a tensor should, or was `given` the state or a tensor of it.
    """
    seen: set[int] = set()
    for name, value in state.items():
        if isinstance(value, Inert) and value.is_tensor:
            raise explain_odd(name, value)
        if isinstance(value, Inert) and any(isinstance(part, TensorInfo | Storage) for part in _walk(value, seen)):
            raise explain_code(value.name)
    if any(isinstance(value, TensorInfo) for value in _walk(state.get(OTHER_KEYS))):
        raise RefusedError(_KEYS)
    keys: list[int | str] = [id(state), *(one.storage for one in state.values() if isinstance(one, TensorInfo))]
    for key in keys:
        if key in given:
            raise explain_code(given[key].name)


def explain_stateless(content: object) -> RefusedError:
    """Return why a file holds no state: what is in it instead."""
    values = list(_walk(content))
    for one in values:
        if isinstance(one, Inert) and any(isinstance(part, dict) and part.keys() >= _OF_MODULES for part in one.parts):
            return RefusedError(
                f"holds a whole model, an object of {one.title}, which only its own code can open (not executed); if "
                'you trust it, run there `torch.save(torch.load("FILE", weights_only=False).state_dict(), '
                '"weights.pth")` and give weights.pth'
            )
    tables = [value for value in values if isinstance(value, dict)]
    for name, value in ((name, value) for table in tables for name, value in table.items()):
        if isinstance(value, Inert) and value.is_tensor:
            return explain_odd(name, value)
    for value in values:
        if isinstance(value, Inert) and value.noted:
            return explain_code(value.name)
    if any(OTHER_KEYS in table for table in tables):
        return RefusedError(_KEYS)
    return RefusedError("does not hold tensors by name; save model.state_dict(), with safetensors")


def _walk(content: object, seen: set[int] | None = None) -> Iterator[object]:
    """Yield a value and everything in it, each once; what was `seen` is left out."""
    seen = set() if seen is None else seen
    waiting = [content]
    while waiting:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        yield value
        match value:
            case list() | tuple():
                waiting += reversed(value)
            case dict():
                waiting += reversed(value.values())
            case Inert():
                waiting += reversed(value.parts)


@dataclass(frozen=True)
class State:
    """Weights in a file.

    `path` holds the keys that lead to them; it is empty if the file holds nothing else. `tensors` has them by the
    model's own names, and `names` maps these to the names in the file. `every` are the names of all states,
    `unopened` the classes and functions of the objects that were not made, and `left_out` the tensors outside of the
    prefix that the user names.
    """

    path: tuple[str, ...]
    tensors: Mapping[str, TensorInfo]
    names: Mapping[str, str]
    every: tuple[str, ...] = ()
    unopened: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What the state is called; "" if it is the whole file."""
        return ".".join(self.path)

    @property
    def others(self) -> tuple[str, ...]:
        """The names of the other states."""
        return tuple(name for name in self.every if name != self.name)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was chosen, left out and renamed: one sentence each."""
        return tuple(self._notes())

    def _notes(self) -> Iterator[str]:
        if self.others:
            name = escape_name(self.name) or "the top level"
            yield f"{name} is used; the file also holds {list_names(self.others)} (choose with --state)"
        if self.path and self.path[-1] in _AVERAGES:
            yield f"{self.name} is a running average of the weights"
        if self.unopened:
            yield f"objects in it that were not opened (nothing was executed): {list_names(self.unopened)}"
        if self.left_out:
            yield f"left out, because their names do not begin with the prefix: {list_names(self.left_out)}"
        cut = {old.removesuffix(new) for new, old in self.names.items()} - {""}
        if cut:
            yield f"prefix removed from the names: {list_names(sorted(cut))}"


def find_states(content: object, prefix: str = "", wanted: str | None = None) -> list[State]:
    """Return every state of a file, those of common names first, then by the number of tensors.

    Names begin with the `prefix`, which is removed; the other tensors are left out. A table whose tensors are not plain
    or have impossible names is no state. Raises RefusedError for such a table if it is `wanted`, has a common name or
    leaves no other, and if there is no table.
    """
    tables = _find_named_tables(content)
    unopened = tuple(dict.fromkeys(one.title for one in find_inert(content) if one.noted))
    given = find_given(content)
    prefix = strip_prefixes(prefix)
    states: dict[str, State] = {}
    for name, (path, table) in tables.items():
        try:
            check_apart(table, given)
            states[name] = _read_state(path, table, prefix)
        except RefusedError:
            common = bool(path) and path[-1] in _FIRST
            if len(tables) == 1 or name == wanted or (wanted is None and common):
                raise
            refused = name
    if not states:
        raise RefusedError(f"holds no state that can be read; --state {escape_name(refused)} says why")
    held = [state for state in states.values() if state.tensors]
    if not held:
        outside = [old for state in states.values() for old in state.left_out]
        raise RefusedError(
            f"has no name that begins with {escape_name(prefix)}; give another --prefix: it holds {list_names(outside)}"
        )
    return sorted((replace(one, every=tuple(states), unopened=unopened) for one in held), key=_rank)


def find_state(states: Sequence[State], wanted: str) -> State:
    """Return the state of a name. Raises RefusedError if there is none."""
    for state in states:
        if state.name == wanted:
            return state
    advice = did_you_mean(wanted, [escape_name(state.name) for state in states], "it holds")
    raise RefusedError(f"does not hold a state {escape_name(wanted)}; {advice}")


def _rank(state: State) -> tuple[int, int]:
    """Return the place of a state's name among the common ones, and less for more tensors."""
    last = state.name.rpartition(".")[2]
    place = _FIRST.index(last) if last in _FIRST else len(_FIRST) - (not state.path)
    return place, -len(state.tensors)


def _find_named_tables(content: object) -> dict[str, tuple[tuple[str, ...], Mapping[object, object]]]:
    """Return the tables of tensors by the names that `--state` takes, with the keys that lead to them."""
    found: dict[str, tuple[tuple[str, ...], Mapping[object, object]]] = {}
    for path, table in _find_tables(content):
        name = ".".join(path)
        if name in found:
            raise RefusedError(f"holds two states named {escape_name(name) or repr(name)}; save one of them")
        if len(found) == _MOST_STATES:
            raise RefusedError(f"holds more than {_MOST_STATES} tables of tensors; save model.state_dict() alone")
        found[name] = path, table
    if not found:
        raise explain_stateless(content)
    return found


def _find_tables(content: object) -> Iterator[tuple[tuple[str, ...], Mapping[object, object]]]:
    """Yield the tables that directly hold tensors, each once, with the keys that lead to them."""
    seen: set[int] = set()
    waiting: deque[tuple[tuple[str, ...], object]] = deque([((), content)])
    while waiting:
        path, table = waiting.popleft()
        if not isinstance(table, Mapping) or id(table) in seen:
            continue
        seen.add(id(table))
        if any(isinstance(value, TensorInfo) for value in table.values()):
            yield path, table
        if len(path) < _DEEPEST:
            below = (item for item in table.items() if isinstance(item[0], str) and item[0] not in _NO_WEIGHTS)
            waiting += [((*path, key), value) for key, value in below]


def _read_state(path: tuple[str, ...], table: Mapping[object, object], prefix: str) -> State:
    """Return the tensors of a table by the model's own names, and what lies outside of the prefix."""
    tensors = [name for name, value in table.items() if isinstance(value, TensorInfo)]
    if len(tensors) > MOST_TENSORS:
        raise RefusedError(f"holds {len(tensors)} tensors; the limit is {MOST_TENSORS}; split the file")
    if _is_average(tensors):
        tensors.remove(_COUNT)
    names: dict[str, str] = {}
    left_out = []
    for old in tensors:
        new = strip_prefixes(old) if isinstance(old, str) else ""
        if not isinstance(old, str) or not new or not old.isprintable() or len(old) > _LONGEST_NAME:
            raise RefusedError(
                f"holds a tensor named {escape_name(old)!r}, which cannot be a parameter's name; save "
                "model.state_dict(), with safetensors"
            )
        if new in names:
            raise RefusedError(
                f"holds {escape_name(new)} twice, as {escape_name(names[new])} and {escape_name(old)}; save one of them"
            )
        if new.startswith(prefix) and new != prefix:
            names[new.removeprefix(prefix)] = old
        else:
            left_out.append(old)
    found = {new: info for new, old in names.items() if isinstance(info := table[old], TensorInfo)}
    return State(path, found, names, left_out=tuple(left_out))


def _is_average(names: Collection[object]) -> bool:
    """Say whether these are the names of an AveragedModel, whose own count is not a weight."""
    prefixed = [name for name in names if isinstance(name, str) and name.startswith(_PREFIXES[0])]
    return _COUNT in names and 0 < len(prefixed) == len(names) - 1


def strip_prefixes(name: str) -> str:
    """Return a name without what DistributedDataParallel and torch.compile put before it."""
    while name.startswith(_PREFIXES):
        name = next(name.removeprefix(prefix) for prefix in _PREFIXES if name.startswith(prefix))
    return name
