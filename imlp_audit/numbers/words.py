"""Counts and lists in a sentence, for people."""

from __future__ import annotations

from collections.abc import Sequence

from imlp_audit.numbers.interval import readable


def count_of(number: int, noun: str) -> str:
    """Return a number with its noun, such as `1 image` or `50 000 images`; a noun that ends in s takes es."""
    return f"{readable(number)} {noun if number == 1 else plural(noun)}"


def plural(noun: str) -> str:
    """Return the regular plural of a noun."""
    return f"{noun}es" if noun.endswith("s") else f"{noun}s"


def list_some(names: Sequence[str], most: int = 3) -> str:
    """Return the first few names, and how many more there are."""
    more = f" and {readable(len(names) - most)} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
