"""The operation ledger as a record: what a forward pass did, by module and class of work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from imlp_audit.measure.operations import Operation


@dataclass(frozen=True)
class Ledger:
    """Exact work of one forward pass.

    `work` maps (dotted path of the innermost module, class) to an amount; the model itself is the path "".
    `unknown` maps the name of an operation that has no formula to its number of calls.
    """

    work: Mapping[tuple[str, Operation], int]
    unknown: Mapping[str, int]

    def by_operation(self) -> dict[Operation, int]:
        """Work by class over all modules, in the order of the classes."""
        sums: Counter[Operation] = Counter()
        for (_, operation), amount in self.work.items():
            sums[operation] += amount
        return {operation: sums[operation] for operation in Operation if operation in sums}

    def within(self, prefixes: Collection[str]) -> dict[tuple[str, Operation], int]:
        """The part of `work` done in the modules at the given dotted paths and below them."""
        return {key: amount for key, amount in self.work.items() if is_within(key[0], prefixes)}


def is_within(path: str, prefixes: Collection[str]) -> bool:
    """Whether a dotted path is one of the prefixes or lies below one; everything lies below ""."""
    return any(not prefix or path == prefix or path.startswith(prefix + ".") for prefix in prefixes)
