"""Near misses: what somebody may have meant by a name that is not known."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches

_TOLD = 8  # names listed where none is near


def did_you_mean(name: str, known: Collection[str], nouns: str = "known") -> str:
    """Suggest the nearest known name, or list some of them."""
    near = get_close_matches(name, known, n=1)
    if near:
        return f"did you mean {near[0]!r}?"
    more = f" and {len(known) - _TOLD} more" if len(known) > _TOLD else ""
    return f"{nouns}: {', '.join(list(known)[:_TOLD]) or 'none'}{more}"
