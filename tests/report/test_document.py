from __future__ import annotations

import pytest

from imlp_audit.records.check import Verdict
from imlp_audit.report.document import (
    Align,
    Block,
    Code,
    Item,
    List,
    Paragraph,
    Table,
    code,
    join,
    parse_code,
    plain_text,
    shorten,
    spans,
    strong,
)
from imlp_audit.report.markdown import render_markdown
from imlp_audit.report.terminal import Surface, render_terminal
from imlp_audit.report.verdicts import verdict_span

NUMBERS = Table(("model", "count"), (("DeiT-Ti", "5 717 416"), ("a|b", "7")), (Align.LEFT, Align.RIGHT))


def terminal(*blocks: Block, width: int = 60, colour: bool = False) -> str:
    return render_terminal(blocks, Surface(width, colour))


def test_prose_is_wrapped_to_the_width_of_the_terminal_and_code_is_not() -> None:
    text = "word " * 30
    assert max(map(len, terminal(Paragraph(text), width=40).splitlines())) <= 40
    assert terminal(Code("x" * 100), width=40) == "x" * 100 + "\n"


def test_entries_wrap_below_their_text_and_labels_have_a_column() -> None:
    entries = List((Item("5.00 M", label="printed"), Item("word " * 12, label="why")))
    first, second, third, *_ = terminal(entries, width=40).splitlines()
    assert (first, second[:9], third[:9]) == ("printed  5.00 M", "why      ", " " * 9)
    assert render_markdown((entries,)).startswith("- **printed**: 5.00 M\n- **why**: word word")


def test_numbers_are_flush_right_and_never_wrapped() -> None:
    lines = terminal(NUMBERS, width=24).splitlines()
    assert lines[2].split("  ")[0] == "DeiT-Ti"
    assert lines[2].endswith("5 717 416")
    assert lines[3].endswith("        7")
    assert render_markdown((NUMBERS,)).splitlines()[1:3] == ["| --- | ---: |", "| DeiT-Ti | 5 717 416 |"]


def test_a_table_without_a_header_is_a_listing_that_keeps_its_lines_for_programs() -> None:
    listing = Table((), (("imlp/1/deit_ti/params", "specs/imlp/table1.yaml:17"), ("short", "x")))
    lines = ["imlp/1/deit_ti/params  specs/imlp/table1.yaml:17", "short                  x"]
    assert render_terminal((listing,), Surface(20)).splitlines() == lines
    assert render_markdown((listing,)).startswith("|  |  |\n| --- | --- |\n")


def test_colours_are_written_only_where_they_are_asked_for() -> None:
    document = Paragraph(verdict_span(Verdict.DIFFERS))
    assert terminal(document, colour=True) == "\x1b[1;31mdiffers\x1b[0m\n"
    assert terminal(document) == "differs\n"
    assert render_markdown((document,)) == "**differs**\n"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a_b *c* [d](e) <b> # ~ $x$ `q` | \\", r"a_b \*c\* \[d\](e) &lt;b&gt; \# \~ \$x\$ \`q\` \| \\"),
        ("_a_ b_", r"\_a\_ b\_"),
        ("- no list", r"\- no list"),
        ("1. no list", r"1\. no list"),
        ("===", r"\==="),
        ("two\nlines", "two lines"),
        ("\x1b[31mred\u202e", r"\\x1b\[31mred\\u202e"),
    ],
)
def test_content_is_inert_in_markdown(text: str, written: str) -> None:
    assert render_markdown((Paragraph(text),)) == f"{written}\n"


def test_control_characters_are_visible_on_a_terminal() -> None:
    assert terminal(Paragraph("a\x1b]0;title\x07b"), Code("\x1b[2J")) == "a\\x1b]0;title\\x07b\n\n\\x1b[2J\n"
    assert terminal(Paragraph("[bold]no markup[/bold] :smile:")) == "[bold]no markup[/bold] :smile:\n"


def test_code_may_hold_backticks_and_bars() -> None:
    assert render_markdown((Paragraph((code("a`b"), " and ", code("`"))),)) == "``a`b`` and `` ` ``\n"
    assert r"| `a\|b` |" in render_markdown((Table(("x",), ((code("a|b"),),)),))
    assert render_markdown((Code("```", "text"),)) == "````text\n```\n````\n"


def test_inline_text_is_joined_parsed_and_stripped_of_styles() -> None:
    assert join([strong("a"), "b"]) == (strong("a"), *spans(", "), *spans("b"))
    assert parse_code("run `lint` first") == (*spans("run "), code("lint"), *spans(" first"))
    assert plain_text(("a ", strong("b"))) == "a b"


@pytest.mark.parametrize(
    ("text", "most", "short"),
    [
        ("one two three", 13, "one two three"),
        ("one two three", 12, "one two..."),
        ("one (two three) four", 19, "one (two three)..."),
        ("x" * 20, 12, "xxxxxxxxx..."),
    ],
)
def test_a_text_that_is_cut_ends_at_a_word(text: str, most: int, short: str) -> None:
    assert shorten(text, most) == short
