"""The part of a paper that ids and files name."""

from __future__ import annotations

import pytest

from imlp_audit.spec.targets import WHOLE, SelectedPart


@pytest.mark.parametrize(
    ("target", "touched"),
    [
        ("p/1", True),
        ("p/1/a", True),
        ("p/*/a", True),
        ("p/1/a/params", True),  # a cell of the row
        ("p/1/?/params", True),
        ("p/1/b/params", False),
        ("p/2/a/params", False),
        ("p/1/aa", False),
        ("q/1/a", False),
    ],
)
def test_a_row_is_touched_by_what_names_it_or_a_cell_of_it(target: str, touched: bool) -> None:
    assert SelectedPart(ids=frozenset({target})).touches_row("p/1/a", "p.yaml") is touched


def test_a_file_touches_all_of_its_rows_and_no_part_every_row() -> None:
    part = SelectedPart(files=frozenset({"p.yaml"}))
    assert part.touches_row("p/1/a", "p.yaml")
    assert not part.touches_row("p/1/a", "q.yaml")
    assert WHOLE.touches_row("p/1/a", "q.yaml")
    assert (part | WHOLE) == WHOLE
    both = part | SelectedPart(ids=frozenset({"p/2"}))
    assert both.touches_row("p/2/a", "q.yaml")
    assert not both.touches_row("p/3/a", "q.yaml")
