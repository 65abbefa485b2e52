"""`lint --fix` changes the layout of a spec and nothing that it says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from imlp_audit.spec import format as layout
from imlp_audit.spec.format import format_spec
from imlp_audit.spec.parse_yaml import parse_tree
from imlp_audit.spec.tree import plain
from tests.bundled import bundled_papers

BEFORE = """\
paper: a   \r
columns:
    params: {  measure: parameters ,unit:  M,heading : "P, (M)" }


    # what the next line says
    flops:   {measure: flops}  # as printed
rows:
# the first
-   id: x
    why: >-
        folded   text

        in two parts
    printed: {params: 5.00,
              flops: [ 1,2 ]}
- id: y
# the end"""
AFTER = """\
paper: a
columns:
  params: {measure: parameters, unit: M, heading: "P, (M)"}

  # what the next line says
  flops: {measure: flops}  # as printed
rows:
  # the first
  - id: x
    why: >-
        folded   text

        in two parts
    printed: {params: 5.00,
              flops: [1, 2]}
  - id: y
  # the end
"""


def test_a_file_gets_the_usual_layout() -> None:
    assert format_spec(BEFORE) == AFTER


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a:\n    b: 1\n    # c\nd: 2\n", "a:\n  b: 1\n  # c\nd: 2\n"),  # in the column of the line above
        ("a:\n    b: 1\n# c\nd: 2\n", "a:\n  b: 1\n# c\nd: 2\n"),  # of the line below
        ("a:\n    b: 1\n  # c\nd: 2\n", "a:\n  b: 1\n# c\nd: 2\n"),  # of neither, but further in than the line below
        ("a:\n    b:\n        d: 1\n   # c\n    e: 2\n", "a:\n  b:\n    d: 1\n # c\n  e: 2\n"),  # not as far in
        ("a:\n # c\n    b: 1\n", "a:\n# c\n  b: 1\n"),
        ("a:\n      # c\n    b:\n        d: 2\n", "a:\n      # c\n  b:\n    d: 2\n"),
        ("a:\n    b: 1\n  # c\n", "a:\n  b: 1\n  # c\n"),  # nothing is below it
        ("  # c\na: 1\n", "  # c\na: 1\n"),  # nothing is above it
        ("    # c\na:\n    b: 1\n", "    # c\na:\n  b: 1\n"),  # and the last line is not
        ("a:\n    b: {c: 1,  # c\n        d: 2}\n", "a:\n  b: {c: 1,  # c\n      d: 2}\n"),  # with its braces
        ("{a: 1,  # c\n b: 2}\n", "{a: 1,  # c\n b: 2}\n"),
        ("  {a: 1}\n", "  {a: 1}\n"),  # braces stay where they are
    ],
)
def test_a_comment_goes_with_the_line_that_it_stands_by(before: str, after: str) -> None:
    assert format_spec(before) == after


@pytest.mark.parametrize("mark", ["|", ">", "|-", ">+"])
@pytest.mark.parametrize("tail", ["", "c: 1\n", "# the end\n"])
def test_a_text_moves_with_its_key_and_keeps_its_lines(mark: str, tail: str) -> None:
    """Inside a text a `#` begins no comment, and further indents, empty lines and spaces at an end are part of it."""
    text = ("x", "  # part of it", "", "", "y  ")
    before, after = ("\n".join(f"{' ' * indent}{line}" if line else "" for line in text) for indent in (8, 6))
    head = "z: 1\na:\n{}b: {}\n{}\n{}"
    assert format_spec(head.format("    ", mark, before, tail)) == head.format("  ", mark, after, tail)


def test_the_line_below_a_text_is_no_part_of_it() -> None:
    assert format_spec("a:\n    b: |\n        x\nc: 1  \n") == "a:\n  b: |\n      x\nc: 1\n"


def test_a_layout_that_would_lose_a_comment_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever slips, a spec says the same afterwards."""
    whole = layout._join
    for slip in (lambda text: text.replace("# as printed", ""), lambda text: text.replace("5.00", "5.0")):
        with monkeypatch.context() as patch:
            patch.setattr(layout, "_join", lambda *given, slip=slip: slip(whole(*given)))
            assert format_spec(BEFORE) == BEFORE


@dataclass(frozen=True)
class Style:
    """How a tree is written."""

    step: int  # columns a level
    listed: bool  # lists are indented below their key
    dash: int  # spaces behind a dash
    space: str  # inside braces
    end: str  # of a line


STYLES = st.builds(
    Style, st.integers(1, 4), st.booleans(), st.integers(1, 3), st.sampled_from(["", " ", "  "]),
    st.sampled_from(["\n", "  \n", "\r\n", "\n\n\n"]),
)  # fmt: skip
TEXTS = st.sampled_from(["5.00", "-12.6%", '"a, b"', "'it''s # no comment'", "Swin-T × 2", '"a \\n b"', "x y", "1:2"])
KEYS = st.sampled_from(["id", "printed", "model", "é", "a b"])
FLOW = st.recursive(TEXTS, lambda inner: st.dictionaries(KEYS, inner) | st.lists(inner, max_size=3), max_leaves=5)
TREES = st.recursive(
    st.tuples(st.just("flow"), FLOW),
    lambda inner: st.dictionaries(KEYS, inner, min_size=1) | st.lists(inner, min_size=1, max_size=3),
    max_leaves=10,
)
Tree = object


def _flow(value: Tree, space: str) -> str:
    if isinstance(value, dict):
        return "{" + space + f"{space}, ".join(f"{k}: {space}{_flow(v, space)}" for k, v in value.items()) + space + "}"
    if isinstance(value, list):
        return "[" + space + f",{space} ".join(_flow(one, space) for one in value) + space + "]"
    return str(value)


def _block(value: Tree, style: Style, column: int) -> Iterator[str]:
    """Yield the lines of a tree; the first has no indentation."""
    if isinstance(value, tuple):
        yield _flow(value[1], style.space)
        return
    for at, (key, inner) in enumerate(value.items() if isinstance(value, dict) else ((None, v) for v in value)):  # type: ignore[attr-defined]
        pad = " " * column if at else ""
        if key is None:
            first, *rest = _block(inner, style, column + 1 + style.dash)
            yield f"{pad}-{' ' * style.dash}{first}"
            yield from rest
            continue
        if isinstance(inner, tuple):
            yield f"{pad}{key}:{' ' * style.dash}{_flow(inner[1], style.space)} # of {key}"
            continue
        below = column + (style.step if isinstance(inner, dict) or style.listed else 0)
        yield f"{pad}{key}:"
        yield f"{' ' * below}# {key} #{at}"
        first, *rest = _block(inner, style, below)
        yield " " * below + first
        yield from rest


@settings(max_examples=15, deadline=None)
@given(st.dictionaries(KEYS, TREES, min_size=1), STYLES, STYLES)
def test_a_tree_that_is_written_in_two_ways_gets_one_layout(tree: dict[str, Tree], one: Style, other: Style) -> None:
    texts = [style.end.join([*_block(tree, style, 0), ""]) for style in (one, other)]
    for text in texts:
        before, problems = parse_tree(text.replace("\r\n", "\n"), "x.yaml")
        assert before is not None
        after, _ = parse_tree(format_spec(text), "x.yaml")
        assert after is not None
        assert plain(after) == plain(before)
        assert format_spec(format_spec(text)) == format_spec(text)
    if not problems:
        squeezed = ["\n".join(line for line in format_spec(text).split("\n") if line) for text in texts]
        assert squeezed[0] == squeezed[1]


@pytest.mark.parametrize(
    "text", ["a: [1\n", "a: &x 1\nb: *x\n", "a: 1\n  b: 2\n", "", "a: 1\n\tb: 2\n", "a: {b: 1,5}\n"]
)
def test_a_file_with_a_problem_stays_as_it_is(text: str) -> None:
    assert format_spec(text) == text


@pytest.mark.slow
def test_the_bundled_specs_are_formatted() -> None:
    files = [file for folder in bundled_papers().values() for file in sorted(Path(folder).glob("*.yaml"))]
    assert len(files) > 60
    assert [file for file in files if format_spec(text := file.read_text(encoding="utf-8")) != text] == []
