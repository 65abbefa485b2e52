from __future__ import annotations

import json
from pathlib import Path

import pytest

from .running import MODULE, call, spawn

ROW = "imlp_row/1/block/params"


def test_a_check_is_explained(here: Path) -> None:
    outcome = call("explain", ROW)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith(f"{ROW}: differs\n\nprinted     1.00 M in Table 1, DeiT-Ti + IMLP, Parameters (M); ")
    assert "\nAll parameters, reading as_written, against DeiT-Ti:\n" in outcome.out
    assert outcome.out.endswith("\n")


def test_an_explanation_has_the_formats_of_other_commands(here: Path) -> None:
    told = "findings/1/b/top1.delta"
    assert call("explain", told, "-f", "markdown").out.startswith(f"# `{told}`: ")
    document = json.loads(call("explain", told, "-f", "json").out)
    assert document["format"] == "imlp-audit/explain/3"
    assert document["check"]["id"] == told
    assert "torch" in document["versions"]


@pytest.mark.slow
def test_specs_can_be_named(here: Path) -> None:
    assert call("explain", ROW, "specs/imlp_row").code == 0
    other = call("explain", ROW, "specs/clean")
    assert other.code == 2
    assert "the paper 'imlp_row' is not among those looked at (clean); add its file or folder" in other.err


def test_an_unknown_id_is_a_usage_error_with_the_near_miss(here: Path) -> None:
    outcome = call("explain", "imlp_row/1/blok/params")
    assert (outcome.code, outcome.out) == (2, "")
    assert (
        outcome.err
        == "imlp-audit: no check has the id 'imlp_row/1/blok/params'; did you mean 'imlp_row/1/block/params'?\n"
    )
    assert call("explain").code == 2


def test_a_model_that_failed_ends_with_its_code(here: Path) -> None:
    outcome = call("explain", "broken/1/typo/params")
    assert outcome.code == 3
    assert outcome.out.startswith("broken/1/typo/params: not completed\n")
    assert "did you mean 'deit_tiny_patch16_224'?" in outcome.out


@pytest.mark.slow
def test_a_claim_that_needs_a_solver_is_tested_as_properties_does() -> None:
    outcome = call("explain", "imlp/equations/theorem1_optimum_corrected")
    assert outcome.code == 0
    assert outcome.out.startswith("imlp/equations/theorem1_optimum_corrected: ")


@pytest.mark.slow
def test_nothing_heavy_is_loaded_where_nothing_is_counted(papers: Path) -> None:
    code = (
        "import sys; from imlp_audit.cli.main import make_app\n"
        "make_app('explain')(['explain', 'scores/1/a/top1'], standalone_mode=False); sys.exit('torch' in sys.modules)"
    )
    outcome = spawn("-c", code, cwd=papers, command=MODULE[:1])
    assert (outcome.code, outcome.err) == (0, "")
    assert "needs trained weights and images" in outcome.out


def test_a_file_in_the_place_of_the_check_is_refused(here: Path) -> None:
    outcome = call("explain", "specs/imlp_row", ROW)
    assert outcome.code == 2
    assert "imlp_row/ is not a check; checks below it: imlp_row/1/block/params" in outcome.err


def test_the_model_that_a_row_was_identified_by_is_explained(tmp_path: Path) -> None:
    """Its parameters identify it; the spec itself gives no model."""
    (tmp_path / "rows.yaml").write_text(
        "paper: rows\nabout: {title: Rows, authors: An author, version: v1, flops: [macs]}\n"
        "tables:\n  - table: '1'\n    title: Rows\n    source: {section: '1'}\n    columns:\n"
        "      params: {measure: parameters, unit: M, heading: Parameters (M)}\n    rows:\n"
        "      - {id: a, label: A, candidates: [{timm: resnet18}], printed: {params: 11.690}}\n"
        "      - {id: b, label: B, candidates: [{timm: resnet34}], printed: {params: 21.798}}\n"
    )
    done = call("explain", "rows/1/b/params", str(tmp_path / "rows.yaml"))
    assert (done.code, done.err) == (0, "")
    assert "Where the number comes from" in done.out
