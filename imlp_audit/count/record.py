"""Records of a forward pass: its work by module and class, where its modules sit, and its peak memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from imlp_audit.count.call import Operation
from imlp_audit.models.available_hosts import HOSTS


class Site(StrEnum):
    """A part of a classifier that a counting convention may weigh apart."""

    STEM = "stem"
    DOWNSAMPLE = "downsample"
    BLOCK = "block"
    HEAD = "head"


_STEMS = frozenset().union(*(host.stem for host in HOSTS.values()))
_HEADS = frozenset().union(*(host.head for host in HOSTS.values()))


def site_of(module_path: str) -> Site:
    """Return the site of a dotted module path such as `layers.1.downsample.norm`: a block if nothing else."""
    names = module_path.split(".")
    if "downsample" in names:
        return Site.DOWNSAMPLE
    if names[0] in _STEMS:
        return Site.STEM
    return Site.HEAD if names[0] in _HEADS else Site.BLOCK


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
        """Work by site of the host and class; computed once, as every convention's total needs it."""
        sums: Counter[tuple[Site, Operation]] = Counter()
        for (path, operation), amount in self.work.items():
            sums[site_of(path), operation] += amount
        return sums

    def condensed(self, apart: Collection[str]) -> Ledger:
        """Return a ledger of few entries with the same work at each site, within the modules `apart` and elsewhere.

        The first module of a site stands for all of it.
        """
        roots, stands = tuple(f"{one}." for one in apart), dict[tuple[Site, bool], str]()
        work: Counter[tuple[str, Operation]] = Counter()
        for (path, operation), amount in self.work.items():
            place = site_of(path), f"{path}.".startswith(roots)
            work[stands.setdefault(place, path), operation] += amount
        return Ledger(dict(work), self.unknown)

    def within(self, prefixes: Collection[str]) -> Ledger:
        """The part of the work done in the modules at given dotted paths and below them; everything lies below ""."""
        parts = tuple(f"{one}." if one else "" for one in prefixes)
        return Ledger({key: n for key, n in self.work.items() if f"{key[0]}.".startswith(parts)}, self.unknown)


@dataclass(frozen=True)
class Peak:
    """Bytes of a forward pass: `live` is the most in use at once, `least` what any program of these operations needs.

    `least` is the weights plus the operands and results of one operation; `live` adds whatever the model's code keeps.
    """

    live: int
    least: int
