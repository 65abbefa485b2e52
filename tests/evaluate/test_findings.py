"""Words for findings."""

from __future__ import annotations

import pytest

from imlp_audit.evaluate.doctor.problems import counted, some


@pytest.mark.parametrize(
    ("number", "noun", "told"),
    [(0, "image", "0 images"), (1, "image", "1 image"), (50_000, "image", "50 000 images"), (2, "class", "2 classes")],
)
def test_counted(number: int, noun: str, told: str) -> None:
    assert counted(number, noun) == told


@pytest.mark.parametrize(
    ("names", "told"), [([], ""), (["a"], "a"), (["a", "b", "c"], "a, b, c"), (list("abcde"), "a, b, c and 2 more")]
)
def test_some(names: list[str], told: str) -> None:
    assert some(names) == told
