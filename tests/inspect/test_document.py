"""What was found, as a document and as pictures: complete, safe in a terminal and in markdown, the same each time."""

from __future__ import annotations

from io import BytesIO
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pytest
import torch
from matplotlib.image import imread
from torch import Tensor

from imlp_audit.inspect.document import inspection_document
from imlp_audit.inspect.pictures import Drawing, draw, shorten
from imlp_audit.models.imlp import amlp
from imlp_audit.records.checkpoint import Inspection
from imlp_audit.report.document import Document, Heading, Picture, Table, plain_text
from imlp_audit.report.markdown import render_markdown
from imlp_audit.report.terminal import render_terminal
from imlp_audit.report.text import Surface

from .judging import State, inspect_state
from .planted import resmlp, spike, stem, toeplitz

LABEL = "mine.pth, SHA-256 0123456789abcdef"


def gate(tokens: int) -> dict[str, Tensor]:
    return {"g.sgu.proj.weight": torch.from_numpy(toeplitz(tokens, seed=0))}


@pytest.fixture(scope="module")
def inspection() -> Inspection:
    imlp = {f"blocks.{at}.mlp.{n}": v for at in (0, 1) for n, v in amlp(3, 4).state_dict().items()}
    return inspect_state(resmlp([spike(9, own=2, seed=at) for at in range(4)]) | imlp | gate(9) | stem())[0]


def drawn(state: State) -> dict[str, Drawing]:
    found, images = inspect_state(state)
    return {one.file: one for one in draw(found.statements, images, LABEL)}


def words(drawing: Drawing) -> str:
    return " ".join(text for text in ElementTree.fromstring(drawing.content).itertext())


def cells(document: Document) -> list[str]:
    return [plain_text(cell) for block in document if isinstance(block, Table) for row in block.rows for cell in row]


def test_every_sentence_and_what_it_is_judged_by_is_shown(inspection: Inspection) -> None:
    document = inspection_document(inspection, {"a.png": "rows"})
    headings = [plain_text(block.text) for block in document if isinstance(block, Heading)]
    by = "What the sentences of {} are judged by"
    assert headings == [
        "What the weights show",
        "What papers say about learned weights",
        *(by.format(paper) for paper in ("imlp", "mixer_gmlp_coursework", "resmlp")),
    ]
    assert Picture("a.png", "rows") in document
    shown = " ".join(render_terminal(document, Surface()).split())
    for statement in inspection.statements:
        for word in (statement.id, statement.verdict.value, statement.measured, statement.judged):
            assert " ".join(word.split()) in shown
        assert statement.reason in cells(document)
    (table,) = [block for block in document if isinstance(block, Table) and "spike" in block.header]
    row = [plain_text(cell) for cell in table.rows[3]]
    local = next(one for one in inspection.statements if one.id == "early_layers_are_local").values["local"][3]
    assert (row[0], row[table.header.index("local")]) == ("blocks.3", f"{local:.3g}")


def test_names_cannot_break_markdown() -> None:
    state = {f"a|b`<x>.{name}": value for name, value in resmlp([np.eye(4)] * 4).items()}
    markdown = render_markdown(inspection_document(inspect_state(stem() | state)[0], {})).splitlines()
    assert any("a\\|b" in line for line in markdown if line.startswith("| "))


def test_the_record_goes_through_json(inspection: Inspection) -> None:
    assert Inspection.model_validate_json(inspection.model_dump_json()) == inspection
    assert inspect_state({"head.weight": torch.ones(2, 2)}) == (Inspection(), [])


def test_resmlp_has_pictures_of_rows_and_of_what_was_measured() -> None:
    found = drawn(resmlp([spike(9, own=3, seed=at) for at in range(4)]))
    assert list(found) == ["resmlp_by_layer.svg", "resmlp_cross_patch_rows.png"]
    told = words(found["resmlp_by_layer.svg"])
    assert all(word in told for word in ("a_is_sparser_than_b_and_c", "layer", "local", "A", "B", "C", LABEL))
    pixels = imread(BytesIO(found["resmlp_cross_patch_rows.png"].content))
    assert pixels.shape[0] > 300
    assert pixels.std() > 0.05


def test_gmlp_has_pictures_of_its_gates_and_what_cannot_be_measured_has_none() -> None:
    assert list(drawn(gate(9))) == ["mixer_gmlp_coursework_by_layer.svg", "mixer_gmlp_coursework_gates.png"]
    assert list(drawn(resmlp([np.eye(8)] * 4))) == ["resmlp_by_layer.svg"]
    assert drawn({}) == {}


@pytest.mark.slow
def test_many_layers_take_several_pages() -> None:
    files = list(drawn(resmlp([spike(2, own=1, seed=at) for at in range(13)], width=1)))
    assert files[1:] == ["resmlp_cross_patch_rows.png", "resmlp_cross_patch_rows_2.png"]


@pytest.mark.slow
def test_the_same_weights_give_the_same_bytes_whatever_the_users_style() -> None:
    state = resmlp([spike(4, own=3, seed=0)] * 4) | gate(9)
    once = drawn(state)
    with mpl.rc_context({"axes.facecolor": "black", "font.size": 20, "svg.fonttype": "path"}):
        assert drawn(state) == once
        assert mpl.rcParams["font.size"] == 20
    zeros = {name: torch.zeros_like(value) for name, value in state.items()}
    assert drawn(zeros).keys() == once.keys()


def test_titles_are_shortened_and_dollars_in_names_are_not_formulas() -> None:
    assert all(len(shorten(name)) <= 26 and shorten(name)[-1] == name[-1] for name in ("a", "x" * 300))
    state = {f"a$\\frac{{$.{name}": value for name, value in resmlp([np.eye(4)] * 4).items()}
    assert len(drawn(stem() | state)) == 2
