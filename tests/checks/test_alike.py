"""Rows of a paper that have one model and one training are held together by their scores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from imlp_audit.records.check import Verdict
from tests.checks.papers import Count, Spec, checked

TOP1 = "accuracy: {measure: score, unit: '%', metric: top1, data: imagenet-1k, heading: Top-1, needs: weights}"
TOP5 = TOP1.replace("accuracy", "five").replace("top1", "top5")
UNSAID = "accuracy: {measure: score, unit: '%', heading: Score, needs: weights}"
SPEED = "speed: {measure: throughput, unit: im/s, heading: Speed, needs: a GPU}"
MODEL = "{timm: host}"
HOST = {"host": Count(5_000_000, 1_000_000), "other": Count(5_000_000, 1_000_000)}


def row(name: str, printed: str, model: str = MODEL, more: str = "") -> str:
    return f"{{id: {name}, label: Row, model: {model}, {more}printed: {{{printed}}}}}"


def repeats(root: Path, *rows: str, second: tuple[str, ...] = (), column: str = TOP1) -> dict[str, Any]:
    checks = checked(root, HOST, Spec(rows, more_rows=second, columns=(column,)))
    return {name: check for name, check in checks.items() if "/repeats/" in name}


def test_one_model_with_two_scores_contradicts_itself(tmp_path: Path) -> None:
    found = repeats(tmp_path, row("a", "accuracy: 72.2"), second=(row("b", "accuracy: 72.6"),))
    (check,) = found.values()
    assert (check.id, check.verdict, check.repeats) == (
        "p/repeats/2/b/accuracy",
        Verdict.INCONSISTENT,
        "p/1/a/accuracy",
    )
    assert check.reason == (
        "p/1/a/accuracy prints 72.2, here it is 72.6; they are of one model, no row says it was trained differently, "
        "and both are score (metric top1, data imagenet-1k)"
    )
    assert check.hint_texts == ("if its model was trained differently, say how: `training` of the row",)


def test_a_row_without_a_model_between_them_changes_nothing(tmp_path: Path) -> None:
    between = "{id: c, label: C, printed: {accuracy: 72.6}}"
    found = repeats(tmp_path, row("a", "accuracy: 72.2"), between, row("b", "accuracy: 72.6"))
    assert {name: check.repeats for name, check in found.items()} == {"p/repeats/1/b/accuracy": "p/1/a/accuracy"}


def test_the_same_score_at_fewer_digits_is_reproduced(tmp_path: Path) -> None:
    (check,) = repeats(tmp_path, row("a", "accuracy: 72.24"), row("b", "accuracy: 72.2")).values()
    assert (check.verdict, check.hint_texts) == (Verdict.REPRODUCED, ())


@pytest.mark.parametrize(
    ("second", "column"),
    [
        (row("b", "accuracy: 72.6", more="training: distillation, "), TOP1),
        (row("b", "accuracy: 72.6", model="{timm: other}"), TOP1),
        (row("b", "accuracy: 72.6", model="{timm: host, image: 384}"), TOP1),
        ("{id: b, label: B, printed: {accuracy: 72.6}}", TOP1),  # without a model nothing says that it is the same
        (row("b", "accuracy: 72.6"), UNSAID),  # a score of what is not known
        (row("b", "speed: 940"), SPEED),
        (row("b", "params: 4.00, flops: 2.00"), TOP1),  # sizes are held against the model itself
    ],
)
def test_what_says_or_may_be_different_is_not_held_together(tmp_path: Path, second: str, column: str) -> None:
    first = row("a", "params: 5.00, flops: 1.00, " + ("speed: 950" if column == SPEED else "accuracy: 72.2"))
    assert repeats(tmp_path, first, second, column=column) == {}


def test_rows_of_the_same_other_training_are_held_together(tmp_path: Path) -> None:
    distilled = "training: distillation, "
    rows = (row("a", "accuracy: 72.2"), row("b", "accuracy: 74.0", more=distilled),
            row("c", "accuracy: 74.1", more=distilled), row("d", "accuracy: 72.2"))  # fmt: skip
    assert {name: (check.verdict, check.repeats) for name, check in repeats(tmp_path, *rows).items()} == {
        "p/repeats/1/c/accuracy": (Verdict.INCONSISTENT, "p/1/b/accuracy"),
        "p/repeats/1/d/accuracy": (Verdict.REPRODUCED, "p/1/a/accuracy"),
    }


@pytest.mark.parametrize("backwards", [False, True])
def test_a_repeat_that_a_row_states_is_checked_once(tmp_path: Path, backwards: bool) -> None:
    """Its own check has no hint about training: the row says that the numbers are the same."""
    states = [("", "repeats: p/1/a, "), ("repeats: p/1/b, ", "")][backwards]
    rows = (row(name, f"accuracy: 7{2 + (name == 'b')}.2", more=more) for name, more in zip("ab", states, strict=True))
    (check,) = repeats(tmp_path, *rows).values()
    assert (check.id, check.verdict) == (f"p/repeats/1/{'a' if backwards else 'b'}/accuracy", Verdict.INCONSISTENT)
    assert check.hint_texts == ()


def test_what_a_stated_repeat_does_not_print_is_held_against_other_rows(tmp_path: Path) -> None:
    """`c` repeats `a`, which has no top-5; `b` has one."""
    spec = Spec(
        (row("a", "accuracy: 72.2"), row("b", "accuracy: 72.2, five: 91.0"),
         row("c", "accuracy: 72.2, five: 91.1", more="repeats: p/1/a, ")),
        columns=(TOP1, TOP5),
    )  # fmt: skip
    found = {name: check for name, check in checked(tmp_path, HOST, spec).items() if "/repeats/" in name}
    assert {name: (check.verdict, check.repeats) for name, check in found.items()} == {
        "p/repeats/1/b/accuracy": (Verdict.REPRODUCED, "p/1/a/accuracy"),
        "p/repeats/1/c/accuracy": (Verdict.REPRODUCED, "p/1/a/accuracy"),
        "p/repeats/1/c/five": (Verdict.INCONSISTENT, "p/1/b/five"),
    }
