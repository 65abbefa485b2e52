"""Papers of one table, read from files, for explanations of single checks."""

from __future__ import annotations

from pathlib import Path

from imlp_audit.spec.load import Selection, load
from tests.cli.papers import AXES

RELEASED = {"concat_norm": "layer", "output_norm": "layer", "depthwise_skip": "yes", "class_token": "removed"}
ALEXNET = "{torchvision: alexnet}"
DEIT = "{timm: deit_tiny_patch16_224}"
IMLP = "{timm: deit_tiny_patch16_224, mlp: {imlp: {ratio: 2, kernel: 3}}}"
TABLE = """\
paper: small
about:
  title: A small paper
  authors: An author
  version: v1
  flops: [macs, fvcore]
  readings:
    as_written: {as_written}
    released: {released}
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


def reading(source: str, changes: dict[str, str] | None = None) -> str:
    axes = AXES | (changes or {})
    return (
        "{"
        + ", ".join(f"{axis}: {{value: {value}, because: {source} of {axis}}}" for axis, value in axes.items())
        + "}"
    )


def row(name: str, label: str, model: str, printed: str, more: str = "") -> str:
    return f"      - {{id: {name}, label: {label}, {more}model: {model}, printed: {{{printed}}}}}\n"


def paper(folder: Path, *rows: str, trusted: bool = False) -> Selection:
    """Write a paper of these rows and read it, with a reading of the text and one of released code."""
    text = TABLE.format(as_written=reading("text"), released=reading("code", RELEASED))
    (folder / "paper.yaml").write_text(text + "".join(rows), encoding="utf-8")
    return load([str(folder)], trust_code=trusted)
