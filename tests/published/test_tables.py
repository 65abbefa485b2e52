"""Published tables, unedited: what `init` and `verify` make of them. Only where their bytes are (`collect.py`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from imlp_audit.pipeline import audit_targets
from imlp_audit.records.check import CellCheck, Identified, Verdict
from tests.cli.running import call

from .sources import TABLES, TimmNames, read_sources, read_truth

TRUTH = read_truth()
SMALL = [one for one in read_sources() if not isinstance(TRUTH.tables.get(one.file), TimmNames)]
ACCUSED = {  # by a person who looked into each: these are the tables' own errors
    "calculate-flops-pytorch-2.md": 2,  # AlexNet's 741.19 G and 7418800000
    "convnext-1.md": 1,  # ConvNeXt-B at 384: 47.0 G printed in one table, 45.0 in the other, 45.1 by every counter
    "keras-cv-attention-models-2.md": 1,  # ResMLP36: 116 M printed, which are ResMLP-B24's; its FLOPs are its own
    "rdnet-1.md": 1,  # RDNet-T: 22 M printed, 23.9 M are the paper's 24 M
    "rewrite-the-stars-1.md": 1,  # StarNet-S4: 1075 M printed, 1054 M by the counters that give S1 to S3
}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not TABLES.is_dir(), reason="needs the tables' bytes: python -m tests.published.collect"),
]


@pytest.mark.parametrize("file", [one.file for one in SMALL])
def test_only_errors_that_a_person_confirmed_are_found_in_published_tables(file: str, tmp_path: Path) -> None:
    spec = tmp_path / "spec.yaml"
    if call("init", str(TABLES / file), "-o", str(spec)).code:
        pytest.skip("init finds no countable table in it")
    result = audit_targets(spec)
    wrong = [one.id for one in result.checks if one.verdict in (Verdict.DIFFERS, Verdict.INCONSISTENT)]
    assert len(wrong) == ACCUSED.get(file, 0), wrong


def test_most_rows_of_a_clean_table_are_identified(tmp_path: Path) -> None:
    """timm's own predecessor lists 23 models in full digits: each is known, as the one that its label names."""
    spec = tmp_path / "spec.yaml"
    call("init", str(TABLES / "gen-efficientnet-pytorch-1.md"), "-o", str(spec))
    cells = audit_targets(spec).of_kind(CellCheck)
    known = {one.id.rpartition("/")[0]: one.identified for one in cells if one.identified is not None}
    assert known
    assert Identified.NO not in known.values()
