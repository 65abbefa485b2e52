"""The document model: what a command has to say, before it is rendered for a terminal, as markdown or as HTML.

A Document is a tuple of blocks (heading, paragraph, table, list, code, and a paper's table with a verdict on
each number), in the order they are read. A `Fold` is a part that a page shows when it is opened. Text inside a block is
`Inline`: a string, a `Span` with a style, or a tuple of both. Content is plain text everywhere: markup in it means
nothing, and each renderer escapes what its format would interpret.

JSON isn't rendered from a document: it comes from each command's record.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from imlp_audit.numbers.words import count_of


class Style(StrEnum):
    """How a span looks. The last five are colours on a terminal; in markdown the two gravest are bold."""

    PLAIN = "plain"
    STRONG = "strong"
    EMPHASIS = "emphasis"
    CODE = "code"
    FAINT = "faint"
    GOOD = "good"
    DEPARTING = "departing"
    KNOWN = "known"
    BAD = "bad"
    BROKEN = "broken"


@dataclass(frozen=True)
class Span:
    """A piece of text in one style.

    `link` is where a page leads from it: `#` and an anchor, an address on the web, or a file beside the page; links
    lead to its own `anchor`. Other formats show the text alone.
    """

    text: str
    style: Style = Style.PLAIN
    link: str = ""
    anchor: str = ""


Inline: TypeAlias = str | Span | tuple[str | Span, ...]


class Align(StrEnum):
    """How a column is aligned. Right-aligned columns hold numbers and are never wrapped."""

    LEFT = "left"
    RIGHT = "right"


@dataclass(frozen=True)
class Heading:
    """A heading; level 1 is the document's title, and levels end at 4. Links lead to its `anchor`."""

    text: Inline
    level: int = 2
    anchor: str = ""


@dataclass(frozen=True)
class Paragraph:
    """A paragraph. Renderers wrap it; line breaks in it are spaces."""

    text: Inline


@dataclass(frozen=True)
class Table:
    """A table: each row has a cell for each column. `align` has an entry for each column, or none: all left.

    A table without a header is a plain listing: a terminal shows aligned columns without a frame and never wraps them.
    """

    header: tuple[Inline, ...]
    rows: tuple[tuple[Inline, ...], ...]
    align: tuple[Align, ...] = ()

    @property
    def alignments(self) -> tuple[Align, ...]:
        """The alignment of each column."""
        width = len(self.header or (self.rows[0] if self.rows else ()))
        return self.align or (Align.LEFT,) * width


@dataclass(frozen=True)
class Item:
    """An entry of a list: its text, an optional label before it, and the entries below it."""

    text: Inline
    items: tuple[Inline | Item, ...] = ()
    label: str = ""


@dataclass(frozen=True)
class List:
    """A list. Labels of its items ("printed", "compared") are aligned in a column of their own on a terminal."""

    items: tuple[Inline | Item, ...]

    @property
    def entries(self) -> tuple[Item, ...]:
        """The items, each with its text alone where nothing else is given."""
        return tuple(item if isinstance(item, Item) else Item(item) for item in self.items)


@dataclass(frozen=True)
class Code:
    """Lines that are shown as they are: commands, formulas, aligned sums."""

    text: str
    language: str = ""


@dataclass(frozen=True)
class Stamped:
    """A number as a paper prints it, with a sign that says what was found: the sign says it without colours too.

    `meaning` is the sign in words, and `finding` the short name of the finding that covers the number, with its anchor.
    """

    text: str
    sign: str
    meaning: str
    style: Style
    finding: tuple[str, str] | None = None

    @property
    def signs(self) -> str:
        """The sign, and the finding's short name."""
        return f"{self.sign} {self.finding[0]}" if self.finding else self.sign


@dataclass(frozen=True)
class PrintedCell:
    """A cell of a paper's table: its number and printed changes, and what explains their verdicts."""

    numbers: tuple[Stamped, ...]
    explanation: tuple[Block, ...]
    anchor: str


@dataclass(frozen=True)
class MarkedTable:
    """A paper's table as it is printed: for each row its label and a cell for each column, None where none is printed.

    On a page each cell opens its explanation; in other formats `listing` follows.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, tuple[PrintedCell | None, ...]], ...]
    listing: Table | None = None

    @property
    def summary(self) -> Table:
        """The table as plain text: each number followed by its signs."""
        rows = tuple((label, *map(_write_cell, cells)) for label, cells in self.rows)
        return Table(self.header, rows, number_columns(self.header))


def _write_cell(cell: PrintedCell | None) -> Inline:
    return join((f"{one.text} {one.signs}" for one in cell.numbers), "; ") if cell else ""


@dataclass(frozen=True)
class Fold:
    """Blocks that a page shows when their summary is clicked. Other formats show the summary and the blocks.

    In a short report those that are `kept` are shortened, and of the others the summary stays.
    """

    summary: Inline
    blocks: tuple[Block, ...]
    kept: bool = False


Block: TypeAlias = Heading | Paragraph | Table | List | Code | MarkedTable | Fold
Document: TypeAlias = tuple[Block, ...]


def code(text: str) -> Span:
    """Return a span of code: an id, a file, a command."""
    return Span(text, Style.CODE)


def strong(text: str) -> Span:
    """Return a span in bold."""
    return Span(text, Style.STRONG)


def faint(text: str) -> Span:
    """Return a span that a terminal shows dimmed."""
    return Span(text, Style.FAINT)


def spans(text: Inline) -> tuple[Span, ...]:
    """Return inline text as spans."""
    parts = text if isinstance(text, tuple) else (text,)
    return tuple(Span(part) if isinstance(part, str) else part for part in parts)


def join(parts: Iterable[Inline], separator: str = ", ") -> tuple[Span, ...]:
    """Return parts as one inline text, with a separator between them."""
    joined: list[Span] = []
    for part in parts:
        joined += [*([Span(separator)] if joined else []), *spans(part)]
    return tuple(joined)


def plain_text(text: Inline) -> str:
    """Return inline text without its styles."""
    return "".join(span.text for span in spans(text))


def parse_code(text: str) -> tuple[Span, ...]:
    """Return our own prose with its `backticked` parts as code. Never for text of a paper, a file or a user."""
    parts = text.split("`")
    return tuple(Span(part, Style.CODE if at % 2 else Style.PLAIN) for at, part in enumerate(parts) if part)


def count_more(count: int, noun: str) -> tuple[str, ...]:
    """Return an entry that counts what a list leaves out, if it leaves out anything."""
    return (count_of(count, f"more {noun}"),) if count > 0 else ()


def titled_list(title: str, items: Iterable[Inline | Item]) -> tuple[Block, ...]:
    """Return a list under a heading of its own; nothing if it has no items."""
    listed = tuple(items)
    return (Heading(title, 3), List(listed)) if listed else ()


def number_columns(header: tuple[Inline, ...], first: int = 1) -> tuple[Align, ...]:
    """Return the alignments of a table whose columns from `first` on hold numbers."""
    return tuple(Align.LEFT if at < first else Align.RIGHT for at in range(len(header)))


# control characters, and those that reverse the direction of text, could make a terminal or a page show something else;
# no file can hold half of a surrogate pair, and no XML the last two
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


def one_line(text: str) -> str:
    """Return text in a line: line breaks and tabs are spaces, control characters are visible."""
    if text.isprintable():  # of all spaces only the ordinary one is
        return text
    return make_visible(re.sub(r"\s", " ", text.replace("\r\n", "\n")))


def make_visible(text: str, *, keep: str = "") -> str:
    """Replace control characters by their escapes (`\\x1b`), except those in `keep`."""

    def escape(found: re.Match[str]) -> str:
        return found[0] if found[0] in keep else found[0].encode("unicode_escape").decode()

    return _UNSAFE.sub(escape, text)


def shorten(text: str, most: int) -> str:
    """Return the words of a text that fit into so many characters, with three dots where some don't."""
    if len(text) <= most:
        return text
    kept = text[: most - 3]
    return f"{kept[: kept.rfind(' ')] if ' ' in kept else kept}..."
