"""A small paper with throughputs, and models small enough to time in a test."""

from __future__ import annotations

from pathlib import Path

from imlp_audit.bench.planning import RowComparison, plan_comparisons
from imlp_audit.spec.load import load
from imlp_audit.spec.paper import Paper

COLUMNS = """\
  cpu: {measure: throughput, unit: imgs/s, heading: On CPU, needs: an abacus}
  gpu: {measure: throughput, unit: imgs/s, heading: On GPU, needs: a V100 GPU}
  params: {measure: parameters, unit: M, heading: Parameters}
"""
MIXER = "{{mixer: {{layers: {layers}, patch: 8, width: 32, tokens_hidden: 16, channels_hidden: 64}}, image: 32}}"
SMALL = MIXER.format(layers=1)
LARGE = MIXER.format(layers=16)
VIT = "{timm: test_vit, image: 64, classes: 10}"
BLOCK = "{timm: test_vit, image: 64, classes: 10, mlp: {imlp: {ratio: 2, kernel: 3}}}"
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


def row(name: str, model: str | None, cpu: str = "", base: str | None = None, more: str = "") -> str:
    """Write a row with a throughput on the CPU."""
    made = f"model: {model}, " if model else ""
    baseline = f"baseline: {base}, " if base else ""
    return (
        f"{{id: {name}, label: {name}, {made}{baseline}printed: {{{f'cpu: {cpu}' if cpu else 'params: 1.0'}}}{more}}}"
    )


def readings() -> str:
    """Write two readings, of which the first is the paper's default."""
    lines = []
    for name, skip in (("plain", "no"), ("skip", "yes")):
        axes = {**AXES, "depthwise_skip": skip}
        lines += [f"    {name}:", *(f"      {axis}: {{value: {v}, because: the text}}" for axis, v in axes.items())]
    return "\n".join(["  readings:", *lines])


def write(root: Path, *rows: str, columns: str = COLUMNS) -> Path:
    """Write the paper `p` with Table 1 under `root/specs`; return the folder of papers."""
    folder = root / "specs" / "p"
    folder.mkdir(parents=True, exist_ok=True)
    about = f"paper: p\nabout:\n  title: A paper\n  authors: An author\n  version: v1\n{readings()}\n"
    (folder / "paper.yaml").write_text(about, encoding="utf-8")
    lines = "".join(f"  - {one}\n" for one in rows)
    table = f'paper: p\ntable: "1"\ntitle: Models\nsource: {{section: "1"}}\ncolumns:\n{columns}rows:\n{lines}'
    (folder / "table1.yaml").write_text(table, encoding="utf-8")
    return root


def paper(root: Path, *rows: str) -> Paper:
    """Write the paper and load it."""
    write(root, *rows)
    return load([str(root / "specs" / "p")]).papers[0]


def comparison(root: Path, base: str, variant: str, delta: str | None = None) -> RowComparison:
    """Return the comparison of a row `b` against a row `a`, both with a printed throughput."""
    more = f", delta: {{cpu: {delta}}}" if delta else ""
    found = paper(root, row("a", SMALL, base), row("b", LARGE, variant, "a", more))
    return plan_comparisons(found, found.tables[0], "cpu", ["b"])[0]
