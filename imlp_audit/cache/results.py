"""Whole results that earlier runs came to."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from imlp_audit.cache.sources import EVERYTHING, fingerprint
from imlp_audit.cache.store import Store
from imlp_audit.records.base import Record

Result = TypeVar("Result", bound=Record)


def remember(
    store: Store, asked: str | None, kind: type[Result], make: Callable[[], Result], is_whole: Callable[[Result], bool]
) -> Result:
    """Return what an earlier run made of the same question, or make it, and keep it if it is whole.

    `asked` holds all that the result depends on, except for our own code and its libraries; None if that is not known.
    """
    if asked is None:
        return make()
    key = f"{kind.__name__} {fingerprint(EVERYTHING)} {asked}"
    result = store.read(key, kind)
    if result is None:
        result = make()
        if is_whole(result):
            store.keep(key, result)
            store.trim()
    return result
