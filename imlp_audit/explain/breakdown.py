"""Where a model's number comes from, and where it differs from its baseline's: tables whose parts add up exactly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from imlp_audit.explain.body import KINDS, TIMES, Item
from imlp_audit.explain.layout import INDENT, Lines, signed, table
from imlp_audit.numbers.interval import decimal_text, readable

Key: TypeAlias = Callable[[Item], str]
Amounts: TypeAlias = tuple[str, int, int]
"""A part, and how much of it the baseline has and the model."""
_SMALL = Fraction(2, 100)


@dataclass(frozen=True)
class Side:
    """A model in a table: what heads its column, and what is counted in it."""

    label: str
    items: Sequence[Item]

    def by(self, key: Key) -> Counter[str]:
        """Return the sums, in the order of the model."""
        sums: Counter[str] = Counter()
        for item in self.items:
            sums[key(item)] += item.amount
        return sums


def by_part(item: Item) -> str:
    """Return the part of the model that an item is in."""
    return item.part


def by_kind(item: Item) -> str:
    """Return the kind of parameter or class of work that an item is."""
    return item.kind


def breakdown(ours: Side, base: Side | None, key: Key, head: str) -> Lines:
    """Return a table of one model's parts with their shares, or of two models' parts with their differences."""
    return _alone(ours, key, head) if base is None else _compared(ours, base, key, head)


def saved_and_given_back(ours: Side, base: Side) -> Lines:
    """Say how much less and how much more the parts have than the baseline's."""
    changes = [ours.by(by_part)[part] - base.by(by_part)[part] for part in _parts(ours, base, by_part)]
    less, more = (sum(filter(sign, changes)) for sign in ((0).__gt__, (0).__lt__))
    if not less or not more:
        return []
    share = decimal_text(Fraction(100 * more, -less), 1)
    return [f"{INDENT}saved {readable(-less)}, of which {readable(more)} is given back ({share} %)"]


def _alone(ours: Side, key: Key, head: str) -> Lines:
    sums, whole = ours.by(key), ours.by(key).total()
    rows = [(part, readable(sums[part]), _share(sums[part], whole)) for part in _parts(ours, ours, key)]
    return table([(head, ours.label, "share"), *rows, ("total", readable(whole), "")])


def _compared(ours: Side, base: Side, key: Key, head: str) -> Lines:
    mine, theirs = ours.by(key), base.by(key)
    amounts = [(part, theirs[part], mine[part]) for part in _parts(ours, base, key)]
    if key is by_part:
        amounts = _merged(amounts, theirs.total())
    amounts.append(("total", theirs.total(), mine.total()))
    rows = [(part, readable(a), readable(b), signed(b - a)) for part, a, b in amounts]
    change = _share(mine.total() - theirs.total(), theirs.total())
    lines = table([(head, base.label, ours.label, "difference"), *rows])
    lines[-1] += f"  ({change})"
    return lines


def _merged(amounts: Sequence[Amounts], whole: int) -> list[Amounts]:
    """Put small parts that are the same in both into one row."""
    small = [part for part, a, b in amounts if a == b and a < _SMALL * whole]
    if len(small) < 2:
        return list(amounts)
    rest = sum(a for part, a, _ in amounts if part in small)
    return [*(row for row in amounts if row[0] not in small), ("other parts, all unchanged", rest, rest)]


def _parts(ours: Side, base: Side, key: Key) -> list[str]:
    """Return the parts of both in our order, where the baseline has them if it alone does; kinds have their own."""
    if key is by_kind:
        return sorted({*ours.by(key), *base.by(key)}, key=_rank)
    parts = list(ours.by(key))
    before = -1
    for part in base.by(key):
        if part not in parts:
            parts.insert(before + 1, part)
        before = parts.index(part)
    return parts


def _rank(kind: str) -> int:
    return KINDS.index(kind.partition(TIMES)[0])


def _share(amount: int, whole: int) -> str:
    return f"{decimal_text(Fraction(100 * amount, whole), 1)} %" if whole else ""
