"""What was found, as a document: complete, and safe in a terminal and in markdown."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from imlp_audit.inspect.document import describe_weights
from imlp_audit.models.imlp import amlp
from imlp_audit.records.checkpoint import Inspection
from imlp_audit.report.document import Document, Heading, Table, plain_text
from imlp_audit.report.markdown import render_markdown
from imlp_audit.report.terminal import Surface, render_terminal

from .judging import State, judge
from .planted import resmlp, spike, stem, toeplitz


def gate(tokens: int) -> dict[str, Tensor]:
    return {"g.sgu.proj.weight": torch.from_numpy(toeplitz(tokens, seed=0))}


def inspect_state(state: State) -> Inspection:
    return Inspection(statements=tuple(judge(state).values()))


@pytest.fixture(scope="module")
def inspection() -> Inspection:
    imlp = {f"blocks.{at}.mlp.{n}": v for at in (0, 1) for n, v in amlp(3, 4).state_dict().items()}
    return inspect_state(resmlp([spike(9, own=2, seed=at) for at in range(4)]) | imlp | gate(9) | stem())


def cells(document: Document) -> list[str]:
    return [plain_text(cell) for block in document if isinstance(block, Table) for row in block.rows for cell in row]


def test_every_sentence_is_shown(inspection: Inspection) -> None:
    document = tuple(describe_weights(inspection))
    headings = [plain_text(block.text) for block in document if isinstance(block, Heading)]
    assert headings == [
        "What the weights show",
        "What papers say about learned weights",
    ]
    shown = " ".join(render_terminal(document, Surface()).split())
    for statement in inspection.statements:
        for word in (statement.id, statement.verdict.value, statement.measured, statement.judged):
            assert " ".join(word.split()) in shown
        assert statement.reason in cells(document)


def test_names_cannot_break_markdown() -> None:
    state = {f"a|b`<x>.{name}": value for name, value in resmlp([np.full((4, 4), np.nan)] * 4).items()}
    markdown = render_markdown(tuple(describe_weights(inspect_state(stem() | state)))).splitlines()
    assert any("a\\|b" in line for line in markdown if line.startswith("| "))


def test_the_record_goes_through_json(inspection: Inspection) -> None:
    assert Inspection.model_validate_json(inspection.model_dump_json()) == inspection
    assert inspect_state({"head.weight": torch.ones(2, 2)}) == Inspection()
