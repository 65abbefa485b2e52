"""Drafts of small tables whose cells stand between bars."""

from __future__ import annotations

from imlp_audit.transcribe.draft import Draft, draft_table
from imlp_audit.transcribe.grid import SourceRow, SpanningCell, make_table


def table(*lines: str, caption: str = "Results on ImageNet-1k", title: str = "") -> Draft:
    """Read a table, the first of whose lines are the headings."""
    rows = [SourceRow(n, tuple(SpanningCell(cell.strip()) for cell in line.split("|"))) for n, line in enumerate(lines)]
    return draft_table(make_table("1", caption, rows, "x.tex", 1), title)


def candidates(*labels: str, caption: str = "Results on ImageNet-1k", title: str = "") -> list[tuple[str, ...]]:
    """Return the candidates of rows with these labels."""
    draft = table(
        "Model | Params (M)", *(f"{label} | 5.{n}" for n, label in enumerate(labels)), caption=caption, title=title
    )
    return [row.proposal.recipes for row in draft.rows]


def named(*lines: str, caption: str = "Results on ImageNet-1k") -> list[bool]:
    """Return whether the labels of a table, or of rows with these labels, are exactly one model's name."""
    lines = lines if "|" in lines[0] else ("Model | Params (M)", *(f"{label} | 5.{n}" for n, label in enumerate(lines)))
    return [row.proposal.named for row in table(*lines, caption=caption).rows]
