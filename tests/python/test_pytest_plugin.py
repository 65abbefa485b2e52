"""The pytest plugin, in runs of pytest inside this one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.running import call

PAPER = """\
paper: mine
about: {title: T, authors: A, version: v1}
tables:
  - table: "1"
    title: Two models
    source: {section: "4"}
    columns:
      params: {measure: parameters, unit: "", heading: Parameters}
      top1: {measure: score, unit: "%", heading: Top-1, needs: trained weights}
    rows:
      - {id: good, label: A, model: {torchvision: alexnet}, printed: {params: 61100840, top1: 72.2}}
      - {id: bad, label: B, model: {torchvision: alexnet}, printed: {params: 61100841}}
"""
OWN = PAPER.replace("{torchvision: alexnet}", "{python: {file: nets.py, name: Net, input: [2, 1, 1]}}")
NETS = "from torch import nn\nclass Net(nn.Conv2d):\n    def __init__(self):\n        super().__init__(2, 2, 1)\n"
TRUST = "[pytest]\nimlp_audit_trust_code = true\n"


@pytest.fixture
def own(pytester: pytest.Pytester) -> pytest.Pytester:
    """A folder with a paper and its model."""
    for name, text in (("p.audit.yaml", PAPER), ("pytest.ini", "[pytest]\n")):
        (pytester.path / name).write_text(text, encoding="utf-8")
    return pytester


def run(own: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    return own.runpytest_inprocess("-p", "imlp_audit.cli.pytest_plugin", "-p", "no:xdist", "-rfs", *arguments)


def test_each_check_is_a_test(own: pytest.Pytester) -> None:
    found = run(own)
    found.assert_outcomes(passed=1, failed=1, skipped=1)
    found.stdout.fnmatch_lines(
        [
            "*mine/1/bad/params: differs*",
            "printed *; p.audit.yaml:12",
            "*61 100 840 is outside [[]61 100 840.5, 61 100 841.5)*",
            "FAILED p.audit.yaml::mine/1/bad/params*",
            "SKIPPED*needs trained weights*",
        ]
    )
    assert "Traceback" not in found.stdout.str()


@pytest.mark.parametrize(
    ("setting", "outcomes"),
    [
        ("[pytest]\n", {"skipped": 3}),
        pytest.param(TRUST, {"failed": 2, "skipped": 1}, marks=pytest.mark.slow),  # 2 x 2 weights and 2 biases
    ],
)
def test_a_papers_python_runs_only_where_the_configuration_says_so(
    own: pytest.Pytester, setting: str, outcomes: dict[str, int]
) -> None:
    for name, text in (("p.audit.yaml", OWN), ("nets.py", NETS), ("pytest.ini", setting)):
        (own.path / name).write_text(text, encoding="utf-8")
    found = run(own)
    found.assert_outcomes(**outcomes)
    found.stdout.fnmatch_lines(["*--trust-code*" if "skipped" in outcomes and len(outcomes) == 1 else "*6 is outside*"])


def test_what_a_finding_acknowledges_passes(own: pytest.Pytester) -> None:
    finding = "paper: mine\nfindings: [{id: f, title: T, kind: misprint, why: W, checks: [mine/1/bad/params]}]\n"
    (own.path / "findings.yaml").write_text(finding, encoding="utf-8")
    assert call("acknowledge", "p.audit.yaml", "--no-progress").code == 0
    run(own, "--deselect", "p.audit.yaml::mine/1/good/params").assert_outcomes(passed=1, skipped=1, deselected=1)


def test_a_lock_that_cannot_be_used_fails_without_a_traceback(own: pytest.Pytester) -> None:
    (own.path / "findings.lock").write_text("{}", encoding="utf-8")
    found = run(own)
    found.assert_outcomes(failed=3)
    assert "Traceback" not in found.stdout.str()


def test_problems_of_a_spec_are_errors_of_collection(own: pytest.Pytester) -> None:
    (own.path / "p.audit.yaml").write_text(PAPER.replace("title: T,", "titel: T,"), encoding="utf-8")
    found = run(own)
    found.assert_outcomes(errors=1)
    found.stdout.fnmatch_lines(["*p.audit.yaml:2:9: unknown key 'titel'; did you mean 'title'?*"])


def test_other_yaml_is_left_alone(own: pytest.Pytester) -> None:
    os.rename(own.path / "p.audit.yaml", Path(own.path / "p.yaml"))  # noqa: PTH104
    run(own).assert_outcomes()
