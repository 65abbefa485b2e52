"""Proving a claim: it is judged on symbols in place of numbers, for every size that its examples have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import TypeVar

from imlp_audit.equations.choices import count_through
from imlp_audit.equations.claim import Claim
from imlp_audit.equations.draw import Strategy
from imlp_audit.equations.search import write_shown
from imlp_audit.equations.symbols import SymbolChoices, SymbolicArithmetic
from imlp_audit.numbers.words import plural

Case = TypeVar("Case")
_MOST = 200


class RefutedError(Exception):
    """The two sides of a claim are not the same expression."""


def prove(claim: Claim[Case]) -> str:
    """Judge a claim on symbols, for all sizes and kinds that its examples have; return for what it was judged.

    Raises RefutedError where the sides are not the same, and whatever a claim raises that cannot be judged on symbols.
    """
    proof = claim.proof
    if proof is None:
        raise ValueError("it has no proof")
    cases, judge = draw_all(proof.cases or claim.cases), proof.judge or claim.judge
    for case in cases:
        trial = judge(case, SymbolicArithmetic())
        if not trial.holds:
            raise RefutedError("; ".join(write_shown(trial.shown)))
    return f"{proof.covers}, for {write_sizes([proof.sizes(case) for case in cases])}"


def draw_all(strategy: Strategy[Case]) -> list[Case]:
    """Draw an example of each size and kind, on symbols."""
    cases, symbols = list[Case](), False

    def draw(choices: SymbolChoices) -> None:
        nonlocal symbols
        cases.append(strategy.draw(choices))
        symbols |= choices.symbols > 0

    for choices in count_through(draw, SymbolChoices):
        if choices is None or len(cases) > _MOST:
            raise ValueError(f"its examples have more than {_MOST} sizes and kinds, or not all are of numbers alone")
    if not symbols:
        raise ValueError("its examples hold no symbols")
    return cases


def write_sizes(cases: Sequence[Mapping[str, int | str]]) -> str:
    """Write which sizes there are: together where every size of one goes with every size of the others.

    Where they do not, each size of the first is written with the sizes of the others that go with it.
    """
    by_names: dict[tuple[str, ...], list[Mapping[str, int | str]]] = {}
    for sizes in cases:
        by_names.setdefault(tuple(sizes), []).append(sizes)
    return "; ".join(map(_write_of_same_names, by_names.values()))


def _write_of_same_names(cases: Sequence[Mapping[str, int | str]]) -> str:
    names, rows = list(cases[0]), {tuple(sizes.values()) for sizes in cases}
    columns = [sorted({row[place] for row in rows}) for place in range(len(names))]
    if len(rows) == prod(map(len, columns)):
        return _join([_write_values(name, column) for name, column in zip(names, columns, strict=True)])
    groups = [
        (first, [dict(zip(names[1:], row[1:], strict=True)) for row in rows if row[0] == first]) for first in columns[0]
    ]
    return "; ".join(f"{_write_values(names[0], [first])}, {_write_of_same_names(group)}" for first, group in groups)


def _write_values(name: str, values: Sequence[int | str]) -> str:
    """Write "C up to 3", "N of 2 and 3", "d = 1"; of a word, "1 and 4 patches"."""
    if name.islower() and len(name) > 1 and "_" not in name and isinstance(values[0], int):
        noun = name if values == [1] else plural(name)
        return f"{_up_to(values) or _join(values)} {noun}"
    if len(values) == 1:
        return f"{name} = {values[0]}"
    return f"{name} {_up_to(values) or f'of {_join(values)}'}"


def _up_to(values: Sequence[int | str]) -> str | None:
    return f"up to {values[-1]}" if len(values) > 1 and values == list(range(1, len(values) + 1)) else None


def _join(texts: Sequence[object]) -> str:
    *most, last = map(str, texts)
    return f"{', '.join(most)} and {last}" if most else last
