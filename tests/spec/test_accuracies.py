"""Columns that are called accuracies in percent and hold something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from imlp_audit.errors import SpecError
from tests.checks.papers import Spec, write

TOP1 = 'top: {measure: score, unit: "%", metric: top1, data: imagenet-1k, heading: Top-1, needs: weights}'


def load_numbers(root: Path, *numbers: str) -> None:
    rows = (f"{{id: r{at}, label: R{at}, printed: {{top: {text}}}}}" for at, text in enumerate(numbers))
    write(root, Spec(tuple(rows), columns=(TOP1,)))


def test_most_numbers_above_100_are_no_accuracies(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"no accuracy in %: 2 of its 3 numbers are above 100, such as 100\.1; check"):
        load_numbers(tmp_path, "99.0", "100.1", "940")


def test_what_is_no_number_is_a_problem_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        load_numbers(tmp_path, "abc", "72.2", "940")
    assert [problem.message.partition(";")[0] for problem in caught.value.problems] == ["'abc' is not a printed number"]


def test_100_percent_and_a_single_misprint_are(tmp_path: Path) -> None:
    load_numbers(tmp_path / "all", "100", "100.0")
    load_numbers(tmp_path / "one", "72.2", "722")
