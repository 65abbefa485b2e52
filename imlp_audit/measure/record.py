"""What was measured of a forward pass, as records: its work by module and class, and its memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property

from imlp_audit.measure.operations import Operation
from imlp_audit.measure.sites import Site, site_of


@dataclass(frozen=True)
class Ledger:
    """Exact work of one forward pass.

    `work` maps (dotted path of the innermost module, class) to an amount; the model itself is the path "".
    `unknown` maps the name of an operation that has no formula to its number of calls.
    """

    work: Mapping[tuple[str, Operation], int]
    unknown: Mapping[str, int]

    @cached_property
    def by_site(self) -> Mapping[tuple[Site, Operation], int]:
        """Work by site of the host and class, summed once: every convention's total is made from it."""
        return _by_site(self.work)

    def within(self, prefixes: Collection[str]) -> Ledger:
        """The part of the work done in the modules at the given dotted paths and below them."""
        return Ledger({key: amount for key, amount in self.work.items() if is_within(key[0], prefixes)}, self.unknown)


@dataclass(frozen=True)
class Peak:
    """Bytes of a forward pass: `live` at once at most, and `least` that any program of the same operations needs.

    `least` is the weights and the operands and results of one operation; `live` also what the model's code holds on to.
    """

    live: int
    least: int


def _by_site(work: Mapping[tuple[str, Operation], int]) -> Mapping[tuple[Site, Operation], int]:
    sums: Counter[tuple[Site, Operation]] = Counter()
    for (path, operation), amount in work.items():
        sums[site_of(path), operation] += amount
    return sums


def is_within(path: str, prefixes: Collection[str]) -> bool:
    """Whether a dotted path is one of the prefixes or lies below one; everything lies below ""."""
    return any(not prefix or path == prefix or path.startswith(prefix + ".") for prefix in prefixes)
