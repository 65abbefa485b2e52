"""Tiny papers for runs of the command line. Those without a model need no torch, and take no time."""

from __future__ import annotations

from pathlib import Path

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
PARAMS = "params: {measure: parameters, unit: M, heading: Parameters (M)}"
TOP1 = 'top1: {measure: score, unit: "%", heading: Top-1 (%), needs: trained weights and images}'
DEIT = "{timm: deit_tiny_patch16_224}"
IMLP = "{timm: deit_tiny_patch16_224, mlp: {imlp: {ratio: 2, kernel: 3}}}"


def _reading(name: str, **changes: str) -> str:
    axes = {**AXES, **changes}
    lines = [f"      {axis}: {{value: {value}, because: the text}}" for axis, value in axes.items()]
    return "\n".join([f"    {name}:", *lines]) + "\n"


def write(root: Path, paper: str, columns: str, *rows: str, readings: str = "") -> None:
    """Write a paper of one table under `root/specs`."""
    folder = root / "specs" / paper
    folder.mkdir(parents=True)
    about = f"paper: {paper}\nabout:\n  title: The paper {paper}\n  authors: An author\n  version: v1\n"
    table = (
        f'paper: {paper}\ntable: "1"\ntitle: Models\nsource: {{section: "1"}}\ncolumns:\n  {columns}\nrows:\n'
        + "".join(f"  - {row}\n" for row in rows)
    )
    (folder / "paper.yaml").write_text(about + (f"  readings:\n{readings}" if readings else ""), encoding="utf-8")
    (folder / "table1.yaml").write_text(table, encoding="utf-8")


def write_all(root: Path) -> Path:
    """Write a paper for each way a run can end."""
    base = f"{{id: base, label: DeiT-Ti, model: {DEIT}, printed: {{params: 5.72}}}}"
    write(root, "clean", PARAMS, base)
    write(root, "scores", TOP1, "{id: a, label: A, printed: {top1: 72.2}}")
    write(
        root,
        "findings",  # 20.0 is 100 % more than 10.0, not 50 %
        TOP1,
        "{id: a, label: A, printed: {top1: 10.0}}",
        "{id: b, label: B, baseline: a, printed: {top1: 20.0}, delta: {top1: 50%}}",
    )
    write(root, "changes", TOP1, "{id: a, label: A, printed: {top1: 10.0}}",
          "{id: b, label: B, baseline: a, printed: {top1: 20.0}, delta: {top1: 100%}}")  # fmt: skip
    write(
        root,
        "imlp_row",
        PARAMS,
        base,
        f"{{id: block, label: + IMLP, baseline: base, model: {IMLP}, printed: {{params: 1.00}}}}",
        readings=_reading("as_written") + _reading("lean", fc2_bias="no"),
    )
    write(
        root,
        "broken",
        PARAMS,
        base,
        "{id: typo, label: A typo, model: {timm: deit_tiny_patch16_22}, printed: {params: 5.72}}",
        "{id: no_mlp, label: ResNet, model: {timm: resnet18, mlp: {imlp: {ratio: 2}}}, printed: {params: 11.69}}",
        "{id: wrong, label: Wrong, model: {torchvision: alexnet}, printed: {params: 6.00}}",
        readings=_reading("as_written"),
    )
    return root
