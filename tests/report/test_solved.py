"""An answer in words, for a terminal and in a report."""

from __future__ import annotations

from typing import Any

import pytest

from imlp_audit.errors import UsageError
from imlp_audit.records.base import from_json, to_json
from imlp_audit.records.result import AuditResult
from imlp_audit.records.solution import Answered, Solved, SolvedAxis, SolvedCell, SolvedFirst, SolvedWeights
from imlp_audit.report.hypotheses import solved_document
from imlp_audit.report.markdown import render_markdown
from imlp_audit.report.terminal import Surface, render_terminal

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


RESTING = (AXES[0].model_copy(update={"rests_on": tuple(f"tiny/1/r{n}/params" for n in range(5))}), *AXES[1:])
NO_CELL = SolvedCell(id="b", value=None, gap=None)
CONTRADICTED = (SolvedCell(id="tiny/1/a/params", value=4970560, gap="-0.39"), NO_CELL)
WEIGHTS = (
    SolvedWeights(classes=("linear",), factors=(1,), values=(1,)),
    SolvedWeights(classes=("group_norm", "pool"), factors=(2, 1), values=(4, 5)),
)
AGREED = "The best solutions agree on "
WORDS: tuple[tuple[dict[str, object], tuple[str, ...]], ...] = (
    (
        {},
        (
            "both: 3 of 5 numbers explained by 1 234 solutions (7 imlp readings); `released` among them",
            "The reading is not identified: one of 7 that are equally good.",
            "There are 3 counters of FLOPs among the best solutions.",
            "- **imlp**: concat_norm layer, fc1_bias yes (1 axis from `released`)",
            "- **parameters**: all, rounded half_up\n- **FLOPs**: linear 1, pool 5, rounded half_up",
        ),
    ),
    ({"named": ()}, ("no named reading among them",)),
    ({"conventions": {"macs": 2, "fvcore": 1}}, ("The best scores with named counters, of 5: fvcore 1, macs 2.",)),
    ({"reading": "identified"}, ("The reading is identified.",)),
    (
        {"reading": "agreed", "counters": 1},
        (f"{AGREED}the reading, but 2 numbers are unexplained.", "The best solutions have one counter of FLOPs."),
    ),
    ({"reading": "agreed", "score": 4}, ("but 1 number is unexplained.",)),
    (
        {"reading": "agreed", "score": 5, "exhaustive": False, "bound": 5},
        ("but the search was not exhaustive.", "; NOT exhaustive: the budget ended the search, at most 5 possible"),
    ),
    (
        {"axes": RESTING, "score": 5},
        (
            f"{AGREED}these. With another value the first would not explain:",
            "fc1_bias yes**: tiny/1/r0/params, tiny/1/r1/params, tiny/1/r2/params and 2 more",
        ),
    ),
    ({"axes": RESTING}, (f"{AGREED}these, and 2 numbers are unexplained. With",)),
    ({"weights": WEIGHTS}, ("| linear | 1 |", "| 2 group_norm + pool | 4, 5 |")),
    (
        {"contradicted": CONTRADICTED},  # elsewhere a gap is measured from the printed number itself
        ("| cell | nearest | outside by |", "| `tiny/1/a/params` | 4 970 560 | -0.39 |", "| `b` |  |  |"),
    ),
    ({"null": ((1, 1), (0, 2))}, ("3 of 5 numbers here, and at most 2 in any of 2 copies with shifted digits.",)),
)


@pytest.mark.parametrize(("changes", "words"), WORDS)
def test_an_answer_in_words(changes: dict[str, object], words: tuple[str, ...]) -> None:
    one = solved(answered("parameters", counters=None), answered("both", **changes), left_out={"b": "counted by thop"})
    written = render_markdown(solved_document(one))
    assert [text for text in (*words, "numbers of `tiny/1`.", "- `b`: counted by thop") if text not in written] == []
    assert written.endswith("\nthe nearest first.\n")
    assert (f"{AGREED}these" in written) is ("axes" in changes)
    assert ("NOT exhaustive" in written) is ("exhaustive" in changes)


def test_an_axis_has_the_values_that_each_search_leaves_and_those_of_named_readings() -> None:
    free = AXES[0].model_copy(update={"values": ("yes", "no")})
    lines = as_markdown(solved(answered("parameters", axes=(free, *AXES[1:])), answered(score=5)))
    assert "| question | parameters | both |  | released |" in lines
    assert r"| fc1_bias | any | yes | pinned | yes |" in lines
    assert "| skip | any | any | free | no |" in lines
    assert any("none, layer" in line and "narrowed" in line for line in lines)


def test_it_is_the_same_after_json() -> None:
    one = solved(answered(null=((1, 2),)))
    assert from_json(Solved, to_json(one), "solved.json") == one
    with pytest.raises(UsageError, match="not a result of format imlp-audit/3, but of imlp-audit/solve/2"):
        from_json(AuditResult, to_json(one), "solved.json")
