"""What numbers were judged under, in words."""

from __future__ import annotations

import pytest

from imlp_audit.records.check import Caught, Power
from imlp_audit.records.result import ColumnScore, FitScore, GroupScore, PaperHypothesis
from imlp_audit.report.hypotheses import describe_column, describe_group, group_of_column, paper_hypothesis
from imlp_audit.report.markdown import render_markdown

GROUP = GroupScore(
    name="1/flops", winner="macs", votes=9, scores={"fvcore": 2, "macs": 7}, chance=3, choice="clear"
)  # fmt: skip
POWER = Power(one=Caught(caught=13, tried=14), ten=Caught(caught=139, tried=140))
COLUMN = ColumnScore(group=GROUP, passing=7, by_chance="0.4", power=POWER)


def test_a_choice_names_the_best_option_and_the_scores_of_the_others() -> None:
    assert describe_group(GROUP) == "macs, which explains 7 of 9 (fvcore 2), a clear choice"
    alone = GroupScore(name="1/params", winner="all", votes=4, scores={"all": 4}, chance=1, choice="only")
    assert describe_group(alone) == "all, which explains 4 of 4"


def test_a_column_of_two_counters_names_both_and_what_settles_it() -> None:
    scores = {"scores": {"fvcore": 13, "macs": 15}, "votes": 28, "choice": "mixed", "rival": "fvcore"}
    assert describe_group(GROUP.model_copy(update={**scores, "alone": {"fvcore": 13}})) == (
        "macs, which explains 15 of 28 (fvcore 13), two counters in one column: fvcore explains 13 numbers that macs "
        "does not; `counted_by` in a row settles which of them made its number"
    )


def test_a_column_says_what_its_passes_are_worth() -> None:
    assert describe_column(COLUMN) == (
        "macs, which explains 7 of 9 (fvcore 2), a clear choice; 7 of its numbers pass, 0.4 would pass by chance; "
        "139 of 140 wrong numbers within ten last digits would not have passed, 13 of 14 one digit away"
    )


@pytest.mark.parametrize(
    ("passing", "said"),
    [(0, "0 of its numbers pass, "), (1, "1 of its numbers passes, "), (2, "2 of its numbers pass, ")],
)
def test_passes_are_counted_in_words_that_fit_any_number(passing: int, said: str) -> None:
    column = COLUMN.model_copy(update={"passing": passing, "by_chance": "1"})
    assert f"{said}1 would pass by chance" in describe_column(column)


def test_a_fitted_counter_says_what_the_search_would_explain_by_chance() -> None:
    fitted = COLUMN.model_copy(update={"fit": FitScore(explained=48, of=52, by_chance=16)})
    assert "the search explained 48 of 52 numbers, by chance it explains at most 16; " in describe_column(fitted)


def test_scores_of_readings_stand_in_the_order_of_json() -> None:
    group = GROUP.model_validate(GROUP.model_dump() | {"name": "imlp", "scores": {"macs": 7, "fvcore": 2}})
    paper = PaperHypothesis(rounding="half_up", explained=7, votes=9, readings=(group,), columns=(COLUMN,))
    assert render_markdown(tuple(paper_hypothesis(paper))).endswith(
        "- **readings of imlp**: macs, which explains 7 of 9 (fvcore 2), a clear choice; by chance at most 3\n"
    )


def test_a_column_is_found_by_its_name() -> None:
    paper = PaperHypothesis(rounding="half_up", explained=7, votes=9, readings=(), columns=(COLUMN,))
    assert group_of_column(paper, "1/flops") == COLUMN
    assert group_of_column(paper, "2/flops") is None
