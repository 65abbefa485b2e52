"""Which names a glob matches, as `fnmatchcase` has it, for the globs of a spec: hundreds, nearly all of one kind."""

from __future__ import annotations

from collections.abc import Collection
from fnmatch import fnmatchcase

_SPECIAL = frozenset("*?[")


def matching(glob: str, names: Collection[str]) -> list[str]:
    """Return the names that a glob matches, in their order.

    A name and `prefix*` are looked up without the expression that fnmatch makes of a glob: to compile it takes longer
    than to match it with all names of a paper.
    """
    if _SPECIAL.isdisjoint(glob):
        return [glob] if glob in names else []
    prefix = glob.removesuffix("*")
    if _SPECIAL.isdisjoint(prefix):
        return [name for name in names if name.startswith(prefix)]
    return [name for name in names if fnmatchcase(name, glob)]
