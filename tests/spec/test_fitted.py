"""What a spec says of a fitted convention, and where it is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from imlp_audit.errors import Problem, SpecError
from tests.checks.papers import Spec, write

ROW = "{id: a, label: A, model: {timm: resnet18}, printed: {%s}}"
ABOUT = (
    "flops: [{0}]\n  conventions: {{mine: {{linear: 1}}}}\n"
    "  fitted: {{mine: {{cells: [p/1/a/flops], explained: 1, of: {1}, by_chance: 0}}}}"
)


def problem(root: Path, flops: str, of: int, printed: str = "flops: 1.82") -> Problem:
    with pytest.raises(SpecError) as caught:
        write(root, Spec((ROW % printed,), about=ABOUT.format(flops, of)))
    (found,) = caught.value.problems
    return found


def test_a_fitted_convention_as_the_default_is_refused_where_it_stands(tmp_path: Path) -> None:
    found = problem(tmp_path, "mine, macs", 1)
    assert found.message == "mine was fitted and cannot be the default; put a named counter first, such as fvcore"
    assert (found.line, found.column) == (6, len("  flops: [") + 1)


@pytest.mark.parametrize(
    ("of", "printed", "sizes"),
    [(2, "flops: 1.82", ""), (3, "flops: 1.82, params: 11.7", ", or up to 2 with the paper's sizes")],
)
def test_no_more_cells_than_there_are_were_fitted_on(tmp_path: Path, of: int, printed: str, sizes: str) -> None:
    write(tmp_path / "all", Spec((ROW % printed,), about=ABOUT.format("macs, mine", of - 1)))
    found = problem(tmp_path / "more", "macs, mine", of, printed)
    assert found.message == f"of is {of}, but the globs match 1 cell that this counter may have counted{sizes}"
