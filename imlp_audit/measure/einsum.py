"""What an einsum does: the contractions that torch makes of it, one operand after another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from string import ascii_letters


@dataclass(frozen=True)
class Contraction:
    """Two operands brought together: the extent of every label involved, and whether any label is summed."""

    extents: tuple[int, ...]
    sums: bool

    @property
    def size(self) -> int:
        """Multiplications made (multiply-accumulates where a label is summed)."""
        return prod(self.extents)


def contractions(equation: str, shapes: Sequence[Sequence[int]]) -> Iterator[Contraction]:
    """The contractions from left to right; an operand alone is summed or permuted, and makes none.

    A label is summed as soon as no later operand and not the output has it. One that only one of the two
    operands has is summed before they meet, so it is no factor of the work.
    """
    terms, output = _labels(equation, shapes)
    extents = _extents(terms, shapes)
    left = set(terms[0])
    for position, term in enumerate(terms[1:], start=1):
        right = set(term)
        later = set(output).union(*terms[position + 1 :])
        summed = (left | right) - later
        met = (left & right) | ((left | right) & later)
        yield Contraction(tuple(extents[label] for label in sorted(met)), bool(summed))
        left = (left | right) & later


def _labels(equation: str, shapes: Sequence[Sequence[int]]) -> tuple[list[str], str]:
    """Labels of each operand and of the output, with `...` spelt out and the implicit output written."""
    inputs, arrow, output = equation.replace(" ", "").partition("->")
    free = [letter for letter in ascii_letters if letter not in equation]
    terms, dots = [], ""
    for term, shape in zip(inputs.split(","), shapes, strict=True):
        width = len(shape) - len(term.replace("...", "")) if "..." in term else 0
        spelt = "".join(free[:width])[::-1]
        dots = max(dots, spelt, key=len)
        terms.append(term.replace("...", spelt))
    named = "".join(sorted(letter for letter in set(inputs) - set("., ") if inputs.count(letter) == 1))
    return terms, output.replace("...", dots) if arrow else dots + named


def _extents(terms: Sequence[str], shapes: Sequence[Sequence[int]]) -> dict[str, int]:
    extents: dict[str, int] = {}
    for term, shape in zip(terms, shapes, strict=True):
        for label, extent in zip(term, shape, strict=True):
            extents[label] = max(extent, extents.get(label, 1))
    return extents
