"""What was found, as a document: complete, aligned, and safe in a terminal and in markdown."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from imlp_audit.inspect.document import inspection_document
from imlp_audit.models.imlp import amlp
from imlp_audit.records.inspection import Inspection
from imlp_audit.report.document import Document, Heading, Picture, Table, plain_text
from imlp_audit.report.formats import Surface
from imlp_audit.report.markdown import render_markdown
from imlp_audit.report.terminal import render_terminal

from .judging import inspect_and_judge, inspect_weights
from .planted import resmlp, spike, stem, toeplitz


@pytest.fixture(scope="module")
def inspection() -> Inspection:
    torch.manual_seed(0)
    imlp = {f"blocks.{at}.mlp.{n}": v for at in (0, 1) for n, v in amlp(3, 4).state_dict().items()}
    gate = {"g.sgu.proj.weight": torch.from_numpy(toeplitz(9, seed=0))}
    return inspect_and_judge(resmlp([spike(9, own=2, seed=at) for at in range(4)]) | imlp | gate | stem())


def cells(document: Document) -> list[str]:
    return [plain_text(cell) for block in document if isinstance(block, Table) for row in block.rows for cell in row]


def test_every_part_has_a_section(inspection: Inspection) -> None:
    document = inspection_document(inspection, {"a.png": "rows"})
    headings = [plain_text(block.text) for block in document if isinstance(block, Heading)]
    assert headings == [
        "What the weights show",
        "What papers say about learned weights",
        "AGeLUs",
        "How steep the modules are",
        "How patches are mixed",
        "Spatial gating units",
    ]
    assert Picture("a.png", "rows") in document
    words = " ".join(render_terminal(document, Surface()).split())
    for statement in inspection.statements:
        for word in (statement.id, statement.verdict.value, statement.measured, statement.judged):
            assert " ".join(word.split()) in words
        assert statement.reason in cells(document)


def test_a_row_of_a_layer_is_below_its_columns(inspection: Inspection) -> None:
    (table,) = [b for b in inspection_document(inspection, {}) if isinstance(b, Table) and "spike" in b.header]
    row = [plain_text(cell) for cell in table.rows[3]]
    assert row[0] == "blocks.3"
    assert row[table.header.index("local")] == f"{inspection.cross_patch[3].pattern.local:.3g}"  # type: ignore[union-attr]


def test_a_rounded_bound_is_still_a_bound() -> None:
    state = amlp(1, 1).state_dict() | {"fc1.weight": torch.ones(1, 1), "fc2.weight": torch.tensor([[1.0, 0.0]])}
    one = inspect_weights(state)
    assert one.blocks[0].norms == pytest.approx(1.1289, abs=1e-4)
    assert "1.13" in cells(inspection_document(one, {}))
    wide = inspect_weights(state | {"fc2.weight": torch.tensor([[1.002, 0.0]])})
    assert wide.blocks[0].norms == pytest.approx(1.1311, abs=1e-4)
    assert "1.14" in cells(inspection_document(wide, {}))  # 1.131 to three digits is 1.13, which it is not below


def test_a_state_without_parts_has_nothing_to_show() -> None:
    assert inspect_weights({"head.weight": torch.ones(2, 2)}) == inspect_weights({}) == Inspection()


def test_names_and_notes_cannot_break_markdown() -> None:
    state = {f"a|b`<x>.{at}.linear_tokens.weight": torch.from_numpy(np.eye(4)) for at in range(2)}
    for at in range(2):
        state |= {f"a|b`<x>.{at}.mlp_channels.fc{i}.weight": torch.ones(2, 2) for i in (1, 2)}
    state["a|b`<x>.1.mlp_channels.fc1.weight"] = torch.tensor([[float("nan"), 1.0]])
    document = inspection_document(inspect_weights(state), {})
    markdown = render_markdown(document).splitlines()
    assert any("a\\|b" in line for line in markdown if line.startswith("| "))
    assert not any("<x>.1 is left out" in line for line in markdown)
    assert "note  a|b`<x>.1 is left out" in render_terminal(document, Surface())


def test_the_record_goes_through_json(inspection: Inspection) -> None:
    assert Inspection.model_validate_json(inspection.model_dump_json()) == inspection
