"""What keeps a checkpoint from fitting a model: groups of tensors, each with its cause in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from imlp_audit.checkpoint import causes
from imlp_audit.checkpoint.causes import Cause
from imlp_audit.checkpoint.refusal import escape_name

Shapes = Mapping[str, tuple[int, ...]]
_MOST_SHOWN = 3  # names of each group in a message
_FEW = 2  # names that may end like the model's by chance


class MisfitKind(StrEnum):
    """How a tensor does not fit."""

    MISSING = "missing"
    UNEXPECTED = "unexpected"
    MISSHAPED = "mis-shaped"


@dataclass(frozen=True)
class MisfitGroup:
    """Tensors that do not fit for one reason, with details of some of them.

    `names` are the model's, or the file's if the model has none.
    """

    kind: MisfitKind
    reason: str
    names: tuple[str, ...]
    details: tuple[str, ...] = ()

    def __str__(self) -> str:
        count = "1 tensor" if len(self.names) == 1 else f"{len(self.names)} tensors"
        details = f": {_join_first(self.details)}" if self.details else ""
        return f"{self.kind}: {self.reason}{details} ({count}: {_join_first([*map(escape_name, self.names)])})"


def _join_first(texts: Sequence[str]) -> str:
    return ", ".join([*texts[:_MOST_SHOWN], *(["..."] if len(texts) > _MOST_SHOWN else [])])


def group_misshaped(names: Iterable[str], mine: Shapes, wanted: Shapes) -> Iterator[MisfitGroup]:
    """Yield the tensors that have another shape in the file than in the model, by cause."""
    yield from _group(MisfitKind.MISSHAPED, names, lambda name: causes.explain_shape(name, mine[name], wanted[name]))


def _group(kind: MisfitKind, names: Iterable[str], cause: Callable[[str], Cause]) -> Iterator[MisfitGroup]:
    groups: dict[str, dict[str, Cause]] = {}
    for name in names:
        found = cause(name)
        groups.setdefault(found.reason, {})[name] = found
    for reason, group in groups.items():
        details = dict.fromkeys(detail for found in group.values() for detail in found.details)
        yield MisfitGroup(kind, reason, tuple(group), tuple(details))


def group_one_sided(missing: list[str], extra: list[str], mine: Shapes, wanted: Shapes) -> Iterator[MisfitGroup]:
    """Yield the tensors that only one side has: first those that differ in name only, then by part of the model."""
    prefix, prefixed = _find_prefix(missing, extra)
    if len(prefixed) > _FEW or 0 < len(prefixed) == len(extra):
        reason = f"the prefix {escape_name(prefix)!r} before the model's names"
        yield MisfitGroup(MisfitKind.UNEXPECTED, reason, tuple(prefixed))
        matched = set(prefixed.values())
        extra = [name for name in extra if name not in prefixed]
        missing = [name for name in missing if name not in matched]
    if missing and Counter(wanted[name] for name in missing) == Counter(mine[name] for name in extra):
        yield MisfitGroup(MisfitKind.UNEXPECTED, "tensors of the missing shapes under other names", tuple(extra))
        yield MisfitGroup(MisfitKind.MISSING, "tensors of the same shapes under these names", tuple(missing))
        return
    held, built = _number_lists(mine), _number_lists(wanted)

    def cause(name: str) -> Cause:
        return _find_depth(name, held, built) or causes.explain_name(name)

    yield from _group(MisfitKind.MISSING, missing, cause)
    yield from _group(MisfitKind.UNEXPECTED, extra, cause)


def _find_prefix(missing: list[str], extra: list[str]) -> tuple[str, dict[str, str]]:
    """Return the most common prefix of the model's missing names in the file, and these names with the model's."""
    gone = set(missing)
    ends = [(name, at + 1) for name in extra for at, sign in enumerate(name) if sign == "." and name[at + 1 :] in gone]
    ((prefix, _),) = Counter(name[:at] for name, at in ends).most_common(1) or [("", 0)]
    return prefix, {name: name[at:] for name, at in ends if name[:at] == prefix}


def _number_lists(names: Iterable[str]) -> dict[str, set[int]]:
    """Return the numbers in each list of modules: {"blocks": {0, 1, ...}}."""
    found: dict[str, set[int]] = {}
    for name in names:
        parts = name.split(".")
        for at, part in enumerate(parts):
            if part.isdecimal():
                found.setdefault(".".join(parts[:at]), set()).add(int(part))
    return found


def _find_depth(name: str, held: Mapping[str, set[int]], wanted: Mapping[str, set[int]]) -> Cause | None:
    """Return the cause of a tensor in a block that one side's list of blocks lacks; None if both have the block."""
    parts = name.split(".")
    for at, part in enumerate(parts):
        stem = ".".join(parts[:at])
        if part.isdecimal() and stem in held and stem in wanted and int(part) not in held[stem] & wanted[stem]:
            return causes.explain_depth(escape_name(stem), len(held[stem]), len(wanted[stem]))
    return None
