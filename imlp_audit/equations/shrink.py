"""Making a counterexample smaller: fewer choices, and smaller ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from imlp_audit.equations.choices import Path

Fails = Callable[[Path], Path | None]
_MOST = 1000


def shrink(path: Path, fails: Fails) -> Path:
    """Return choices that still fail and that no step makes simpler; shorter is simpler, then smaller in order.

    `fails` makes the example of some choices and returns those that it used if the claim is false on it. The work is
    bounded by a number of examples.
    """
    tried: set[Path] = {path}
    while len(tried) < _MOST:
        simpler = _first_simpler(path, fails, tried)
        if simpler is None:
            break
        path = simpler
    return path


def _first_simpler(path: Path, fails: Fails, tried: set[Path]) -> Path | None:
    for candidate in _candidates(path):
        if candidate in tried:
            continue
        tried.add(candidate)
        used = fails(candidate)
        if used is not None and (len(used), used) < (len(path), path):
            return used
        if len(tried) >= _MOST:
            break
    return None


def _candidates(path: Path) -> Iterator[Path]:
    length = len(path)
    for size in _sizes(length):
        for start in range(0, length - size + 1, size):
            yield path[:start] + path[start + size :]
            if any(path[start : start + size]):
                yield _put(path, dict.fromkeys(range(start, start + size), 0))
    for place, choice in enumerate(path):
        yield from (_put(path, {place: less}) for less in _below(choice))
    for place, choice in enumerate(path):
        for other in range(place + 1, length):
            if path[other] < choice:
                yield _put(path, {place: path[other], other: choice})
            elif path[other] == choice:
                yield from (_put(path, {place: less, other: less}) for less in _below(choice))
    yield from (_put(path, {at: 0, at + 1: path[at] + path[at + 1]}) for at in range(length - 1) if path[at])
    for zero in (place for place, choice in enumerate(path) if not choice):
        yield from ((*path[:at], 0, *path[at:zero], *path[zero + 1 :]) for at in range(zero) if path[at])


def _put(path: Path, new: Mapping[int, int]) -> Path:
    return tuple([new.get(place, choice) for place, choice in enumerate(path)])


def _sizes(length: int) -> Iterator[int]:
    size = length
    while size:
        yield size
        size //= 2


def _below(choice: int) -> Iterator[int]:
    """Yield smaller choices: all of a few, and by halves where there are many."""
    if choice <= 16:
        yield from range(choice)
        return
    step = choice
    while step:
        yield choice - step
        step //= 2
