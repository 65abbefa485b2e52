"""What is left of a spec without its mistakes, by which the rest of it is judged."""

from __future__ import annotations

import pytest

from imlp_audit.errors import Problem
from imlp_audit.spec.parse_yaml import parse_tree
from imlp_audit.spec.tree import Node, Path, follows, plain, prune

ROWS = "[{id: a, model: x, printed: {p: 1, q: 2}, delta: {p: 3}}, {id: b}]"
WHOLE = f"tables: [{{rows: {ROWS}, title: T}}]\nabout: {{rounding: [up, down], title: S, fitted: {{flops: [x, y]}}}}"
ABOUT = {"rounding": ["up", "down"], "title": "S", "fitted": {"flops": ["x", "y"]}}
A = {"id": "a", "model": "x", "printed": {"p": "1", "q": "2"}, "delta": {"p": "3"}}
B = {"id": "b"}


@pytest.mark.parametrize(
    ("path", "rows"),
    [
        (("model",), [B]),  # without its model a row would be another row
        (("model", "timm"), [B]),
        ((), [B]),
        (("printed", "p"), [{**A, "printed": {"q": "2"}}, B]),
        (("delta", "p"), [{**A, "delta": {}}, B]),
        (("printed", "r"), [{key: value for key, value in A.items() if key != "printed"}, B]),  # what is not there
    ],
)
def test_a_row_goes_as_a_whole_but_its_numbers_one_by_one(path: Path, rows: list[object]) -> None:
    tree, _ = prune(_parse(WHOLE), [("tables", 0, "rows", 0, *path)])
    assert tree is not None
    assert plain(tree) == {"tables": [{"rows": rows, "title": "T"}], "about": ABOUT}


@pytest.mark.parametrize(
    ("path", "about"),
    [
        (("title",), {key: value for key, value in ABOUT.items() if key != "title"}),
        (
            ("rounding", 1),
            {key: value for key, value in ABOUT.items() if key != "rounding"},
        ),  # the first is the default
        (("fitted", "flops", 1), {**ABOUT, "fitted": {}}),
    ],
)
def test_a_value_outside_of_entries_goes_alone_but_a_list_as_a_whole(path: Path, about: object) -> None:
    tree, _ = prune(_parse(WHOLE), [("about", *path)])
    assert tree is not None
    assert plain(tree) == {"tables": [{"rows": [A, B], "title": "T"}], "about": about}


@pytest.mark.parametrize("path", [(), ("missing",), ("missing", "key")])
def test_nothing_is_left_where_the_whole_is_wrong(path: Path) -> None:
    tree, lost = prune(_parse("a: {id: x}"), [path])
    assert tree is None
    assert lost == {"a", "id", "x"}


def test_a_problem_follows_if_it_names_what_was_taken_out() -> None:
    _, lost = prune(_parse(WHOLE), [("tables", 0, "rows", 0)])
    for message, expected in (
        ("no row 'p/1/a'", True),
        ("no row 'a'; did you mean 'b'?", True),
        ("no row 'c'; did you mean 'a'?", False),
        ("the table has no column 'q'", True),
        ("no row a", False),
        ("no model '3'", False),  # a value that nothing refers to
        ("no table '0'", False),  # nor is a place in a list a name
    ):
        assert follows(Problem("p.yaml", 1, 1, message), lost) is expected


def _parse(text: str) -> Node:
    tree, problems = parse_tree(text, "p.yaml")
    assert tree is not None
    assert problems == []
    return tree
