"""What was found, in words: whole, aligned, and safe in a terminal and in markdown."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from imlp_audit.inspect.telling import as_markdown, as_text, escaped
from imlp_audit.inspect.weights import look
from imlp_audit.models.imlp import amlp
from imlp_audit.records.inspection import Inspection

from .planted import resmlp, spike, stem, toeplitz


@pytest.fixture(scope="module")
def inspection() -> Inspection:
    torch.manual_seed(0)
    imlp = {f"blocks.{at}.mlp.{n}": v for at in (0, 1) for n, v in amlp(3, 4).state_dict().items()}
    gate = {"g.sgu.proj.weight": torch.from_numpy(toeplitz(9, seed=0))}
    return look(resmlp([spike(9, own=2, seed=at) for at in range(4)]) | imlp | gate | stem())


def test_every_part_is_told(inspection: Inspection) -> None:
    text, markdown = as_text(inspection), "\n".join(as_markdown(inspection, {"a.png": "rows"}))
    for one in (text, markdown):
        for word in ("AGeLUs", "How steep the modules are", "What mixes patches", "Spatial gating units"):
            assert word in one
    for statement in inspection.statements:
        for word in (statement.id, statement.verdict.value, statement.reason, statement.sentence):
            assert " ".join(word.split()) in " ".join(text.split())
        assert f"- `{statement.id}`: {escaped(statement.measured)}. True if: {escaped(statement.judged)}" in markdown
    assert "![rows](a.png)" in markdown


def test_lines_of_a_terminal_are_readable(inspection: Inspection) -> None:
    lines = as_text(inspection).splitlines()
    assert max(map(len, lines)) <= 160
    (header,) = [line for line in lines if line.startswith("  layer") and "spike" in line]
    (row,) = [line for line in lines if line.startswith("  blocks.3 ")]
    assert header.index("local") == row.index(f"{inspection.cross_patch[3].pattern.local:.3g}")  # type: ignore[union-attr]


def test_tables_of_markdown_have_as_many_cells_as_headings(inspection: Inspection) -> None:
    widths = [line.replace("\\|", "").count("|") for line in as_markdown(inspection, {}) if line.startswith("|")]
    groups = [line.count(" --- ") + 1 for line in as_markdown(inspection, {}) if line.startswith("| ---")]
    assert sorted(set(widths)) == sorted(set(groups))


def test_bounds_are_written_as_bounds() -> None:
    state = amlp(1, 1).state_dict() | {"fc1.weight": torch.ones(1, 1), "fc2.weight": torch.tensor([[1.0, 0.0]])}
    (block,) = look(state).blocks
    assert block.norms == pytest.approx(1.1289, abs=1e-4)
    assert "1.13" in as_text(look(state))
    wide = look(amlp(1, 1).state_dict() | {"fc1.weight": torch.ones(1, 1), "fc2.weight": torch.tensor([[1.002, 0.0]])})
    assert wide.blocks[0].norms == pytest.approx(1.1311, abs=1e-4)
    assert "1.14" in as_text(wide)  # 1.131 to three digits is 1.13, which it is not below


def test_nothing_is_told_of_nothing() -> None:
    assert as_text(look({"head.weight": torch.ones(2, 2)})) == ""
    assert look({}) == Inspection()


def test_names_and_notes_cannot_break_markdown() -> None:
    state = {f"a|b`<x>.{at}.linear_tokens.weight": torch.from_numpy(np.eye(4)) for at in range(2)}
    for at in range(2):
        state |= {f"a|b`<x>.{at}.mlp_channels.fc{i}.weight": torch.ones(2, 2) for i in (1, 2)}
    state["a|b`<x>.1.mlp_channels.fc1.weight"] = torch.tensor([[float("nan"), 1.0]])
    markdown = list(as_markdown(look(state), {}))
    assert any(line.startswith("| `a\\|b'<x>.0` |") for line in markdown)
    assert any(line.startswith("- note: a\\|b'&lt;x&gt;.1 is left out") for line in markdown)


def test_the_record_goes_through_json(inspection: Inspection) -> None:
    assert Inspection.model_validate_json(inspection.model_dump_json()) == inspection
