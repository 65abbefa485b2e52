"""`imlp-audit accept`: what numbers identified becomes what a person gives."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from imlp_audit.pipeline import audit_targets
from imlp_audit.records.check import CellCheck, Verdict
from tests.checks.test_row_identification import HEAD, TRUE, WORK, row
from tests.cli.running import call

BLOCK = """\
      - id: x
        label: Ours
        candidates: [{timm: resnet26}]
        printed: {params: 99.99}
"""


def test_accept_shows_and_writes_models_and_counters(tmp_path: Path) -> None:
    spec = tmp_path / "t.yaml"
    spec.write_text(HEAD + "".join(row(*one) for one in TRUE) + BLOCK)
    before = spec.read_text()
    shown = call("accept", str(spec), "--dry-run")
    assert shown.code == 0
    assert "+      - {id: resnet_50, label: ResNet-50, model: {timm: resnet50}," in shown.out
    assert spec.read_text() == before
    assert call("accept", str(spec)).code == 0
    after = spec.read_text()
    assert after.count("candidates:") == 1
    assert "model: {timm: resnet152}" in after
    checks = audit_targets(spec).of_kind(CellCheck)
    assert [one.id for one in checks if one.verdict is Verdict.UNVERIFIABLE] == ["t/1/x/params"]
    assert all(one.identified is None for one in checks if "/x/" not in one.id)
    assert "nothing to accept" in call("accept", str(spec)).err


def test_accept_writes_the_counter_of_the_heading_and_a_lead_fails_then(tmp_path: Path) -> None:
    spec = tmp_path / "t.yaml"
    rows = [row("resnet18", "ResNet-18", "11.69", "9.99"), row(*TRUE[1]), row(*TRUE[2])]
    agent = row("resnet50", "Agent-ResNet-50", "25.56", "4.11", named=False)
    spec.write_text(HEAD.replace("FLOPs (G)", "MACs (fvcore)") + "".join([*rows, agent]))
    assert "fail" not in call("verify", str(spec)).out.partition("For CI")[2].partition("\n")[0]
    unsaid = "left as proposed: t/1/agent_resnet_50: timm: resnet50, which its label does not say\n"
    assert call("accept", str(spec)).err == unsaid
    after = spec.read_text()
    assert after.count("candidates:") == 1
    assert "flops: [fvcore]" in after
    assert "1 fails" in call("verify", str(spec)).out


@pytest.mark.slow
def test_the_summary_of_a_table_adds_up(tmp_path: Path) -> None:
    spec = tmp_path / "t.yaml"
    odd = [row(model, f"{label} x", params, flops, named=False) for model, label, params, flops in TRUE]
    spec.write_text(HEAD + "".join(odd[:2]) + BLOCK + "".join(row(*one) for one in TRUE[2:]).replace("11.56", "1.0"))
    shown = " ".join(call("verify", str(spec), "--all", "--no-progress").out.split())
    assert "5 of 6 rows by their numbers" in shown


def test_accept_leaves_a_paper_without_candidates_alone(tmp_path: Path) -> None:
    spec = tmp_path / "t.yaml"
    spec.write_text(HEAD + "      - {id: a, label: A, model: {timm: resnet18}, printed: {params: 11.69}}\n")
    done = call("accept", str(spec))
    assert (done.code, done.out) == (0, "")


CLIP = """\
      - id: clip
        label: CLIP ViT-B/32
        candidates: [{transformers: {architecture: CLIPModel, inputs: {pixel_values: {shape: [3, 224, 224]},
          input_ids: {shape: [77], dtype: int64}}}}, {timm: resnet18}]
        printed: {params: 151.28}
"""


def test_accept_closes_lists_in_lists(tmp_path: Path) -> None:
    spec = tmp_path / "t.yaml"
    spec.write_text(HEAD + "".join(row(*one) for one in TRUE) + CLIP)
    assert call("accept", str(spec)).code == 0
    assert "candidates:" not in spec.read_text()
    assert call("lint", str(spec)).code == 0


@pytest.mark.parametrize("form", ["comments", "blocks", "one line", "named last"])
def test_accept_edits_a_spec_in_the_form_that_it_has(tmp_path: Path, form: str) -> None:
    spec, text = tmp_path / "t.yaml", HEAD + "".join(row(*one) for one in TRUE)
    read = yaml.load(text, yaml.BaseLoader)
    forms = {
        "comments": yaml.dump(read, sort_keys=False).replace("named: 'true'", "named: true  # as printed"),
        "blocks": yaml.dump(read, sort_keys=False, default_flow_style=False),
        "one line": json.dumps(read),
        "named last": text.replace("named: true, ", "").replace("}}\n", "}, named: true}\n"),
    }
    spec.write_text(forms[form])
    assert call("accept", str(spec)).code == 0
    assert ", }" not in spec.read_text()
    rows = yaml.load(spec.read_text(), yaml.BaseLoader)["tables"][0]["rows"]
    assert {one["label"]: one["model"]["timm"] for one in rows} == {label: model for model, label, *_ in TRUE}
    assert not any({"named", "candidates"} & one.keys() for one in rows)
    assert spec.read_text().count("# as printed") == len(TRUE) * (form == "comments")


def test_accept_accuses_no_number_that_verify_has_not(tmp_path: Path) -> None:
    """A change that a label adds, as of ToMe, may be why FLOPs are other ones."""
    spec = tmp_path / "t.yaml"
    changed = row("resnet50", "ResNet-50 with ToMe", "25.56", "2.70", named=False)
    spec.write_text(HEAD + "".join(row(*one) for one in TRUE) + changed)
    done = call("accept", str(spec))
    assert "left as proposed: t/1/resnet_50_with_tome/flops 2.70: the model is proposed" in done.err
    assert spec.read_text().count("candidates:") == 1
    assert "No check fails" in call("verify", str(spec)).out


@pytest.mark.parametrize(("flops", "accepted"), [("", False), (", flops: 17.58", True)])
def test_accept_leaves_a_row_that_two_models_explain(tmp_path: Path, flops: str, *, accepted: bool) -> None:
    """ViT-B has 86 576 872 parameters with patches of 8 and 86 567 656 with 16: the work tells which."""
    spec, rows = tmp_path / "t.yaml", "".join(row(*one) for one in TRUE)
    vit = "candidates: [{timm: vit_base_patch8_224}, {timm: vit_base_patch16_224}]"
    spec.write_text(f"{HEAD}{rows}      - {{id: vit, label: ViT-B, {vit}, printed: {{params: 86.6{flops}}}}}\n")
    done = call("accept", str(spec))
    assert done.code == 0
    assert ("vit_base_patch8_224" in done.err and "vit_base_patch16_224" in done.err) is not accepted
    assert ("model: {timm: vit_base_patch16_224}" in spec.read_text()) is accepted


def test_accept_writes_the_unit_that_numbers_told(tmp_path: Path) -> None:
    spec = tmp_path / "t.yaml"
    rows = [row(*one[:3], str(round(work / 10**6))) for one, work in zip(TRUE, WORK, strict=True)]
    spec.write_text(HEAD.replace("FLOPs (G)", "FLOPs") + "".join(rows))
    assert call("accept", str(spec)).code == 0
    assert "{measure: flops, unit: M, heading: FLOPs}" in spec.read_text()
    assert "No check fails" in call("verify", str(spec)).out
