"""What the printed numbers of the bundled papers say, as far as a formula or the paper's own words say it too."""

from __future__ import annotations

from pathlib import Path

import pytest

from imlp_audit.count.conventions import FLOPS_CONVENTIONS
from imlp_audit.errors import SolverError, UsageError
from imlp_audit.records.solution import Answered, Solved
from imlp_audit.solve.selection import default_targets, solve_selection
from imlp_audit.spec.load import Selection, load
from tests.explain.papers import DEIT, paper, row
from tests.measured import STORE

COURSEWORK = "mixer_gmlp_coursework"
IMLP_ROWS = ("imlp/1/deit_*", "imlp/1/swin_*", "imlp/1/poolformer_*")


@pytest.fixture(scope="module")
def papers() -> Selection:
    return load(["imlp", COURSEWORK])


def search(papers: Selection, *targets: str) -> Solved:
    return solve_selection(papers, targets, lambda _: None, STORE)


def values(answer: Answered) -> dict[str, tuple[str, ...]]:
    return {axis.axis: axis.values for axis in answer.axes}


@pytest.fixture(scope="module")
def table1(papers: Selection) -> Solved:
    return search(papers, *IMLP_ROWS)


@pytest.mark.slow
def test_all_of_table_1_but_lvt_is_explained_jointly(table1: Solved) -> None:
    assert [(one.what, one.score, one.of) for one in table1.answers] == [
        ("parameters", 22, 22),
        ("flops", 22, 22),
        ("both", 44, 44),
    ]
    for one in table1.answers:
        assert (one.named, one.contradicted, one.exhaustive) == (("released",), (), True)
    assert table1.left_out == {}


@pytest.mark.slow
def test_the_released_block_comes_first_and_the_text_alone_is_out(table1: Solved) -> None:
    first = table1.last.first
    assert (first.nearest, first.apart, first.parameters, first.parameter_rounding) == ("released", 0, "all", "half_up")
    for one in table1.answers:
        assert "as_written" not in one.named
    pinned = {axis.axis: axis.values[0] for axis in table1.last.axes if table1.last.state_of(axis) == "pinned"}
    assert pinned == {
        "fc1_bias": "yes",
        "fc2_bias": "yes",
        "output_norm": "layer",
        "depthwise_bias": "yes",
        "class_token": "removed",
    }


@pytest.mark.slow
def test_a_counter_that_explains_all_is_not_thereby_identified(table1: Solved) -> None:
    both = table1.last
    assert both.reading == "not determined"
    assert both.counters is not None
    assert both.counters > 1
    weights = {one.classes: one for one in both.weights}
    assert weights[("linear",)].values == weights[("conv",)].values == (1,)
    assert weights[("elementwise",)].values == weights[("bias",)].values == (0,)


@pytest.mark.slow
def test_what_is_counted_in_other_classes_is_not_weighed(table1: Solved) -> None:
    weighed = {name for one in table1.last.weights for name in one.classes}
    assert weighed.isdisjoint({"in_layers", "in_classifier", "fvcore_excess"})
    assert set(table1.last.first.weights) <= weighed


@pytest.mark.slow
def test_no_named_counter_explains_as_much_as_the_search(table1: Solved) -> None:
    """But the one that the spec has from the search: its weights are among the best."""
    named = dict(table1.last.conventions)
    assert named.pop("fitted") == table1.last.score
    assert set(named) == {*FLOPS_CONVENTIONS, "thop_fitted", "mmcv_products"} - {"ptflops"}
    assert max(named.values()) < 44


@pytest.mark.slow
def test_shifted_tables_are_explained_far_less(table1: Solved) -> None:
    assert len(table1.last.null) == 10
    assert all(0 <= least <= most < 22 for least, most in table1.last.null)


@pytest.mark.slow
def test_lvt_prints_more_than_any_reading_gives(papers: Selection) -> None:
    solved = search(papers, "imlp/1/*/params")
    assert (solved.last.score, solved.last.of, solved.last.named) == (26, 30, ("released",))
    assert [one.id for one in solved.last.contradicted] == [f"imlp/1/lvt_r{n}_imlp/params" for n in range(1, 5)]
    assert solved.left_out["imlp/1/lvt_r1/flops"] == "counted by thop_fitted"


@pytest.mark.slow
@pytest.mark.parametrize(("table", "cells"), [("2", 5), ("5", 4)])
def test_all_sizes_of_the_ablations_are_explained_and_released_is_among_the_readings(
    papers: Selection, table: str, cells: int
) -> None:
    answer = search(papers, f"imlp/{table}/*/params").last
    assert (answer.score, answer.of, answer.named) == (cells, cells, ("released",))
    assert answer.counters is None


def test_the_printed_gmlp_sizes_need_toeplitz_matrices(papers: Selection) -> None:
    answer = search(papers, f"{COURSEWORK}/7/gmlp_*").last
    assert (answer.score, answer.of) == (4, 4)
    found = values(answer)
    assert found["ffn_width"] == ("3072",)
    assert found["spatial_matrix"] == ("toeplitz",)
    assert "as_published" in answer.named
    assert "as_written" not in answer.named


@pytest.mark.slow
def test_the_split_row_contradicts_the_others_at_the_width_the_text_gives(papers: Selection) -> None:
    """36 layers of D_C = 3072, as stated: without a split their FC layers alone have 36 * 2 * 512 * 3072 weights."""
    stated = search(papers, f"{COURSEWORK}/6").last
    assert stated.score == 1
    assert [one.id.split("/")[2] for one in stated.contradicted] == ["linear", "sum", "product"]
    for cell in stated.contradicted:
        assert cell.value is not None
        assert cell.value > 36 * 2 * 512 * 3072


@pytest.mark.slow
def test_mixer_sizes_are_without_the_head(papers: Selection) -> None:
    answer = search(papers, f"{COURSEWORK}/1").last
    assert (answer.score, answer.of, answer.contradicted) == (6, 6, ())
    assert answer.first.parameter_rounding == "half_up"  # the rows state their convention, as their source does
    assert answer.axes == ()


def test_the_course_works_own_86_m_are_explained_by_nothing(papers: Selection) -> None:
    contradicted = {one.id: one.gap for one in search(papers, f"{COURSEWORK}/5/our_*").last.contradicted}
    assert set(contradicted) == {f"{COURSEWORK}/5/our_mixer/params", f"{COURSEWORK}/5/our_gmlp/params"}
    for gap in contradicted.values():
        assert gap is not None
        assert float(gap) < -10


@pytest.mark.slow
def test_equal_searches_give_equal_bytes(papers: Selection) -> None:
    targets = ["imlp/5/*/params"]
    runs = (solve_selection(papers, targets, lambda _: None) for _ in range(2))
    first, second = (solved.model_dump_json() for solved in runs)
    assert first == second
    assert Solved.model_validate_json(first).model_dump_json() == first


@pytest.mark.parametrize(
    ("deit", "resnet", "named", "scores", "missed"),
    [
        ("1.254", "1.814", "macs", (2, 2), []),
        ("1.270", "1.814", "macs", (1, 2), ["small/1/deit/flops"]),
        ("1.270", "1.830", None, (2, None), []),
    ],
)
def test_a_named_counter_wins_over_weights_that_explain_one_number_more(
    tmp_path: Path, deit: str, resnet: str, named: str | None, scores: tuple[int, int | None], missed: list[str]
) -> None:
    """Multiply-accumulates are 1.2537 G and 1.8141 G; biases and batch norms, weighed, make up the other two."""
    rows = (
        row("deit", "DeiT", DEIT, f"flops: {deit}"),
        row("resnet", "ResNet", "{timm: resnet18}", f"flops: {resnet}"),
    )
    answer = solve_selection(paper(tmp_path, *rows), ["small"], lambda _: None).last
    assert (answer.named_counter, (answer.score, answer.by_weights)) == (named, scores)
    assert [one.id for one in answer.contradicted] == missed
    weights = {str(key): weight for key, weight in FLOPS_CONVENTIONS["macs"].weights.items()}
    assert (answer.first.weights == weights) == (named is not None)
    assert answer.conventions["macs"] == (scores[0] if named else 0)


def test_an_empty_selection_says_what_to_give(papers: Selection) -> None:
    with pytest.raises(UsageError, match="no printed number matches imlp/99; give a paper, paper/table or a glob"):
        search(papers, "imlp/99")


def test_a_table_with_nothing_measurable_says_why(papers: Selection) -> None:
    with pytest.raises(SolverError, match=r"nothing to solve: .*halonet: the row has no model"):
        search(papers, f"{COURSEWORK}/2")


def test_papers_that_leave_something_open_are_solved_for_their_reports(papers: Selection) -> None:
    assert {paper.id: default_targets(paper) for paper in papers.papers} == {
        "imlp": ("imlp",),
        COURSEWORK: (COURSEWORK,),
    }
    assert [default_targets(paper) for paper in load(["mlp_mixer_notes"]).papers] == [()]
