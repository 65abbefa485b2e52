"""Which of the things in a file are the weights of the model, and under which names."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from imlp_audit.checkpoint.pickle_machine import OTHER_KEYS
from imlp_audit.checkpoint.placeholders import check_apart, find_inert, refuse_stateless
from imlp_audit.checkpoint.refusal import RefusedError, escape_name, list_names
from imlp_audit.checkpoint.tensors import MOST_TENSORS, TensorInfo
from imlp_audit.errors import did_you_mean

_FIRST = ("model", "state_dict", "model_state_dict", "model_ema", "state_dict_ema", "ema")
"""Common names of states in order of preference: the weights themselves, then their running averages."""

_AVERAGES = ("model_ema", "state_dict_ema", "ema")
_PREFIXES = ("module.", "_orig_mod.")  # of DistributedDataParallel and torch.compile
_DEEPEST = 2
_LONGEST_NAME = 300


@dataclass(frozen=True)
class State:
    """The weights that were chosen from a file.

    `path` holds the keys that lead to them; it is empty if the file holds nothing else. `tensors` has them by the
    model's own names, and `names` maps these to the names in the file. `others` are the states that were not chosen,
    `rest` is what else the file holds. `unopened` are the classes and functions of the objects that were not made.
    """

    path: tuple[str, ...]
    tensors: Mapping[str, TensorInfo]
    names: Mapping[str, str]
    others: tuple[str, ...] = ()
    rest: tuple[str, ...] = ()
    unopened: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What the state is called; "" if it is the whole file."""
        return ".".join(self.path)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was chosen, left out and renamed: one sentence each."""
        return tuple(self._notes())

    def _notes(self) -> Iterator[str]:
        if self.others:
            name = escape_name(self.name) or "the top level"
            yield f"{name} is used; the file also holds {list_names(self.others)} (choose with --state)"
        if self.name in _AVERAGES:
            yield f"{self.name} is a running average of the weights"
        if self.rest:
            yield f"ignored, because they are not weights: {list_names(self.rest)}"
        if self.unopened:
            yield f"objects in it that were not opened (nothing was executed): {list_names(self.unopened)}"
        cut = {old.removesuffix(new) for new, old in self.names.items()} - {""}
        if cut:
            yield f"prefix removed from the names: {list_names(sorted(cut))}"


def choose_state(content: object, wanted: str | None = None) -> State:
    """Return the wanted state of a file, or the preferred one by its name.

    Raises RefusedError if there is no such state, if several have unknown names, or if a tensor has an impossible name.
    """
    states = {".".join(path): (path, mapping) for path, mapping in _find_states(content)}
    if not states:
        raise refuse_stateless(content)
    name = wanted if wanted is not None else _prefer(states)
    if name not in states:
        advice = did_you_mean(name, list(map(escape_name, states)), "it holds")
        raise RefusedError(f"does not hold a state {escape_name(name)}; {advice}")
    path, mapping = states[name]
    check_apart(content, mapping)
    tensors = {old: value for old, value in mapping.items() if isinstance(value, TensorInfo)}
    names = _clean_names(tensors)
    others = tuple(other for other in states if other != name)
    rest = tuple(dict.fromkeys(_find_rest(content, path, {other.partition(".")[0] for other in others})))
    unopened = tuple(dict.fromkeys(one.title for one in find_inert(content) if one.noted))
    return State(path, {new: tensors[old] for new, old in names.items()}, names, others, rest, unopened)


def _find_rest(content: object, path: tuple[str, ...], others: Collection[str]) -> Iterator[str]:
    """Yield what belongs to no state: siblings on the way to the chosen one, and what is not a tensor in it."""
    table = content
    for taken in (*path, None):
        assert isinstance(table, Mapping)
        held = {key for key, value in table.items() if taken is None and isinstance(value, TensorInfo)}
        ignored = (key for key in table if key != taken and key not in held and key not in others)
        yield from (OTHER_KEYS.title if key is OTHER_KEYS else str(key) for key in ignored)
        table = table.get(taken)


def _find_states(content: object) -> Iterator[tuple[tuple[str, ...], Mapping[object, object]]]:
    """Yield the tables that directly hold tensors, each once, with the keys that lead to them."""
    seen: set[int] = set()
    waiting: list[tuple[tuple[str, ...], object]] = [((), content)]
    while waiting:
        path, table = waiting.pop(0)
        if not isinstance(table, Mapping) or id(table) in seen:
            continue
        seen.add(id(table))
        if any(isinstance(value, TensorInfo) for value in table.values()):
            yield path, table
        if len(path) < _DEEPEST:
            waiting += [((*path, key), value) for key, value in table.items() if isinstance(key, str)]


def _prefer(states: Mapping[str, object]) -> str:
    known = sorted((name for name in states if _last(name) in _FIRST), key=lambda name: _FIRST.index(_last(name)))
    if known:
        return known[0]
    if "" in states or len(states) == 1:
        return "" if "" in states else next(iter(states))
    raise RefusedError(f"holds several states: {list_names(states)}; choose one with --state")


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _clean_names(tensors: Mapping[object, TensorInfo]) -> dict[str, str]:
    """Return the model's own name of each tensor, with its name in the file."""
    if len(tensors) > MOST_TENSORS:
        raise RefusedError(f"holds {len(tensors)} tensors; the limit is {MOST_TENSORS}; split the file")
    names: dict[str, str] = {}
    for old in tensors:
        new = _strip_prefixes(old) if isinstance(old, str) else ""
        if not isinstance(old, str) or not new or not old.isprintable() or len(old) > _LONGEST_NAME:
            raise RefusedError(
                f"holds a tensor named {escape_name(old)!r}, which cannot be a parameter's name; save "
                "model.state_dict(), with safetensors"
            )
        if new in names:
            raise RefusedError(
                f"holds {escape_name(new)} twice, as {escape_name(names[new])} and {escape_name(old)}; save one of them"
            )
        names[new] = old
    return names


def _strip_prefixes(name: str) -> str:
    while name.startswith(_PREFIXES):
        name = next(name.removeprefix(prefix) for prefix in _PREFIXES if name.startswith(prefix))
    return name
