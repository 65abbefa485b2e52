"""Names of tensors: the order of layers, and how a name from a file is shown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_LONGEST = 120


def paths_before(ending: str, names: Iterable[str]) -> Iterator[str]:
    """Yield what stands before an ending in the names that have it, with its dot, the layers in their order.

    A file may list its tensors by the alphabet, where blocks.10 is before blocks.2.
    """
    whole = (name.removesuffix(ending) for name in names if f".{name}".endswith(f".{ending}"))
    return iter(sorted(whole, key=in_order))


def shown(name: str) -> str:
    """Return a name as it may be printed: no control characters, nothing endless, no end of a code span."""
    plain = name if name.isprintable() and name.isascii() else ascii(name)[1:-1]
    plain = plain.replace("`", "'")
    return plain if len(plain) <= _LONGEST else f"{plain[:_LONGEST]}..."


def block(path: str) -> str:
    """Return the name of a module from what stands before the names of its tensors."""
    return shown(path.removesuffix(".")) or "the module"


def in_order(path: str) -> tuple[tuple[int, int, str], ...]:
    """Sort by words, and by numbers where a part is one."""
    parts = path.split(".")
    return tuple((0, int(part), "") if re.fullmatch(r"[0-9]{1,9}", part) else (1, 0, part) for part in parts)
