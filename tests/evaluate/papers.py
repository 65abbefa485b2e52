"""A small paper with accuracies, and evaluations made by hand."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from imlp_audit.evaluate.images import data_digest
from imlp_audit.evaluate.verdict import DIGITS, EvaluatedCell, Sample
from imlp_audit.evaluate.verdict import judge as judge_run
from imlp_audit.numbers.interval import decimal_text
from imlp_audit.records.check import Accuracy, CellCheck
from imlp_audit.spec.columns import AccuracyColumn, Metric
from imlp_audit.spec.load import load
from imlp_audit.spec.paper import CellRef, RowRef, find_cell, find_row

AXES = {
    "agelu_parameters": "per_channel",
    "fc1_bias": "yes",
    "fc2_bias": "yes",
    "concat_norm": "none",
    "output_norm": "none",
    "depthwise_bias": "yes",
    "depthwise_norm": "batch",
    "depthwise_activation": "gelu",
    "depthwise_skip": "no",
    "class_token": "kept",
}
HOST = "timm: deit_tiny_patch16_224"
PAPER = """\
paper: p
about:
  title: A paper
  authors: An author
  version: v1
  rounding: [{rounding}]
  readings:
{readings}
tables:
  - table: "1"
    title: A table
    source: {{section: "1"}}
    columns:
      params: {{measure: parameters, unit: M, heading: Parameters}}
      top1: {{measure: score, unit: "%", metric: top1, data: photos, images: {images}, heading: Top-1, needs: weights}}
      top5: {{measure: score, unit: "%", metric: top5, data: photos, images: {images}, heading: Top-5, needs: weights}}
      real: {{measure: score, unit: "%", metric: top1, data: drawings, images: {images}, heading: Real, needs: weights}}
      bleu: {{measure: score, unit: BLEU, heading: BLEU, needs: weights}}
    rows:
      - id: base
        label: Base
        model: {{{host}}}
        printed: {{params: 5.72, top1: 79.9, top5: 95.0, real: 85}}
      - id: block
        label: + block
        baseline: base
        model: {{{host}, mlp: {{imlp: {{ratio: 2, kernel: 3}}}}}}
        printed: {{top1: 80.0, top5: 95.0}}
      - {{id: words, label: Words, printed: {{params: 5.72, bleu: 27.3}}}}
      - {{id: same, label: Same, model: {{{host}}}, printed: {{top1: 80.0}}}}
  - table: "2"
    title: Another table
    source: {{section: "1"}}
    columns:
      top1: {{measure: score, unit: "%", metric: top1, data: photos, images: {images}, heading: Top-1, needs: weights}}
    rows:
      - {{id: far, label: Far, printed: {{top1: 70.0}}}}
  - table: "3"
    title: A table with a large difference
    source: {{section: "1"}}
    columns:
      top1: {{measure: score, unit: "%", metric: top1, data: scenes, images: {images}, heading: Top-1, needs: weights}}
      unsized: {{measure: score, unit: "%", metric: top1, data: sketches, heading: Top-1, needs: weights}}
    rows:
      - {{id: base, label: Base, printed: {{top1: 60.0, unsized: 60.0}}}}
      - {{id: much, label: Much, baseline: base, printed: {{top1: 80.0, unsized: 80.0}}}}
      - {{id: other, label: Other, printed: {{top1: 72.2}}}}
  - table: "4"
    title: A table with a baseline that guesses
    source: {{section: "1"}}
    columns:
      top1: {{measure: score, unit: "%", metric: top1, data: toys, images: {images}, heading: Top-1, needs: weights}}
      only: {{measure: score, unit: "%", metric: top1, data: cubes, images: {images}, heading: Top-1, needs: weights}}
      real: {{measure: score, unit: "%", metric: top1, data: imagenet-real, heading: Real, needs: weights}}
    rows:
      - {{id: chance, label: Chance, printed: {{top1: 0.1, only: 0.1, real: 0.1}}}}
      - {{id: trained, label: Trained, baseline: chance, printed: {{top1: 72.2, only: 72.2, real: 72.2}}}}
      - {{id: more, label: More, baseline: trained, printed: {{top1: 76.2, real: 72.6}}}}
  - table: "5"
    title: A table without baselines
    source: {{section: "1"}}
    columns:
      kites: {{measure: score, unit: "%", metric: top1, data: kites, heading: Kites, needs: weights}}
      boats: {{measure: score, unit: "%", metric: top1, data: boats, heading: Boats, needs: weights}}
    rows:
      - {{id: a, label: A, printed: {{kites: 60.0, boats: 60.0}}}}
      - {{id: b, label: B, printed: {{kites: 61.0, boats: 60.0}}}}
      - {{id: c, label: C, printed: {{kites: 63.0, boats: 62.5}}}}
claims:
  - id: grows
    text: It grows.
    meaning: from A to C
    source: {{section: "1"}}
    rows: [p/5/a, p/5/b, p/5/c]
    order: {{value: kites, direction: increasing}}
  - id: above
    text: C is above B.
    meaning: by the printed numbers
    source: {{section: "1"}}
    rows: [p/5/c]
    conditions: [{{difference: boats, against: p/5/b, above: 0}}]
"""


def write(folder: Path, rounding: str = "half_up", images: int = 50_000) -> Path:
    """Write the paper, with one reading for its block, and another under which the block has more.

    `images` is the size of its photos.
    """
    lines = []
    for name, skip in (("plain", "no"), ("twin", "no"), ("skip", "yes")):
        axes = {**AXES, "depthwise_skip": skip}
        lines += [f"    {name}:", *(f"      {axis}: {{value: {v}, because: the text}}" for axis, v in axes.items())]
    text = PAPER.format(rounding=rounding, readings="\n".join(lines), host=HOST, images=images)
    (folder / "p").mkdir(parents=True)
    (folder / "p" / "paper.yaml").write_text(text, encoding="utf-8")
    return folder / "p"


def row(folder: Path, name: str, rounding: str = "half_up", images: int = 50_000) -> RowRef:
    """Return a row of the paper, p/1/base or p/1/block."""
    found = find_row(load([str(write(folder, rounding, images))]).papers, name)
    assert found is not None
    return found


def cell(folder: Path, name: str, rounding: str = "half_up", images: int = 50_000) -> CellRef:
    """Return a cell of the paper, such as p/1/base/top1."""
    found = find_cell(load([str(write(folder, rounding, images))]).papers, name)
    assert found is not None
    return found


def evaluated(
    right: list[bool] | tuple[int, int],
    metric: Metric = Metric.TOP1,
    *,
    available: int | None = None,
    unreadable: int = 0,
    unlabelled: int = 0,
    checkpoint: str = "a",
    label: int = 0,
    settings: Mapping[str, str] = MappingProxyType({"crop": "0.9"}),
) -> Accuracy:
    """Put an evaluation on record, of each image or of so many right ones of so many."""
    correct, images = right if isinstance(right, tuple) else (sum(right), len(right))
    interval = Sample(correct, unreadable, images + unreadable).interval
    return Accuracy(
        metric=metric,
        correct=correct,
        images=images,
        available=images + unreadable + unlabelled if available is None else available,
        unreadable=unreadable,
        unlabelled=unlabelled,
        low=decimal_text(interval.low, DIGITS),
        high=decimal_text(interval.high, DIGITS),
        checkpoint=checkpoint * 64,
        data=data_digest([(f"{i}.png", (label,)) for i in range(images)]),
        settings=dict(settings),
    )


def judge(cell: CellRef, accuracy: Accuracy, reading: str | None = None) -> CellCheck:
    """Judge a printed accuracy by an evaluation."""
    column = cell.column
    assert isinstance(column, AccuracyColumn)
    return judge_run(EvaluatedCell(cell, column, accuracy, reading))
