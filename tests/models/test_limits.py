"""Models that no library was made for: the row says which argument asks for too much, within a time limit."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.running import call_apart

TIME = "takes more than 8 s"  # a slow machine meets the limit of time first
TOO_MANY, TOO_MUCH = f"20,000 modules|{TIME}", f"1024 MiB of memory|{TIME}"
SPEC = """\
paper: large
about: {{title: A paper, authors: An author, version: v1}}
tables:
  - table: "1"
    title: Models
    source: {{section: "1"}}
    columns:
      parameters: {{measure: parameters, unit: M, heading: Parameters (M)}}
    rows:
      - {{id: row, label: A model, model: {{{model}}}, printed: {{parameters: 1}}}}
"""


@pytest.mark.daily(1)
@pytest.mark.parametrize(
    ("model", "why", "named"),
    [
        (
            "timm: {architecture: resnet18, arguments: {layers: [1, 1000000, 1, 1]}}",
            TOO_MANY,
            "layers: 1000000",
        ),
        (
            "transformers: {architecture: BertForSequenceClassification, tokens: 16, config: {num_labels: 100000000}}",
            TOO_MUCH,
            "num_labels: 100000000",
        ),
        ("timm: {architecture: vit_tiny_patch16_224, arguments: {depth: 1000000}}", TOO_MANY, "depth: 1000000"),
        (
            "timm: {architecture: vit_tiny_patch16_224, arguments: {depth: 1000000000}}",
            TOO_MUCH,
            "depth: 1000000000",
        ),
        (
            "transformers: {architecture: BertModel, tokens: 16, config: {num_hidden_layers: 1000000}}",
            TOO_MANY,
            "num_hidden_layers: 1000000",
        ),
    ],
)
def test_a_model_larger_than_any_is_not_built(model: str, why: str, named: str, tmp_path: Path) -> None:
    path = tmp_path / "large.yaml"
    path.write_text(SPEC.format(model=model))
    done = call_apart("verify", "--no-cache", str(path), "-f", "json")
    assert done.code == 3, done.err
    assert "is too large to be built and counted" in done.out
    assert re.search(why, done.out)
    assert f"check `{named}`" in done.out
