"""`report --figures`: the figures of a report, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .running import call


def audited(rows: int) -> str:
    """A JSON result with a table of so many rows, each with its parameters."""
    names = [f"r{at}" for at in range(rows)]
    column = {"id": "params", "heading": "Parameters (M)", "unit": "M", "measure": "parameters"}
    table = {"id": "1", "title": "T", "columns": [column], "rows": [{"id": name, "label": name} for name in names]}
    paper = {
        "id": "p", "title": "T", "authors": "A", "version": "v", "tables": [table], "rounding": ["half_up"],
        "parameters": ["all"], "flops": ["macs"], "readings": [],
    }  # fmt: skip
    checks = [
        {
            "id": f"p/1/{name}/params", "kind": "cell", "verdict": "reproduced", "reason": "it lies in it",
            "source": {"file": "p.yaml", "line": 1}, "printed": "5.7", "measured": "5710000",
            "interval": ["5650000", "5750000"],
        }
        for name in names
    ]  # fmt: skip
    return json.dumps({"format": "imlp-audit/3", "versions": {}, "papers": [paper], "checks": checks})


def test_the_figures_alone_are_written_into_a_folder_that_is_made(here: Path) -> None:
    (here / "a.json").write_text(audited(4), encoding="utf-8")
    done = call("report", "--from", "a.json", "--figures", "new/d")
    assert (done.code, done.out) == (0, "")
    assert done.err == "wrote new/d/p-printed-against-measured.svg\n"
    (drawn,) = (here / "new/d").iterdir()
    assert call("report", "--from", "a.json", "--dir", "whole").code == 0
    assert drawn.read_bytes() == (here / "whole" / drawn.name).read_bytes()
    assert f"]({drawn.name})" in (here / "whole/p.md").read_text(encoding="utf-8")


def test_a_paper_without_figures_is_told_so(here: Path) -> None:
    (here / "a.json").write_text(audited(1), encoding="utf-8")
    done = call("report", "--from", "a.json", "--figures", "d")
    assert (done.code, done.out) == (2, "")
    assert "none of their tables or equations can be drawn" in done.err


@pytest.mark.parametrize("more", [("--dir", "d"), ("-f", "html"), ("-o", "r.md"), ("--with", "a.json")])
def test_figures_are_written_alone(here: Path, more: tuple[str, str]) -> None:
    (here / "a.json").write_text(audited(4), encoding="utf-8")
    done = call("report", "--from", "a.json", "--figures", "f", *more)
    assert (done.code, done.out) == (2, "")
    assert "--figures writes figures alone" in done.err
    assert not (here / "f").exists()
