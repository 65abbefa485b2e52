"""Counts and lists in a sentence."""

from __future__ import annotations

import pytest

from imlp_audit.numbers.words import count_of, list_some


@pytest.mark.parametrize(
    ("number", "noun", "text"),
    [(0, "image", "0 images"), (1, "image", "1 image"), (50_000, "image", "50 000 images"), (2, "class", "2 classes")],
)
def test_a_number_comes_with_its_noun(number: int, noun: str, text: str) -> None:
    assert count_of(number, noun) == text


@pytest.mark.parametrize(
    ("names", "text"), [([], ""), (["a"], "a"), (["a", "b", "c"], "a, b, c"), (list("abcde"), "a, b, c and 2 more")]
)
def test_a_long_list_is_cut_short(names: list[str], text: str) -> None:
    assert list_some(names) == text
