"""A part of the images that stands for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256


def stratified(labels: Sequence[tuple[int, ...]], limit: int, ids: Sequence[str]) -> tuple[int, ...]:
    """Return the indices, ascending, of `limit` images: of each class its share, rounded down or up.

    The images stand class by class, and every (n / limit)-th is taken. Classes, and images within a class, are ordered
    by a hash: of the order in which somebody named the files nothing is left, and any machine chooses the same.
    Images without a label are never chosen; a limit above the number of the others gives them all.
    """
    judged = [index for index, accepted in enumerate(labels) if accepted]
    if limit >= len(judged):
        return tuple(judged)
    judged.sort(key=lambda index: (_digest(str(min(labels[index]))), _digest(ids[index]), index))
    taken = ((2 * turn + 1) * len(judged) // (2 * limit) for turn in range(limit))  # the middles of equal parts
    return tuple(sorted(judged[place] for place in taken))


def _digest(text: str) -> bytes:
    return sha256(text.encode("utf-8")).digest()
