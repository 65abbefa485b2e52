"""Examples are of plain numbers and of others, and of plain ones alone where that is asked for."""

from __future__ import annotations

import struct
from random import Random

from imlp_audit.equations.choices import random_choices
from imlp_audit.equations.draw import Strategy, tuples
from imlp_audit.equations.strategies import NUMBERS, WIDE, nonzero, numbers, plain, positive, vectors


def drawn(strategy: Strategy[tuple[float, ...]]) -> set[float]:
    random = Random(0)
    return {number for _ in range(400) for number in strategy.draw(random_choices(random))}


def test_numbers_are_plain_and_wide() -> None:
    assert drawn(vectors(3)) == {*NUMBERS, *WIDE}
    assert drawn(vectors(3, nonzero())) == {*NUMBERS, *WIDE} - {0.0}
    assert drawn(vectors(3, positive())) == {number for number in (*NUMBERS, *WIDE) if number > 0}


def test_plain_ones_are_plain_and_what_is_drawn_after_them_is_not() -> None:
    assert drawn(plain(vectors(3))) == {*NUMBERS}
    assert drawn(tuples(plain(numbers()), plain(nonzero()))) == {*NUMBERS}
    assert drawn(tuples(plain(numbers()), numbers())) == {*NUMBERS, *WIDE}


def test_every_type_holds_the_numbers_exactly() -> None:
    assert [struct.unpack("f", struct.pack("f", number))[0] for number in (*NUMBERS, *WIDE)] == [*NUMBERS, *WIDE]


def test_products_of_six_are_finite_in_single_precision() -> None:
    largest: float = struct.unpack("f", b"\xff\xff\x7f\x7f")[0]
    assert max(map(abs, WIDE)) ** 6 < largest
