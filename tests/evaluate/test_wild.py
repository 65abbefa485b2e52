"""Checkpoints as people have them: each is loaded to the bit, or refused with what to do; the docs say which."""

from __future__ import annotations

from pathlib import Path

import pytest
from torch import nn

from imlp_audit.spec.load import Selection
from imlp_audit.spec.paper import RowRef

from .wild import PAGE, WILD, find_fate, prepare

pytestmark = pytest.mark.filterwarnings("ignore")  # of TorchScript torch says that it will go


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> tuple[RowRef, Selection, nn.Module]:
    return prepare(tmp_path_factory.mktemp("spec"))


@pytest.mark.daily(6)
@pytest.mark.parametrize("layout", WILD)
def test_the_page_says_what_becomes_of_it(
    tmp_path: Path, prepared: tuple[RowRef, Selection, nn.Module], layout: str
) -> None:
    line = str(find_fate(layout, tmp_path, *prepared))
    assert line in PAGE.read_text(encoding="utf-8"), "python -m tests.evaluate.wild writes it"


def test_the_page_lists_no_other() -> None:
    text = PAGE.read_text(encoding="utf-8").partition("\n## With the publishers' code")[0]
    lines = [line for line in text.splitlines() if line.count(" | ") == 2]
    assert len(lines) == len(WILD) + 2
