"""Which names a glob matches, as `fnmatchcase` has it, for the globs of a spec: hundreds, nearly all of one kind."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator
from fnmatch import fnmatchcase

_SPECIAL = re.compile(r"[*?\[]")


class Names(Collection[str]):
    """Distinct names in order; those that begin alike are found without looking at the others."""

    def __init__(self, names: Iterable[str]) -> None:
        self._ranks = {name: rank for rank, name in enumerate(dict.fromkeys(names))}
        self._sorted = sorted(self._ranks)

    def __contains__(self, name: object) -> bool:
        return name in self._ranks

    def __iter__(self) -> Iterator[str]:
        return iter(self._ranks)

    def __len__(self) -> int:
        return len(self._ranks)

    def matching(self, glob: str) -> list[str]:
        """Return the names that a glob matches, in their order.

        A name and `prefix*suffix` are looked up without the expression that fnmatch makes of a glob: to compile it
        takes longer than to match it with all names of a paper.
        """
        special = _SPECIAL.search(glob)
        if special is None:
            return [glob] if glob in self._ranks else []
        prefix, suffix = glob[: special.start()], glob[special.end() :]
        near = self._beginning(prefix)
        if special[0] != "*" or _SPECIAL.search(suffix) is not None:
            return [name for name in near if fnmatchcase(name, glob)]
        shortest = len(prefix) + len(suffix)
        return [name for name in near if name.endswith(suffix) and len(name) >= shortest]

    def _beginning(self, prefix: str) -> list[str]:
        begin = bisect_left(self._sorted, prefix)
        end = bisect_right(self._sorted, prefix, lo=begin, key=lambda name: name[: len(prefix)])
        return sorted(self._sorted[begin:end], key=self._ranks.__getitem__)
