from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from imlp_audit.count.call import Operation
from imlp_audit.count.conventions import FLOPS_CONVENTIONS, WeightKey
from imlp_audit.count.record import Ledger
from imlp_audit.errors import BuildError
from imlp_audit.numbers.printed import Rounding
from imlp_audit.solve.compose import compose, count_vector
from imlp_audit.solve.problem import SearchProblem
from imlp_audit.spec.load import load
from imlp_audit.spec.paper import RowRef

TABLE = """\
paper: {paper}
about:
  title: A title
  authors: An author
  version: v1
  readings: {readings}
tables:
  - table: "1"
    title: A table
    source: {{section: "1"}}
    columns:
      params: {{measure: parameters, unit: M, heading: Parameters (M)}}
      flops: {{measure: flops, unit: G, heading: FLOPs (G)}}
      top1: {{measure: score, unit: "%", heading: Top-1, needs: weights}}
    rows:
"""
ROW = "      - {{id: {id}, label: A row, {model}printed: {{{printed}}}}}\n"
AXES = {
    "agelu_parameters": "per_channel", "fc1_bias": "yes", "fc2_bias": "yes", "concat_norm": "none",
    "output_norm": "none", "depthwise_bias": "yes", "depthwise_norm": "batch", "depthwise_activation": "gelu",
    "depthwise_skip": "no", "class_token": "kept",
}  # fmt: skip
RESMLP = "model: {resmlp: {layers: 2, width: 24}}, "


def reading(**values: str) -> str:
    return "{" + ", ".join(f"{axis}: {{value: {value}, because: so}}" for axis, value in values.items()) + "}"


def written(folder: Path, readings: str, *rows: tuple[str, str]) -> list[RowRef]:
    """Write a paper of one table, and read its rows; each is given by its model and what it prints."""
    folder.mkdir()
    lines = [ROW.format(id=f"r{i}", model=model, printed=printed) for i, (model, printed) in enumerate(rows)]
    text = TABLE.format(paper=folder.name, readings=readings) + "".join(lines)
    (folder / "paper.yaml").write_text(text, encoding="utf-8")
    return [row for paper in load([str(folder)]).papers for row in paper.rows]


def of_tables(paper: str, tables: str) -> list[RowRef]:
    return [row for found in load([paper]).papers for row in found.rows if row.table.value.table in tables]


@pytest.fixture(scope="module")
def problem() -> SearchProblem:
    posed, refused = compose(of_tables("imlp", "2"))
    assert not refused
    return posed


def test_rows_and_cells_are_those_of_the_table_in_order(problem: SearchProblem) -> None:
    names = ["deit_ti", "channel", "channel_kd", "spatial", "channel_spatial"]
    assert [row.id for row in problem.rows] == [f"imlp/2/{name}" for name in names]
    assert [row.group for row in problem.rows] == ["", "imlp", "imlp", "imlp", "imlp"]
    assert [cell.id for cell in problem.cells] == [
        f"imlp/2/{name}/{column}" for name in names for column in ("params", "flops")
    ]
    assert [cell.kind for cell in problem.cells] == ["parameters", "flops"] * 5
    assert [cell.row for cell in problem.cells] == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]


def test_a_row_has_one_value_for_each_reading_of_its_group(problem: SearchProblem) -> None:
    sizes = {"imlp": 2304, "": 1}
    assert {group: len(space.axes) for group, space in problem.spaces.items()} == {"imlp": 10}
    for row in problem.rows:
        assert row.work.shape == (sizes[row.group], len(problem.classes))
        assert set(row.parameters) == {"all", "no_head", "with_buffers"}
        assert {values.shape for values in row.parameters.values()} == {(sizes[row.group],)}
        assert {row.work.dtype, *(values.dtype for values in row.parameters.values())} == {np.dtype(np.int64)}


def test_classes_are_those_in_which_some_work_is_done(problem: SearchProblem) -> None:
    assert Operation.UNKNOWN not in problem.classes
    assert list(problem.classes) == [operation for operation in Operation if operation in problem.classes]
    assert all(any(row.work[:, i].any() for row in problem.rows) for i in range(len(problem.classes)))


def test_named_readings_give_the_counts_that_are_known_of_them(problem: SearchProblem) -> None:
    row = problem.rows[-1]
    counts = {name: int(row.parameters["all"][at["imlp"]]) for name, at in problem.named.items()}
    assert counts == {"as_written": 4_975_528, "released": 4_998_184}
    # 196 tokens, without a class token; per block 2 x 192 x 384 and twice that, 9 taps and the rest as in the baseline
    channels, tokens = 192, 196
    block = tokens * (4 * channels**2 + 2 * tokens * channels + 6 * channels**2 + 9 * 4 * channels)
    patches, head = tokens * channels * 3 * 16**2, channels * 1000
    assert row.totals["macs"][problem.named["released"]["imlp"]] == 12 * block + patches + head


def test_a_cell_is_the_integers_that_print_so(problem: SearchProblem) -> None:
    params, flops = problem.cells[:2]  # 5.72 M and 1.26 G
    assert (params.step, flops.step) == (Fraction(10**4), Fraction(10**7))
    assert params.ranges == {
        Rounding.HALF_UP: (5_715_000, 5_724_999),
        Rounding.HALF_EVEN: (5_715_000, 5_725_000),
        Rounding.TRUNCATION: (5_720_000, 5_729_999),
        Rounding.CEILING: (5_710_001, 5_720_000),
        Rounding.DOUBLE: (5_714_500, 5_724_499),
    }
    assert flops.ranges[Rounding.HALF_UP] == (1_255_000_000, 1_264_999_999)


def test_axes_and_values_have_the_names_that_specs_use(problem: SearchProblem) -> None:
    axes = dict(problem.spaces["imlp"].axes)
    assert list(axes) == list(AXES)
    assert (axes["concat_norm"], axes["class_token"]) == (("none", "layer", "batch"), ("kept", "removed"))


def test_totals_are_those_of_the_named_conventions_and_of_the_papers_own(problem: SearchProblem) -> None:
    for row in problem.rows:
        assert {*FLOPS_CONVENTIONS, "thop_fitted"} - {"ptflops"} <= set(row.totals)
        for name, convention in FLOPS_CONVENTIONS.items():
            if name == "ptflops" or any(key.site is not None for key in convention.weights):
                continue  # no class of the rows' work; the rows' work is of the whole model
            weights = [convention.weights.get(WeightKey(Operation(operation)), 0) for operation in problem.classes]
            np.testing.assert_array_equal(row.totals[name], row.work @ np.array(weights))


def test_a_convention_may_weigh_a_site_apart(tmp_path: Path) -> None:
    readings = "{}\n  conventions: {headless: {linear: 1, conv: 1, product: 1, linear@head: 0}}"
    rows = written(tmp_path / "paper", readings, ("model: {timm: deit_tiny_patch16_224}, ", "flops: 1.26"))
    totals = compose(rows)[0].rows[0].totals
    assert totals["macs"] - totals["headless"] == [192_000]


def test_rows_that_pose_no_problem_are_refused_with_the_reason(tmp_path: Path) -> None:
    rows = written(
        tmp_path / "paper",
        "{as_written: " + reading(**AXES) + "}",
        ("", "params: 1.0"),
        ("model: {timm: deit_tiny_patch16_224}, ", "top1: 72.2"),
        ("model: {timm: deit_tinny}, ", "params: 1.0"),
        ("model: {timm: swin_tiny_patch4_window7_224, mlp: {imlp: {kernel: 9}}}, ", "params: 1.0"),
        ("model: {timm: deit_tiny_distilled_patch16_224, mlp: {imlp: {kernel: 3}}}, ", "params: 1.0"),
        ("model: {timm: deit_tiny_patch16_224}, ", "params: 5.7, flops: 1.3"),
    )
    problem, refused = compose(rows)
    assert [row.id for row in problem.rows] == ["paper/1/r5"]
    assert [cell.row for cell in problem.cells] == [0, 0]
    assert (problem.spaces, problem.named) == ({}, {})
    reasons = {row.removeprefix("paper/1/"): reason for row, reason in refused.items()}
    assert reasons["r0"] == "the row has no model"
    assert reasons["r1"] == "the row prints no parameters and no FLOPs"
    assert reasons["r2"].startswith("timm has no model 'deit_tinny'")
    assert reasons["r3"].startswith("kernel: 9 is larger than the grid of 7 x 7")
    assert reasons["r4"].startswith("deit_tiny_distilled_patch16_224 could not be built or counted: AssertionError")


def test_work_of_no_known_class_bars_a_model() -> None:
    with pytest.raises(BuildError, match="no formula counts aten::fft, aten::sort"):
        count_vector({}, Ledger({}, {"aten::sort": 1, "aten::fft": 2}))


def test_no_search_asks_for_what_does_not_add_up(problem: SearchProblem) -> None:
    """ptflops counts a bias by how the tokens lie in memory, which the layers around a block decide."""
    assert Operation.BIAS_APART not in problem.classes
    assert {"ptflops" in row.totals for row in problem.rows if row.group == "imlp"} == {False}
    assert all("ptflops_hooks" in row.totals for row in problem.rows)
