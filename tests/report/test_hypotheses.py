"""What numbers were judged under, in words."""

from __future__ import annotations

import pytest

from imlp_audit.records.check import Caught, Power
from imlp_audit.records.result import ColumnScore, FitScore, GroupScore, PaperHypothesis
from imlp_audit.report.document import Table, plain_text
from imlp_audit.report.judging import describe_column, describe_group, group_of_column, paper_hypothesis, write_chance

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


def test_luck_of_a_fitted_counter_is_what_its_search_explains_by_chance() -> None:
    fit = FitScore(explained=9, of=9, by_chance=6)
    assert (write_chance(GROUP, None), write_chance(GROUP, fit)) == ("3", "6")
    assert write_chance(GROUP, fit.model_copy(update={"of": 52})) == "6 of 52"


def test_scores_stand_in_the_order_of_json_and_columns_without_votes_have_no_row() -> None:
    group = GROUP.model_validate(GROUP.model_dump() | {"scores": {"macs": 7, "fvcore": 2}})
    none = COLUMN.model_copy(update={"group": GROUP.model_copy(update={"name": "2/flops", "votes": 0})})
    columns = (COLUMN.model_copy(update={"group": group}), none)
    paper = PaperHypothesis(rounding="half_up", explained=7, votes=9, readings=(), columns=columns)
    (table,) = [block for block in paper_hypothesis(paper) if isinstance(block, Table)]
    assert [[plain_text(cell) for cell in row] for row in table.rows] == [
        ["column 1/flops", "macs", "clear", "fvcore 2, macs 7", "9", "3"]
    ]


def test_a_column_is_found_by_its_name() -> None:
    paper = PaperHypothesis(rounding="half_up", explained=7, votes=9, readings=(), columns=(COLUMN,))
    assert group_of_column(paper, "1/flops") == COLUMN
    assert group_of_column(paper, "2/flops") is None
