"""Blocks of a user's own in the search: every reading's total is that of the model built directly."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from imlp_audit.count.build_and_count import measure_models
from imlp_audit.count.facts import Measured, ModelKey, Need
from imlp_audit.pipeline import Options, audit
from imlp_audit.records.check import Verdict
from imlp_audit.solve.compose import compose
from imlp_audit.solve.problem import SearchProblem
from imlp_audit.solve.search import solve
from imlp_audit.spec.load import load
from imlp_audit.spec.paper import RowRef

CODE = Path(__file__).parent.parent / "models" / "own_blocks.py"
HOST = "timm: {architecture: deit_tiny_patch16_224, arguments: {embed_dim: 24, depth: 2, num_heads: 2, patch_size: 32}}"
POOL = "timm: poolformer_s12"
TABLE = """\
paper: {paper}
about:
  title: A title
  authors: An author
  version: v1
  flops: [macs]
  readings:
    text: {{blocks: {{{block}: {stated}}}}}
    code: {{blocks: {{{block}: {code}}}}}
tables:
  - table: "1"
    title: A table
    source: {{section: "1"}}
    columns:
      params: {{measure: parameters, unit: "", heading: Parameters}}
      flops: {{measure: flops, unit: "", heading: MACs}}
    rows:
"""
ROW = """\
      - id: r{at}
        label: A
        model: {{{host}, mlp: {{python: {{file: own_blocks.py, name: {name}}}}}, image: 64}}
        printed: {{params: {params}, flops: {flops}}}
"""
GATED = {"gate_norm": ("none", "layer"), "bias": ("true", "false"), "branch": ("2", "3")}
LINKED = {"norm": ("none", "layer"), "inner": ("none", "double")}


def gated(width: int, places: int, gate_norm: str, bias: str, branch: str) -> tuple[int, int]:
    """Parameters and multiply-accumulates of a GatedMlp."""
    hidden = int(branch) * width
    extra = (bias == "true") * (2 * hidden + width) + (gate_norm == "layer") * 2 * hidden
    return 3 * width * hidden + extra, places * 3 * width * hidden


def linked(width: int, places: int, norm: str, inner: str) -> tuple[int, int]:
    """Parameters and multiply-accumulates of a Linked block: the norm is as wide as the inner layer."""
    hidden = width * (1 + (inner == "double"))
    return 2 * width * hidden + hidden + width + (norm == "layer") * 2 * hidden, places * 2 * width * hidden


def without_mlps() -> tuple[int, int]:
    """The small DeiT without its MLPs: patches, positions, a class token, attention, norms and the classifier."""
    width, tokens = 24, 5
    attention = 4 * width * width + 4 * width
    embedding = 3 * 32 * 32 * width + width + width + tokens * width
    layer_macs = tokens * 4 * width * width + 2 * tokens * tokens * width
    parameters = embedding + 2 * (attention + 4 * width) + 2 * width + 1000 * (width + 1)
    return parameters, 4 * 3 * 32 * 32 * width + 2 * layer_macs + 1000 * width


def totals(name: str, answers: Mapping[str, str]) -> tuple[int, int]:
    """Parameters and multiply-accumulates of the small DeiT with two blocks."""
    block = gated(24, 5, **answers) if name == "GatedMlp" else linked(24, 5, **answers)
    parameters, macs = without_mlps()
    return parameters + 2 * block[0], macs + 2 * block[1]


def stated(answers: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{axis}: {{value: {value}, because: so}}" for axis, value in answers.items()) + "}"


def written(
    folder: Path,
    rows: list[tuple[str, str, tuple[int, int]]],
    text: Mapping[str, str],
    code: Mapping[str, str],
) -> str:
    """Write a paper whose rows are a host with a block each, and what they print."""
    folder.mkdir(exist_ok=True)
    shutil.copy(CODE, folder)
    spec = TABLE.format(paper=folder.name, block=rows[0][1], stated=stated(text), code=stated(code))
    for at, (host, name, (params, flops)) in enumerate(rows):
        spec += ROW.format(at=at, host=host, name=name, params=params, flops=flops)
    (folder / "own.yaml").write_text(spec, encoding="utf-8")
    return str(folder / "own.yaml")


def rows_of(*paths: str) -> list[RowRef]:
    return [row for path in paths for row in load([path], trust_code=True).papers[0].rows]


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Count in this process, which is faster; return how many models each call was for."""
    asked: list[int] = []

    def measure(needed: Mapping[ModelKey, Need], progress: Callable[[str], None]) -> Iterator[Measured]:
        asked.append(len(needed))
        return measure_models(needed, progress)

    monkeypatch.setattr("imlp_audit.solve.compose.measure_outside", measure)
    monkeypatch.setattr("imlp_audit.count.measuring.measure_outside", measure)
    return asked


def composition(
    tmp_path: Path, *rows: tuple[str, str, tuple[int, int]], text: Mapping[str, str]
) -> tuple[SearchProblem, dict[str, str]]:
    return compose(rows_of(written(tmp_path / "own", list(rows), text, text)))


@pytest.mark.parametrize(("name", "axes"), [("GatedMlp", GATED), ("Linked", LINKED)])
def test_every_reading_has_the_total_of_its_formula(
    tmp_path: Path, here: list[int], name: str, axes: Mapping[str, tuple[str, ...]]
) -> None:
    found, _ = composition(tmp_path, (HOST, name, (1, 1)), text={next(iter(axes)): "layer"})
    row = found.rows[0]
    space = found.spaces[name]
    combinations = [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]
    assert [space.values_at(i) for i in range(len(combinations))] == [
        {f"{name}.{axis}": value for axis, value in one.items()} for one in combinations
    ]
    for index, answers in enumerate(combinations):
        assert (row.parameters["all"][index], row.totals["macs"][index]) == totals(name, answers)
    assert here == [len(combinations)]


@pytest.mark.slow
@pytest.mark.parametrize("planted", [("layer", "false", "3"), ("none", "true", "3"), ("layer", "true", "2")])
def test_the_search_finds_the_reading_that_was_printed(
    tmp_path: Path, here: list[int], planted: tuple[str, str, str]
) -> None:
    truth = dict(zip(GATED, planted, strict=True))
    found, _ = composition(tmp_path, (HOST, "GatedMlp", totals("GatedMlp", truth)), text={"bias": "true"})
    answer = solve(found)
    assert (answer.score, answer.of) == (2, 2)
    assert {axis.axis: axis.values for axis in answer.axes} == {
        f"GatedMlp.{axis}": (value,) for axis, value in truth.items()
    }


def test_a_combination_that_fails_is_named_and_leaves_the_other_rows(tmp_path: Path, here: list[int]) -> None:
    found, refused = composition(tmp_path, (HOST, "Failing", (1, 1)), (HOST, "halved", (1, 1)), text={"works": "yes"})
    assert [row.id for row in found.rows] == ["own/1/r1"]
    (reason,) = refused.values()
    assert reason.endswith("ValueError: it does not work (with Failing.works: no)")


def verdicts(path: str) -> dict[str, Any]:
    result = audit(load([path], trust_code=True), Options(trust_code=True), lambda _: lambda name: None)
    return {check.id: check for check in result.checks}


@pytest.mark.daily(2)
@pytest.mark.parametrize(
    ("printed", "params", "flops"),
    [
        ({"gate_norm": "none", "bias": "true", "branch": "2"}, "reproduced", "reproduced"),
        ({"gate_norm": "layer", "bias": "true", "branch": "3"}, "reproduced_under", "reproduced_under"),
        ({"gate_norm": "layer", "bias": "true", "branch": "2"}, "differs", "reproduced"),
        ({"gate_norm": "none", "bias": "false", "branch": "3"}, "differs", "reproduced_under"),
    ],
)
def test_verdicts_take_the_declared_readings_alone(
    tmp_path: Path, here: list[int], printed: dict[str, str], params: str, flops: str
) -> None:
    rows = [(HOST, "GatedMlp", totals("GatedMlp", printed))]
    path = written(tmp_path / "own", rows, {"bias": "true"}, {"gate_norm": "layer", "branch": "3"})
    found = verdicts(path)
    assert (found["own/1/r0/params"].verdict, found["own/1/r0/flops"].verdict) == (Verdict(params), Verdict(flops))


@pytest.mark.slow
def test_an_edit_of_the_file_changes_the_next_count(tmp_path: Path) -> None:
    """Nothing of the first run is kept, neither counts nor code."""
    answers = {"gate_norm": "none", "bias": "true", "branch": "2"}
    stated = {"bias": "true"}
    path = written(tmp_path / "own", [(HOST, "GatedMlp", totals("GatedMlp", answers))], stated, stated)
    assert verdicts(path)["own/1/r0/params"].verdict is Verdict.REPRODUCED
    file = Path(path).with_name("own_blocks.py")
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace('gate_norm == "layer":', 'gate_norm != "layer":'), encoding="utf-8")  # as long
    check = verdicts(path)["own/1/r0/params"]
    assert check.measured == str(totals("GatedMlp", {**answers, "gate_norm": "layer"})[0])
