"""An answer in words, for a terminal and in a report."""

from __future__ import annotations

from typing import Any

import pytest

from imlp_audit.errors import UsageError
from imlp_audit.records.document import from_json, to_json
from imlp_audit.records.result import AuditResult
from imlp_audit.records.solution import Answered, Solved, SolvedAxis, SolvedCell, SolvedFirst, SolvedWeights
from imlp_audit.report.judging import solved_document
from imlp_audit.report.markdown import render_markdown
from imlp_audit.report.terminal import render_terminal
from imlp_audit.report.text import Surface

FIRST = SolvedFirst(
    reading={"imlp": {"fc1_bias": "yes", "concat_norm": "layer"}},
    nearest="released",
    apart=1,
    parameters="all",
    parameter_rounding="half_up",
    flops_rounding="half_up",
    weights={"linear": 1, "pool": 5},
)
AXES = (
    SolvedAxis(family="imlp", axis="fc1_bias", values=("yes",), tried=("yes", "no"), named={"released": "yes"}),
    SolvedAxis(family="imlp", axis="concat_norm", values=("none", "layer"), tried=("none", "layer", "batch"), named={}),
    SolvedAxis(family="imlp", axis="skip", values=("yes", "no"), tried=("yes", "no"), named={"released": "no"}),
)


def answered(what: str = "both", **changes: object) -> Answered:
    plain: dict[str, Any] = {
        "what": what,
        "flops": (),
        "score": 3,
        "of": 5,
        "solutions": 1234,
        "exhaustive": True,
        "bound": 3,
        "readings": {"imlp": 7},
        "reading": "one of 7",
        "counters": 3,
        "named": ("released",),
        "first": FIRST,
        "axes": AXES,
    }
    return Answered(**{**plain, **changes})


def solved(*answers: Answered, **changes: object) -> Solved:
    plain: dict[str, Any] = {"selection": ("tiny/1",), "left_out": {}, "order": "the nearest first."}
    return Solved(**{**plain, **changes}, answers=answers or (answered(),))


def as_text(answer: Solved) -> str:
    return render_terminal(solved_document(answer), Surface(200))


def as_markdown(answer: Solved) -> list[str]:
    return render_markdown(solved_document(answer)).splitlines()


def test_the_state_of_an_axis() -> None:
    whole, cut = answered(score=5), answered(score=5, exhaustive=False)
    assert [whole.state_of(axis) for axis in AXES] == ["pinned", "narrowed", "free"]
    assert [answered().state_of(axis) for axis in AXES] == ["agreed", "narrowed", "free"]
    assert cut.state_of(AXES[0]) == "agreed"


def test_scores_come_with_the_named_readings_among_the_best() -> None:
    text = as_text(solved(answered("parameters", counters=None), answered()))
    assert "printed numbers of tiny/1." in " ".join(text.split("\n\n")[1].split())
    score = "3 of 5 numbers explained by 1 234 solutions (7 imlp readings); released among them\n"
    assert f"- parameters: {score}- both: {score}" in text
    assert "NOT exhaustive" not in text
    assert "no named reading among them" in as_text(solved(answered(named=())))
    assert text.endswith("\nthe nearest first.\n")


@pytest.mark.parametrize(
    ("flops", "both", "said"), [("truncation", 14, False), ("half_up", 18, False), ("half_up", 14, True)]
)
def test_numbers_that_follow_by_two_rounding_rules_name_the_option(flops: str, both: int, said: bool) -> None:
    sizes = answered(
        "parameters", score=9, first=SolvedFirst(reading={}, apart=0, weights={}, parameter_rounding="truncation")
    )
    work = answered("flops", score=9, first=SolvedFirst(reading={}, apart=0, weights={}, flops_rounding=flops))
    assert ("--by-column" in as_text(solved(sizes, work, answered(score=both)))) is said


def test_words_say_how_sure_the_answer_is() -> None:
    text = as_text(solved(answered(conventions={"macs": 2, "fvcore": 1})))
    assert "The reading is not identified: one of 7 that are equally good.\n" in text
    assert "There are 3 counters of FLOPs among the best solutions.\n" in text
    assert "The best scores with named counters, of 5: fvcore 1, macs 2.\n" in text
    assert "The reading is identified.\n" in as_text(solved(answered(reading="identified")))


def test_what_the_best_solutions_agree_on_comes_with_the_numbers_left_unexplained() -> None:
    text = as_text(solved(answered(reading="agreed", counters=1)))
    assert "The best solutions agree on the reading, but 2 numbers are unexplained.\n" in text
    assert "The best solutions have one counter of FLOPs.\n" in text
    assert "but 1 number is unexplained.\n" in as_text(solved(answered(score=4, reading="agreed")))
    cut = answered(score=5, exhaustive=False, reading="agreed")
    assert "agree on the reading, but the search was not exhaustive.\n" in as_text(solved(cut))


def test_decided_values_come_with_the_numbers_they_rest_on() -> None:
    cells = tuple(f"tiny/1/r{n}/params" for n in range(5))
    axes = (AXES[0].model_copy(update={"rests_on": cells}), *AXES[1:])
    text = as_text(solved(answered(axes=axes, score=5)))
    assert text.count("The best solutions agree on these. With another value the first would not explain:\n") == 1
    assert "\nfc1_bias yes  tiny/1/r0/params, tiny/1/r1/params, tiny/1/r2/params and 2 more\n" in text
    assert "agree on these, and 2 numbers are unexplained. With" in as_text(solved(answered(axes=axes)))
    assert "agree on these" not in as_text(solved())


def test_the_first_solution_is_written_out() -> None:
    text = as_text(solved())
    assert "imlp        concat_norm layer, fc1_bias yes (1 axis from released)\n" in text
    assert "parameters  all, rounded half_up\nFLOPs       linear 1, pool 5, rounded half_up\n" in text


def test_an_axis_has_the_values_that_each_search_leaves_and_those_of_named_readings() -> None:
    free = AXES[0].model_copy(update={"values": ("yes", "no")})
    lines = as_markdown(solved(answered("parameters", axes=(free, *AXES[1:])), answered(score=5)))
    assert "| question | parameters | both |  | released |" in lines
    assert r"| fc1_bias | any | yes | pinned | yes |" in lines
    assert "| skip | any | any | free | no |" in lines
    assert any("none, layer" in line and "narrowed" in line for line in lines)


def test_weights_of_classes_that_no_number_tells_apart() -> None:
    weights = (
        SolvedWeights(classes=("linear",), factors=(1,), values=(1,)),
        SolvedWeights(classes=("group_norm", "pool"), factors=(2, 1), values=(4, 5)),
    )
    lines = as_markdown(solved(answered(weights=weights)))
    assert "| linear | 1 |" in lines
    assert r"| 2 group_norm + pool | 4, 5 |" in lines


def test_contradicted_cells_have_their_gap() -> None:
    cells = (SolvedCell(id="tiny/1/a/params", value=4970560, gap="-0.39"), SolvedCell(id="b", value=None, gap=None))
    lines = as_markdown(solved(answered(contradicted=cells)))
    assert "| cell | nearest | outside by |" in lines  # elsewhere a gap is measured from the printed number itself
    assert "| `tiny/1/a/params` | 4 970 560 | -0.39 |" in lines
    assert "| `b` |  |  |" in lines


def test_controls_follow_the_score() -> None:
    copies = "The same search explains 3 of 5 numbers here, and at most 2 in any of 2 copies with shifted digits.\n"
    assert copies in as_text(solved(answered(null=((1, 1), (0, 2)))))


def test_an_answer_cut_short_says_so() -> None:
    text = as_text(solved(answered(exhaustive=False, bound=5)))
    assert "; NOT exhaustive: the budget ended the search, at most 5 possible\n" in text


def test_what_was_left_out_comes_with_the_reason() -> None:
    text = as_text(solved(left_out={"tiny/1/b/flops": "counted by thop"}))
    assert "Left out\n- tiny/1/b/flops: counted by thop\n" in text


def test_it_is_the_same_after_json() -> None:
    one = solved(answered(null=((1, 2),)))
    assert from_json(Solved, to_json(one), "solved.json") == one
    with pytest.raises(UsageError, match="not a result of format imlp-audit/3, but of imlp-audit/solve/2"):
        from_json(AuditResult, to_json(one), "solved.json")
