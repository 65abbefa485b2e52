"""Columns whose models are counted on images of their own, such as "FLOPs at 384"."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from imlp_audit.errors import SpecError
from imlp_audit.pipeline import Options, audit
from imlp_audit.records.check import Verdict
from imlp_audit.solve.compose import compose
from imlp_audit.spec.load import load

MIXER = "{mixer: {layers: 2, patch: 4, width: 24, tokens_hidden: 10, channels_hidden: 40}, image: 32, classes: 10}"
SPEC = """\
paper: p
about: {{title: T, authors: A. Author, version: v1, flops: [macs], rounding: [half_up]}}
tables:
  - table: "1"
    title: Two sizes
    source: {{section: "4"}}
    columns:
      params: {{measure: parameters, unit: "", heading: Parameters}}
      small: {{measure: flops, unit: "", heading: FLOPs at 32}}
      large: {{measure: flops, unit: "", heading: FLOPs at 64 x 48, image: [64, 48]}}
      larger: {{measure: parameters, unit: "", heading: Parameters at 64 x 48, image: [64, 48]}}
    rows:
      - {{id: mixer, label: M, model: {model}, printed: {{params: {p}, small: {f}, large: {fl}, larger: {pl}}}}}
      - {{id: other, label: O, baseline: mixer, model: {model}, printed: {{large: {fl}}}, delta: {{large: 0%}}}}
"""


NEEDS = """\
paper: p
about: {title: T, authors: A. Author, version: v1, flops: [macs], rounding: [half_up]}
tables:
  - table: "1"
    title: No size
    source: {section: "4"}
    columns:
      params: {measure: parameters, unit: "", heading: Parameters}
      flops: {measure: flops, unit: "", heading: FLOPs, needs: the size of the images}
    rows:
      - {id: mixer, label: M, model: MIXER, printed: {params: 1, flops: 1}}
      - {id: other, label: O, baseline: mixer, model: MIXER, printed: {flops: 1}, delta: {flops: 5%}}
"""


def test_a_column_of_totals_that_needs_something_is_not_counted(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text(NEEDS.replace("MIXER", MIXER), encoding="utf-8")
    checks = {check.id: check for check in audit(load([str(tmp_path)]), Options(), lambda _: lambda _: None).checks}
    assert checks["p/1/mixer/params"].verdict is Verdict.DIFFERS
    for name in ("p/1/mixer/flops", "p/1/other/flops", "p/1/other/flops.delta.measured"):
        assert (checks[name].verdict, checks[name].reason) == (Verdict.UNVERIFIABLE, "needs the size of the images")


def macs(height: int, width: int) -> int:
    s = (height // 4) * (width // 4)
    return s * 3 * 16 * 24 + 2 * (2 * s * 10 * 24 + 2 * s * 24 * 40) + 24 * 10


def parameters(height: int, width: int) -> int:
    s = (height // 4) * (width // 4)
    layer = 2 * 48 + (2 * s * 10 + 10 + s) + (2 * 24 * 40 + 40 + 24)
    return 3 * 16 * 24 + 24 + 2 * layer + 48 + 24 * 10 + 10


NUMBERS = {"p": parameters(32, 32), "f": macs(32, 32), "fl": macs(64, 48), "pl": parameters(64, 48)}


def write(folder: Path, **changes: object) -> str:
    path = folder / "p.yaml"
    path.write_text(SPEC.format(**{"model": MIXER, **NUMBERS, **changes}), encoding="utf-8")
    return str(path)


def checks(path: str, *only: str) -> dict[str, Any]:
    result = audit(load([path]), Options(only=only), lambda _: lambda name: None)
    return {check.id: check for check in result.checks}


def test_each_column_is_counted_on_its_own_images(tmp_path: Path) -> None:
    found = checks(write(tmp_path))
    assert {name: check.verdict for name, check in found.items()} == dict.fromkeys(found, Verdict.REPRODUCED)
    measured = {name.rpartition("/")[2]: check.measured for name, check in found.items() if "/mixer/" in name}
    assert measured == {
        "params": str(NUMBERS["p"]), "small": str(NUMBERS["f"]), "large": str(NUMBERS["fl"]),
        "larger": str(NUMBERS["pl"]),
    }  # fmt: skip
    assert {"p/1/other/large.delta.measured", "p/columns/1"} <= found.keys()


def test_a_verdict_names_the_images(tmp_path: Path) -> None:
    found = checks(write(tmp_path))
    assert found["p/1/mixer/large"].reason.endswith("counted on images of 64 x 48")
    assert "counted on" not in found["p/1/mixer/small"].reason


@pytest.mark.parametrize("printed", ["0.001", "1000"])
def test_a_verdict_on_memory_names_the_images(tmp_path: Path, printed: str) -> None:
    memory = "{{measure: memory, unit: MB, batch: 2, heading: Peak (MB), needs: the GPU, image: [64, 48]}}"
    path = tmp_path / "p.yaml"
    changed = SPEC.replace("    rows:", f"      peak: {memory}\n    rows:").replace("params: {p}", f"peak: {printed}")
    path.write_text(changed.format(model=MIXER, **NUMBERS).replace("v1,", "v1, memory: [mb],"), encoding="utf-8")
    assert "live at once, counted on images of 64 x 48" in checks(str(path), "p/1/mixer/peak")["p/1/mixer/peak"].reason


@pytest.mark.parametrize(("column", "other"), [("large", "f"), ("small", "fl")])
def test_the_number_of_other_images_differs_and_fits_the_other_column(tmp_path: Path, column: str, other: str) -> None:
    key = {"large": "fl", "small": "f"}[column]
    found = checks(write(tmp_path, **{key: NUMBERS[other]}), f"p/1/mixer/{column}")
    check = found[f"p/1/mixer/{column}"]
    assert check.verdict is Verdict.DIFFERS
    heading = {"large": "FLOPs at 32", "small": "FLOPs at 64 x 48"}[column]
    assert any(f"fits the column {heading!r} instead" in hint for hint in check.hint_texts)


def test_images_that_one_column_alone_cannot_have_fail_there(tmp_path: Path) -> None:
    swapped = SPEC.replace("[64, 48]", "[64, 50]")
    path = tmp_path / "p.yaml"
    path.write_text(swapped.format(model=MIXER, **NUMBERS), encoding="utf-8")
    with pytest.raises(SpecError, match="the column's images do not fit the row's model: patch and image: 4 does not"):
        load([str(path)])


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ("{transformers: {architecture: BertModel, inputs: {input_ids: {shape: [4]}}}}", None),
        ("{python: {file: net.py, name: Net, tokens: 7}}", "this host has its input next to its name"),
        ("{python: {file: net.py, name: Net, input: [3, 8, 8]}}", None),
    ],
)
def test_a_model_without_images_to_choose_is_refused(tmp_path: Path, model: str, reason: str | None) -> None:
    (tmp_path / "net.py").write_text("", encoding="utf-8")
    path = write(tmp_path, model=model)
    if reason is None:
        assert load([path]).papers
    else:
        with pytest.raises(SpecError, match=f"the column's images do not fit the row's model: image: {reason}"):
            load([path])


def test_solve_poses_a_row_once_for_each_size(tmp_path: Path) -> None:
    problem, _ = compose(load([write(tmp_path)]).papers[0].rows[:1])
    assert [row.id for row in problem.rows] == ["p/1/mixer", "p/1/mixer on 64 x 48"]
    counted = {cell.id.rpartition("/")[2]: problem.rows[cell.row] for cell in problem.cells}
    assert counted["small"].totals["macs"] == NUMBERS["f"]
    assert counted["large"].totals["macs"] == NUMBERS["fl"]
    assert counted["larger"].parameters["all"] == NUMBERS["pl"]
