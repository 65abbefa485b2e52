"""What a formula is made of."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias


class LeafKind(StrEnum):
    """The kinds of symbols, as MathML has them."""

    NAME = "mi"
    NUMBER = "mn"
    OPERATOR = "mo"
    WORDS = "mtext"


@dataclass(frozen=True)
class Leaf:
    """A symbol."""

    kind: LeafKind
    text: str


@dataclass(frozen=True)
class FormulaRow:
    """Parts beside each other."""

    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Scripts:
    """A part with an index, an exponent, or both; those of a sum stand below and above it."""

    base: Node
    below: Node | None = None
    above: Node | None = None
    limits: bool = False


@dataclass(frozen=True)
class Root:
    """A square root; its radicand keeps the parentheses that the text has."""

    radicand: Node


@dataclass(frozen=True)
class Fraction:
    """A number or a name over another, written without spaces."""

    top: Node
    bottom: Node


Node: TypeAlias = Leaf | FormulaRow | Scripts | Root | Fraction
