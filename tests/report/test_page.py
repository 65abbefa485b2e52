"""The page: whole, inert whatever a paper's text is, and nothing left out."""

from __future__ import annotations

import hashlib
import re
from base64 import b64decode, b64encode
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from imlp_audit.records.check import CheckKind
from imlp_audit.records.figure import Curve, Figure
from imlp_audit.report.document import (
    Code,
    Document,
    Fold,
    Heading,
    Item,
    List,
    Paragraph,
    Picture,
    Plot,
    PrintedCell,
    PrintedTable,
    Span,
    Stamped,
    Style,
    Table,
    code,
)
from imlp_audit.report.figures import same_page
from imlp_audit.report.formats import Format, render_document
from imlp_audit.report.index import index_document
from imlp_audit.report.page import render_page
from imlp_audit.report.paper import report_document

from .results import BENIGN, HOSTILE, full

_VOID = ("meta", "img")


class Page(HTMLParser):
    """The elements of a page with their attributes, and its text; elements that don't nest are refused."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "wbr":  # where a long word may be broken
            return
        self.elements.append((tag, dict(attrs)))
        if tag not in _VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def shape(self) -> list[tuple[str, tuple[str, ...]]]:
        """The elements and the names of their attributes."""
        return [(tag, tuple(attributes)) for tag, attributes in self.elements]

    def values(self, attribute: str) -> list[str]:
        return [value for _, found in self.elements if (value := found.get(attribute)) is not None]


def page(text: str = BENIGN) -> str:
    return render_page(report_document(full(text)))


ANY = st.text(min_size=1, max_size=60).filter(str.strip) | st.sampled_from(
    [
        *HOSTILE,
        '" onmouseover="alert(1)',
        "' onload='alert(1)",
        "</script><script>alert(1)</script>",
        "</style>",
        "javascript:alert(1)",
        "::error::text",
        "one\n  ::set-output name=x::y",
        "##[error]text",
        "\x1b[31mred\x1b[0m",
        "\x1b]0;title\x07",
        "\u202egnp.exe",
        "{page} {0} %s",
        "=1+1",
    ]
)
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
COMMAND = re.compile(r"^\s*::|##\[", re.MULTILINE)  # lines that GitHub's runner obeys


def every_block(text: str) -> Document:
    """A document with a text in every place where a block may have one."""
    stamped = Stamped(text, "✗", text, Style.BAD, (text, text))
    cell = PrintedCell((stamped,), (Paragraph(text),), text)
    links = tuple(Span(text, style, link=link, anchor=text) for style in Style for link in (text, f"#{text}"))
    return (
        Heading(text, 1, text),
        Heading((text, code(text)), 2),
        Paragraph((text, *links)),
        Table((text, code(text)), ((text, text),), caption=text),
        Table((), ((text,),)),
        List((text, Item(text, (text, Item(text, label=text)), label=text))),
        Picture(text, text),
        Code(text, ""),
        PrintedTable((text, text), ((text, (cell,)), (text, (None,))), Table((text,), ((text,),))),
        Fold(text, (Paragraph(text),)),
    )


@given(ANY)
@settings(max_examples=40, deadline=None)
def test_no_text_becomes_markup(text: str) -> None:
    found, plain = Page(render_page(every_block(text))), Page(render_page(every_block("plain")))
    # a text of spaces has no header cell and no label; links need a target that is safe
    kept = [(tag, names) for tag, names in found.shape if tag not in ("th", "td", "a")]
    assert kept == [(tag, names) for tag, names in plain.shape if tag not in ("th", "td", "a")]
    assert {name for _, names in found.shape for name in names} <= {name for _, names in plain.shape for name in names}
    for target in found.values("href"):
        assert re.fullmatch(r"#[A-Za-z0-9/._~\-]+|https?://\S+|[\w\-]+\.(html|md|json|svg)", target, re.ASCII | re.I)
    assert all(re.fullmatch(r"[A-Za-z0-9/._~\-]+", name) for name in found.values("id"))
    body = render_page(every_block(text)).partition("<main")[2]
    assert not UNSAFE.search(body)
    assert not re.search(r"^\s*::", body, re.MULTILINE)


@pytest.mark.daily(4)
@pytest.mark.parametrize("text", HOSTILE)
def test_a_paper_s_text_changes_nothing_but_text(text: str) -> None:
    shapes = []
    for words in (text, BENIGN):
        document = report_document(full(words))
        start = next(at for at, block in enumerate(document) if isinstance(block, Heading) and block.text == "Findings")
        shapes.append(Page(render_page(document[start:])).shape)  # the first screen shortens long texts
    assert shapes[0] == shapes[1]


@pytest.mark.daily(4)
@pytest.mark.parametrize("text", HOSTILE)
def test_a_reader_sees_the_text_as_the_paper_has_it(text: str) -> None:
    shown = " ".join("".join(Page(page(text)).texts).split())
    assert " ".join(text.split()) in shown


def test_a_page_needs_nothing_else_and_allows_nothing_else() -> None:
    written = page()
    found = Page(written)
    assert not any(tag in ("link", "iframe", "object", "embed", "base", "form") for tag, _ in found.elements)
    assert all(source.startswith("data:image/") for source in found.values("src"))
    assert not found.values("style")
    (policy,) = [content for content in found.values("content") if "default-src" in content]
    for tag, directive in (("style", "style-src"), ("script", "script-src")):
        (inside,) = re.findall(f"<{tag}>(.*?)</{tag}>", written, re.DOTALL)
        digest = b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy


def test_every_link_within_a_page_leads_somewhere_and_ids_are_unique() -> None:
    found = Page(page())
    ids = found.values("id")
    assert len(ids) == len(set(ids))
    targets = {target[1:] for target in found.values("href") if target.startswith("#")}
    assert targets <= set(ids)
    assert len(targets) > 20


def test_every_check_is_on_the_page() -> None:
    ids = set(Page(page()).values("id"))
    for check in full().checks:
        name = check.id.partition(".")[0] if check.kind is CheckKind.DELTA else check.id
        assert name in ids or (check.kind is CheckKind.EQUATION and check.id in page()), check.id


def test_a_sign_is_not_said_by_colour_alone() -> None:
    shown = "".join(Page(page()).texts)
    for text in ("5.72 ✓", "✓*ƒ~reproduced under, fitted, weak", "✗differs F1", "○unverifiable", "!error"):
        assert text in shown


def test_an_explanation_has_what_the_verdict_rests_on() -> None:
    written = page()
    (cell,) = re.findall(r'<div class="why" id="p/1/r1/params">(.*?)</div>', written, re.DOTALL)
    for part in ("reproduced_under", "5 717 416", "(gap -0.3 in", "fitted:", "weak:", "40 of 40 wrong numbers", "ask"):
        assert part in cell
    assert '<a href="#finding/p/unexplained-1-params-cell"' in written


def test_drawings_are_part_of_the_page_and_compared_by_their_data(tmp_path: Path) -> None:
    figure = Figure(title="T", x_label="x", y_label="y", x=(0, 1), curves=(Curve(label="a", y=(0, 1)),))
    written = render_page((Plot("a.svg", "A caption", figure),))
    (source,) = Page(written).values("src")
    drawn = b64decode(source.partition("base64,")[2])
    assert drawn.startswith(b"<?xml")
    other = drawn.replace(b"<path", b"<path ")
    assert same_page(written, written.replace(source, source.partition(",")[0] + "," + b64encode(other).decode()))
    assert not same_page(written, written.replace("A caption", "B caption"))
    changed = render_page((Plot("a.svg", "A caption", figure.model_copy(update={"x": (0, 2)})),))
    assert not same_page(written, changed)
    (tmp_path / "b.svg").write_bytes(drawn)
    assert source in render_page((Picture("b.svg", "B"),), tmp_path)
    assert "data:" not in render_page((Picture("b.svg", "B"),)).partition("<main")[2]
    assert "data:" not in render_page((Picture(f"../{tmp_path.name}/b.svg", "B"),), tmp_path).partition("<main")[2]


def test_an_index_leads_to_the_pages() -> None:
    found = Page(render_page(index_document(full())))
    assert [target for target in found.values("href") if target.startswith("p.")] == ["p.html", "p.md"]


@pytest.mark.parametrize("form", [Format.MARKDOWN, Format.RICH])
@given(text=ANY)
@settings(max_examples=40, deadline=None)
def test_no_text_is_a_command_to_a_terminal_or_to_a_runner(form: Format, text: str) -> None:
    written = render_document(every_block(text), form, "")
    assert not UNSAFE.search(written)
    assert not COMMAND.search(written)
