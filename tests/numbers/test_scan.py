"""Numbers in running text."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imlp_audit.numbers.parsing import find_numbers, keys_of


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("from 5.72 to 5.00 (-12.6%)", ["5.72", "5.00", "-12.6"]),
        ("−12.6% and –0.5", ["-12.6", "-0.5"]),
        ("by 15-20%", ["15", "20"]),
        ("50,000 images, 1,2 and 3", ["50000", "1", "2", "3"]),
        ("72.2±0.1", ["72.2", "0.1"]),
        ("p < .05", ["0.05"]),
        ("weight decay 0.20.2.", ["0.20.2"]),
        ("$6 \\cdot 10^{-6}$", ["6", "10", "-6"]),
        ("16×16, 16x16", ["16", "16", "16", "16"]),
        ("Table 1. Рис.2", ["1", "2"]),
        ("x² and ₅₀", []),
        ("", []),
    ],
)
def test_the_numbers_of_a_text(text: str, keys: list[str]) -> None:
    assert keys_of(text) == keys


def test_a_fraction_without_a_whole_part_has_a_decimal_point() -> None:
    assert [found.text for found in find_numbers("p < .05, 1.5")] == [".05", "1.5"]


@given(
    st.decimals(-(10**9), 10**9, allow_nan=False, places=3), st.sampled_from(["{}", "a {} b", "({})", "\t{}\t", "{},"])
)
def test_a_number_is_found_as_it_is_printed(number: object, around: str) -> None:
    text = around.format(number)
    (found,) = find_numbers(text)
    assert found.key == str(number)
    assert text[found.start : found.end] == str(number).lstrip("-")


@given(st.text(max_size=60))
def test_every_digit_belongs_to_one_number(text: str) -> None:
    covered = [at for found in find_numbers(text) for at in range(found.start, found.end)]
    assert len(covered) == len(set(covered))
    assert {one.start() for one in re.finditer("[0-9]", text)} <= set(covered)
