"""Where a model's number comes from, and where it differs from its baseline's; the amounts add up exactly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeAlias

from imlp_audit.explain.body import KINDS, TIMES, Portion
from imlp_audit.records.explanation import Amount

Key: TypeAlias = Callable[[Portion], str]


def by_part(item: Portion) -> str:
    """Return the part of the model that an item is in."""
    return item.part


def by_kind(item: Portion) -> str:
    """Return the kind of parameter or class of work that an item is."""
    return item.kind


def break_down(ours: Sequence[Portion], base: Sequence[Portion] | None, key: Key) -> tuple[Amount, ...]:
    """Return the amounts of one model by a key, beside those of its baseline if there is one."""
    mine = _sums(ours, key)
    if base is None:
        return tuple(Amount(name=name, amount=mine[name]) for name in _order(mine, mine, key))
    theirs = _sums(base, key)
    return tuple(Amount(name=name, amount=mine[name], baseline=theirs[name]) for name in _order(mine, theirs, key))


def _sums(items: Sequence[Portion], key: Key) -> Counter[str]:
    """Return the sums by a key, in the order of the model."""
    sums: Counter[str] = Counter()
    for item in items:
        sums[key(item)] += item.amount
    return sums


def _order(ours: Counter[str], base: Counter[str], key: Key) -> list[str]:
    """Return the names of both models: kinds in a fixed order, parts in ours with the baseline's own in their place."""
    if key is by_kind:
        return sorted({*ours, *base}, key=lambda kind: KINDS.index(kind.partition(TIMES)[0]))
    parts = list(ours)
    before = -1
    for part in base:
        if part not in parts:
            parts.insert(before + 1, part)
        before = parts.index(part)
    return parts
