"""The objects of a pickle that were not made: where they are, and whether the weights depend on them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from imlp_audit.checkpoint.files.pickle_globals import ODD_TENSORS, Inert, Name, Storage, explain_code, explain_odd
from imlp_audit.checkpoint.files.pickle_machine import OTHER_KEYS
from imlp_audit.checkpoint.refusal import RefusedError
from imlp_audit.checkpoint.tensors import TensorInfo

_OF_MODULES = {"_parameters", "_buffers", "_modules"}
_KEYS = "holds a dictionary of tensors whose keys are not names; save model.state_dict() alone, with safetensors"


def find_inert(content: object) -> Iterator[Inert]:
    """Yield every object that was not made, in the order of the file."""
    return (value for value in _walk(content) if isinstance(value, Inert) and value is not OTHER_KEYS)


Given = Mapping[int | str, Inert]
"""What objects that were not made were given: tables by their identity, tensors by their storage."""


def find_given(content: object) -> Given:
    """Return what the objects that were not made were given, each with such an object."""
    seen: set[int] = set()
    return {_identify(value): one for one in find_inert(content) for value in _walk(one, seen)}


def _identify(value: object) -> int | str:
    return value.view.storage if isinstance(value, TensorInfo) else id(value)


def check_apart(state: Mapping[object, object], given: Given) -> None:
    """Raise RefusedError if the weights of a state depend on objects that were not made, so on unknown code.

    That is so if one stands where a tensor should, or was `given` the state or a tensor of it.
    """
    seen: set[int] = set()
    for name, value in state.items():
        if isinstance(value, Inert) and value.name in ODD_TENSORS:
            raise explain_odd(name, ODD_TENSORS[value.name])
        if isinstance(value, Inert) and any(isinstance(part, TensorInfo | Storage) for part in _walk(value, seen)):
            raise explain_code(value.name)
    if any(isinstance(value, TensorInfo) for value in _walk(state.get(OTHER_KEYS))):
        raise RefusedError(_KEYS)
    for value in (state, *(value for value in state.values() if isinstance(value, TensorInfo))):
        if _identify(value) in given:
            raise explain_code(given[_identify(value)].name)


def explain_stateless(content: object) -> RefusedError:
    """Return why a file holds no state: what is in it instead."""
    values = list(_walk(content))
    for one in values:
        if isinstance(one, Inert) and is_module(one):
            return explain_module(one)
    tables = [value for value in values if isinstance(value, dict)]
    for name, value in ((name, value) for table in tables for name, value in table.items()):
        if isinstance(value, Inert) and value.name in ODD_TENSORS:
            return explain_odd(name, ODD_TENSORS[value.name])
    for value in values:
        if isinstance(value, Name) or (isinstance(value, Inert) and value.noted):
            return explain_code(value.text if isinstance(value, Name) else value.name)
    if any(OTHER_KEYS in table for table in tables):
        return RefusedError(_KEYS)
    return RefusedError("does not hold tensors by name; save model.state_dict(), with safetensors")


def is_module(one: Inert) -> bool:
    """Say whether an object is a whole torch.nn.Module."""
    return any(isinstance(part, Mapping) and part.keys() >= _OF_MODULES for part in one.parts)


def explain_module(one: Inert) -> RefusedError:
    """Return the refusal of a file with a whole model, and the line that makes it usable."""
    return RefusedError(
        f"holds a whole model, an object of {one.title}, which only its own code can open (not executed); if you trust "
        'it, run there `torch.save(torch.load("FILE", weights_only=False).state_dict(), "weights.pth")` and give '
        "weights.pth"
    )


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
        waiting += reversed(list(_list_parts(value)))


def _list_parts(value: object) -> Iterable[object]:
    match value:
        case list() | tuple():
            return value
        case dict():
            return value.values()
        case Inert():
            return value.parts
    return ()
