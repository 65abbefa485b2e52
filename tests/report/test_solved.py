"""An answer in words, for a terminal and in a report."""

from __future__ import annotations

from typing import Any

from imlp_audit.records.solution import Answered, Solved, SolvedAxis, SolvedCell, SolvedFirst, SolvedHeld, SolvedWeights
from imlp_audit.report.solved import as_markdown, as_text

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
        "score": 3,
        "of": 5,
        "solutions": 1234,
        "exhaustive": True,
        "bound": 3,
        "readings": {"imlp": 7},
        "reading": "one of 7",
        "counter": "not determined",
        "named": ("released",),
        "first": FIRST,
        "axes": AXES,
    }
    return Answered(**{**plain, **changes})


def solved(*answers: Answered, **changes: object) -> Solved:
    plain: dict[str, Any] = {"selection": ("tiny/1",), "left_out": {}, "order": "the nearest first."}
    return Solved(**{**plain, **changes}, answers=answers or (answered(),))


def test_the_state_of_an_axis() -> None:
    assert [axis.state for axis in AXES] == ["pinned", "narrowed", "free"]


def test_scores_and_named_readings_are_told() -> None:
    text = as_text(solved(answered("parameters", counter=None), answered()))
    assert "tiny/1" in text.split("\n\n")[0]
    told = "3 of 5 numbers explained, by 1,234 solutions (7 of the imlp readings); among them released\n"
    assert f"- parameters: {told}- both: {told}" in text
    assert "NOT exhaustive" not in text
    assert "no named reading" in as_text(solved(answered(named=())))
    assert text.endswith("Order: the nearest first.\n")


def test_how_sure_it_is_is_told_in_words() -> None:
    text = as_text(solved(answered(conventions={"macs": 2, "fvcore": 1}, families=(("lvt",), ("deit", "swin")))))
    assert "The reading is not identified: one of 7 that are equally good.\n" in text
    assert "The counter of FLOPs is not determined.\n" in text
    assert "By named counters the best scores are: macs 2, fvcore 1 of 5.\n" in text
    assert "If lvt had a reading of its own, more would be explained.\n" in text
    assert "If deit and swin had a reading of their own, more would be explained.\n" in text
    assert "The reading is identified.\n" in as_text(solved(answered(reading="identified")))


def test_without_flops_nothing_is_said_of_a_counter() -> None:
    first = FIRST.model_copy(update={"weights": {}, "flops_rounding": None})
    text = as_text(solved(answered("parameters", counter=None, first=first)))
    assert "counter of FLOPs" not in text
    assert "FLOPs:" not in text


def test_the_first_solution_is_written_out() -> None:
    text = as_text(solved())
    assert "- imlp (1 axis from `released`): fc1_bias yes, concat_norm layer\n" in text
    assert "- parameters: all, rounded half_up\n- FLOPs: linear 1, pool 5, rounded half_up\n" in text


def test_an_axis_has_what_each_search_leaves_of_it_and_what_is_named() -> None:
    free = AXES[0].model_copy(update={"values": ("yes", "no")})
    lines = as_text(solved(answered("parameters", axes=(free, *AXES[1:])), answered())).splitlines()
    table = [line.split("  ") for line in lines if line.startswith(("  question", "  fc1_bias", "  skip"))]
    assert [[cell.strip() for cell in line if cell] for line in table] == [
        ["question", "parameters", "both", "released"],
        ["fc1_bias", "any", "yes", "pinned", "yes"],
        ["skip", "any", "any", "free", "no"],
    ]
    assert any("none, layer" in line and "narrowed" in line for line in lines)


def test_weights_and_their_ranges() -> None:
    weights = (
        SolvedWeights(classes=("linear",), factors=(1,), values=(1,), low=0.998, high=1.001),
        SolvedWeights(classes=("group_norm", "pool"), factors=(2, 1), values=(4, 5), low=0, high=None),
    )
    text = as_text(solved(answered(weights=weights)))
    assert "  linear               1                      0.998 to 1.001\n" in text
    assert "  2 group_norm + pool  4, 5                   0 to no limit\n" in text


def test_contradicted_cells_have_their_gap() -> None:
    cells = (SolvedCell(id="tiny/1/a/params", value=4970560, gap="-0.39"), SolvedCell(id="b", value=None, gap=None))
    text = as_text(solved(answered(contradicted=cells)))
    assert "  tiny/1/a/params  4 970 560  -0.39\n  b\n" in text


def test_the_null_and_what_was_held_out_stand_beside_the_answer() -> None:
    held = (
        SolvedHeld(name="family deit", of=4, chosen=3, mean="2.5"),
        SolvedHeld(name="half 1", of=2, chosen=1, mean=None),
    )
    text = as_text(solved(answered(null=((1, 1), (0, 2)), held=held)))
    assert "The same search on 2 tables with shifted digits explains at most 2 of 5, here 3.\n" in text
    assert [line.split()[-3:] for line in text.splitlines() if line.startswith("  family deit")] == [["4", "3", "2.5"]]


def test_an_answer_cut_short_says_so() -> None:
    text = as_text(solved(answered(exhaustive=False, bound=5)))
    assert "; NOT exhaustive: the budget ended the search, at most 5 are possible\n" in text


def test_what_was_left_out_is_named() -> None:
    text = as_text(solved(left_out={"tiny/1/b/flops": "counted by thop"}))
    assert "Left out:\n- tiny/1/b/flops: counted by thop\n" in text


def test_markdown_is_a_section_with_the_same_tables() -> None:
    lines = list(as_markdown(solved(left_out={"x": "why"}), "figures/f.png"))
    assert lines[:4] == [
        "",
        "## What the numbers say the model was",
        "",
        "![How many readings explain how many sizes](figures/f.png)",
    ]
    assert "| question | both |  | released |" in lines
    assert "| --- | --- | --- | --- |" in lines
    assert "| fc1_bias | yes | pinned | yes |" in lines
    assert not any("![" in line for line in as_markdown(solved(), None))


def test_it_is_the_same_after_json() -> None:
    one = solved(answered(null=((1, 2),)))
    assert Solved.model_validate_json(one.model_dump_json(exclude_none=True)) == one
