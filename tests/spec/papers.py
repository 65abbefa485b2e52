"""Small papers, written to a folder for a test."""

from __future__ import annotations

from pathlib import Path

TABLE = """\
paper: {paper}
table: "{table}"
title: A table
source: {{section: "1"}}
columns:
  params: {{measure: parameters, unit: M, heading: Parameters (M)}}
rows:
  - {{id: deit_ti, label: DeiT-Ti, model: {{timm: deit_tiny_patch16_224}}, printed: {{params: 5.72}}{more}}}
"""


def about(paper: str) -> str:
    return f"paper: {paper}\nabout: {{title: A title, authors: An author, version: v1}}\n"


def write_paper(root: Path, paper: str, tables: tuple[str, ...] = ("1",), more: str = "") -> Path:
    """Write a paper's folder: what it is, and tables of one row; `more` is added to each row."""
    folder = root / paper
    folder.mkdir(parents=True)
    (folder / "paper.yaml").write_text(about(paper), encoding="utf-8")
    for table in tables:
        text = TABLE.format(paper=paper, table=table, more=more)
        (folder / f"table{table}.yaml").write_text(text, encoding="utf-8")
    return folder
