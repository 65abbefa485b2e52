"""`imlp-audit accept`: what numbers identified becomes what a person gives."""

from __future__ import annotations

from pathlib import Path

from imlp_audit.pipeline import audit_targets
from imlp_audit.records.check import CellCheck, Verdict
from tests.checks.test_identify import HEAD, TRUE, row
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


def test_accept_leaves_a_paper_without_candidates_alone(tmp_path: Path) -> None:
    spec = tmp_path / "t.yaml"
    spec.write_text(HEAD + "      - {id: a, label: A, model: {timm: resnet18}, printed: {params: 11.69}}\n")
    done = call("accept", str(spec))
    assert (done.code, done.out) == (0, "")
