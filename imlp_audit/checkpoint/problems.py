"""What keeps a checkpoint from fitting a model: tensors in groups, each with its cause in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from imlp_audit.checkpoint import causes
from imlp_audit.checkpoint.causes import Cause
from imlp_audit.checkpoint.refusal import shown

Shapes = Mapping[str, tuple[int, ...]]
_SHOWN = 3  # names told of each group
_FEW = 2  # names that may end like the model's by chance


class Kind(StrEnum):
    """How a tensor does not fit."""

    MISSING = "missing"
    UNEXPECTED = "unexpected"
    MISSHAPED = "mis-shaped"


@dataclass(frozen=True)
class Problem:
    """Tensors that do not fit for one reason, and what is the case for some of them.

    `names` are the model's, or the file's where the model has none.
    """

    kind: Kind
    reason: str
    names: tuple[str, ...]
    details: tuple[str, ...] = ()

    def __str__(self) -> str:
        some = ", ".join(map(shown, self.names[:_SHOWN])) + (", ..." if len(self.names) > _SHOWN else "")
        count = "1 tensor" if len(self.names) == 1 else f"{len(self.names)} tensors"
        told = ", ".join(self.details[:_SHOWN]) + (", ..." if len(self.details) > _SHOWN else "")
        return f"{self.kind}: {self.reason}{f': {told}' if told else ''} ({count}: {some})"


def misshaped(names: Iterable[str], mine: Shapes, wanted: Shapes) -> Iterator[Problem]:
    """Yield what has another shape in the file than in the model, by cause."""
    yield from _grouped(Kind.MISSHAPED, names, lambda name: causes.misshaped(name, mine[name], wanted[name]))


def _grouped(kind: Kind, names: Iterable[str], cause: Callable[[str], Cause]) -> Iterator[Problem]:
    groups: dict[str, dict[str, Cause]] = {}
    for name in names:
        found = cause(name)
        groups.setdefault(found.reason, {})[name] = found
    for reason, group in groups.items():
        details = dict.fromkeys(detail for found in group.values() for detail in found.details)
        yield Problem(kind, reason, tuple(group), tuple(details))


def one_sided(missing: list[str], extra: list[str], mine: Shapes, wanted: Shapes) -> Iterator[Problem]:
    """Yield what only one side has: first what is the same but for its name, then by part of the model."""
    prefix, left_over = _left_over(missing, extra)
    if len(left_over) > _FEW or 0 < len(left_over) == len(extra):
        told = f"the prefix {shown(prefix)!r} is left over before the model's names"
        yield Problem(Kind.UNEXPECTED, told, tuple(left_over))
        found = set(left_over.values())
        extra = [name for name in extra if name not in left_over]
        missing = [name for name in missing if name not in found]
    if missing and Counter(wanted[name] for name in missing) == Counter(mine[name] for name in extra):
        yield Problem(Kind.UNEXPECTED, "tensors of the missing shapes under other names", tuple(extra))
        yield Problem(Kind.MISSING, "tensors of the same shapes under these names", tuple(missing))
        return
    held, built = _numbered(mine), _numbered(wanted)

    def cause(name: str) -> Cause:
        return _depth(name, held, built) or causes.part(name)

    yield from _grouped(Kind.MISSING, missing, cause)
    yield from _grouped(Kind.UNEXPECTED, extra, cause)


def _left_over(missing: list[str], extra: list[str]) -> tuple[str, dict[str, str]]:
    """Return what stands before the most of the model's missing names in the file, and these names with the model's."""
    gone = set(missing)
    ends = [(name, at + 1) for name in extra for at, sign in enumerate(name) if sign == "." and name[at + 1 :] in gone]
    ((prefix, _),) = Counter(name[:at] for name, at in ends).most_common(1) or [("", 0)]
    return prefix, {name: name[at:] for name, at in ends if name[:at] == prefix}


def _numbered(names: Iterable[str]) -> dict[str, set[int]]:
    """Return which numbers stand in each list of modules: {"blocks": {0, 1, ...}}."""
    found: dict[str, set[int]] = {}
    for name in names:
        parts = name.split(".")
        for at, part in enumerate(parts):
            if part.isdecimal():
                found.setdefault(".".join(parts[:at]), set()).add(int(part))
    return found


def _depth(name: str, held: Mapping[str, set[int]], wanted: Mapping[str, set[int]]) -> Cause | None:
    """Return the cause of a tensor in a block that one side's list of blocks lacks; None where both have it."""
    parts = name.split(".")
    for at, part in enumerate(parts):
        stem = ".".join(parts[:at])
        if part.isdecimal() and stem in held and stem in wanted and int(part) not in held[stem] & wanted[stem]:
            return causes.depth(shown(stem), len(held[stem]), len(wanted[stem]))
    return None
