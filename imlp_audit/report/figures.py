"""Figures as SVG, drawn by matplotlib."""

from __future__ import annotations

import hashlib
import re
from io import BytesIO

from imlp_audit.result import AuditResult, Figure

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


def figures(result: AuditResult) -> dict[str, str]:
    """Return the figures of a result as SVG, by the names of their files."""
    return {figure_file(check.id): _svg(check.figure) for check in result.checks if check.figure is not None}


def figure_file(check_id: str) -> str:
    """Return the name of the file that the figure of a check is kept in."""
    return f"{check_id.replace('/', '-')}.svg"


def same_figure(one: str, other: str) -> bool:
    """Say whether two drawings are of the same data: releases of matplotlib may draw it with other bytes."""
    return _DIGEST.findall(one) == _DIGEST.findall(other)


def _svg(figure: Figure) -> str:
    import matplotlib as mpl
    from matplotlib.figure import Figure as Canvas  # no pyplot: no windows, no state

    with mpl.rc_context({"svg.hashsalt": "imlp-audit", "svg.fonttype": "none", "font.size": 9}):
        canvas = Canvas(figsize=(6.4, 4.0), layout="constrained")
        axes = canvas.subplots()
        for curve in figure.curves:
            axes.plot(figure.x, curve.y, label=curve.label, linewidth=1.4)
        for label, height in figure.levels:
            axes.axhline(height, color="0.45", linewidth=0.8, linestyle="--")
            axes.annotate(
                label, (1, height), xycoords=("axes fraction", "data"),
                xytext=(4, 0), textcoords="offset points", va="center", color="0.3",
            )  # fmt: skip
        axes.set(title=figure.title, xlabel=figure.x_label, ylabel=figure.y_label)
        axes.grid(alpha=0.25)
        canvas.legend(loc="outside lower center", ncols=2, frameon=False)
        out = BytesIO()
        digest = hashlib.sha256(figure.model_dump_json().encode()).hexdigest()
        metadata = {"Date": None, "Creator": None, "Description": f"sha256:{digest}"}
        canvas.savefig(out, format="svg", metadata=metadata)
    return out.getvalue().decode()
