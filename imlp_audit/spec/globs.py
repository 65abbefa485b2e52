"""Which names a glob matches, as `fnmatchcase` has it, for the globs of a spec: hundreds, nearly all of one kind."""

from __future__ import annotations

import re
from collections.abc import Collection
from fnmatch import fnmatchcase

_SPECIAL = re.compile(r"[*?\[]")


def matching(glob: str, names: Collection[str]) -> list[str]:
    """Return the names that a glob matches, in their order.

    A name and `prefix*suffix` are looked up without the expression that fnmatch makes of a glob: to compile it takes
    longer than to match it with all names of a paper. Any other is matched only with the names that begin as it does.
    """
    special = _SPECIAL.search(glob)
    if special is None:
        return [glob] if glob in names else []
    prefix = glob[: special.start()]
    near = [name for name in names if name.startswith(prefix)]
    suffix = glob[special.end() :]
    if special[0] != "*" or _SPECIAL.search(suffix) is not None:
        return [name for name in near if fnmatchcase(name, glob)]
    shortest = len(prefix) + len(suffix)
    return [name for name in near if name.endswith(suffix) and len(name) >= shortest]
