"""Checks that text in a report is inert, a format each, made with parsers that are not the package's own.

Each compares a report of a text with one of plain words: the text may change what is read, and nothing else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser

from markdown_it import MarkdownIt
from markdown_it.token import Token

from imlp_audit.report.formats import AuditFormat

UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
COMMAND = re.compile(r"^\s*::|##\[", re.MULTILINE)  # lines that GitHub's runner obeys
_VOID = ("meta", "img")
_PARSER = MarkdownIt("commonmark").enable("table")


class Page(HTMLParser):
    """The elements of a page with their attributes, and its text; elements that don't nest are refused."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self._open: list[str] = []
        self._formula = 0  # how many elements of a formula are open
        self.feed(page)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "wbr":  # where a long word may be broken
            return
        if self._formula or dict(attrs).get("class") == "formula":
            self._formula += 1  # a text that is surely a formula has its symbols; tests of formulas look at them
            return
        self.elements.append((tag, dict(attrs)))
        if tag not in _VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._formula:
            self._formula -= 1
            return
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def shape(self) -> list[tuple[str, tuple[str, ...]]]:
        """The elements and the names of their attributes."""
        return [(tag, tuple(attributes)) for tag, attributes in self.elements]

    def values(self, attribute: str) -> list[str]:
        return [value for _, found in self.elements if (value := found.get(attribute)) is not None]


def check_rich(written: str, plain: str) -> None:
    """What is printed on a terminal has no escape sequence and no command to a runner."""
    assert not UNSAFE.search(written)
    assert not COMMAND.search(written)


def check_markdown(written: str, plain: str) -> None:
    """A text adds no block, no kind of token, no HTML and no target of a link."""
    check_rich(written, plain)
    blocks, usual = ([token.type for token in _PARSER.parse(text)] for text in (written, plain))
    assert blocks == usual
    found = list(_tokens(written))
    assert {token.type for token in found} <= {token.type for token in _tokens(plain)}
    assert not any("html" in token.type for token in found)
    assert not any("javascript:" in str(token.attrGet("href")) for token in found)


def _tokens(text: str) -> Iterator[Token]:
    for token in _PARSER.parse(text):
        yield from (token, *(token.children or ()))


def check_html(written: str, plain: str) -> None:
    """A text adds no element and no attribute, and nothing outside of what links may be."""
    found, usual = Page(written), Page(plain)
    # a text of spaces has no header cell and no label; links need a target that is safe
    kept = [(tag, names) for tag, names in found.shape if tag not in ("th", "td", "a")]
    assert kept == [(tag, names) for tag, names in usual.shape if tag not in ("th", "td", "a")]
    assert {name for _, names in found.shape for name in names} <= {name for _, names in usual.shape for name in names}
    for target in found.values("href"):
        assert re.fullmatch(r"#[A-Za-z0-9/._~\-]+|https?://\S+|[\w\-]+\.(html|md|json|svg)", target, re.ASCII | re.I)
    assert all(re.fullmatch(r"[A-Za-z0-9/._~\-]+", name) for name in found.values("id"))
    body = written.partition("<main")[2]
    assert not UNSAFE.search(body)
    assert not re.search(r"^\s*::", body, re.MULTILINE)


def check_json(written: str, plain: str) -> None:
    """A text adds no key and no value; what is in it is what JSON says."""
    check_rich(written, plain)
    names = set(re.findall(r'"([$a-zA-Z_]{2,})":', plain))
    assert _shape_of_json(json.loads(written), names) == _shape_of_json(json.loads(plain), names)


def _shape_of_json(value: object, names: set[str]) -> object:
    """Return the types of the values; options are keys of their scores, and they are texts of a paper."""
    match value:
        case dict():
            parts = ((key if key in names else "a text", inner) for key, inner in value.items())
            return sorted((key, str(_shape_of_json(inner, names))) for key, inner in parts)
        case list():
            return [_shape_of_json(inner, names) for inner in value]
        case _:
            return type(value).__name__


def check_sarif(written: str, plain: str) -> None:
    """As in JSON, and no message has a link or a placeholder; an absolute path has no base."""
    base = re.compile(r',\s*"uriBaseId": "%SRCROOT%"')
    check_json(base.sub("", written), base.sub("", plain))
    for result in json.loads(written)["runs"][0]["results"]:
        assert not re.search(r"\]\(|\{\d+\}", result["message"]["text"])
        for location in result["locations"]:
            uri = location["physicalLocation"]["artifactLocation"]["uri"]
            assert re.fullmatch(r"(file://)?[A-Za-z0-9/._~%\-]+(:/)?[A-Za-z0-9/._~%\-]*", uri, re.ASCII)
            assert "javascript:" not in uri


def check_github(written: str, plain: str) -> None:
    """Every line is one command, read as GitHub's runner reads it, and there are no more of them."""
    assert not UNSAFE.search(written)
    assert [_read_command(line) for line in written.splitlines()] == [
        _read_command(line) for line in plain.splitlines()
    ]
    assert written.count("\n") == len(written.splitlines())


def _read_command(line: str) -> tuple[str, tuple[str, ...]]:
    """Return a command's name and the names of its properties, as the runner splits them."""
    assert line.startswith("::")
    head, closed, message = line[2:].partition("::")
    assert closed
    name, _, properties = head.partition(" ")
    pairs = [pair.split("=", 1) for pair in properties.split(",")]
    for text in (message, *(value for _, value in pairs)):
        assert not re.sub("%(25|0D|0A|3A|2C)", "", text).count("%")
    return name, tuple(key for key, _ in pairs)


CHECKS: dict[AuditFormat, Callable[[str, str], None]] = {
    AuditFormat.RICH: check_rich,
    AuditFormat.JSON: check_json,
    AuditFormat.MARKDOWN: check_markdown,
    AuditFormat.HTML: check_html,
    AuditFormat.SARIF: check_sarif,
    AuditFormat.GITHUB: check_github,
}
