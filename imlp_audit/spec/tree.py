"""YAML in which every scalar stays text and every value knows its place.

The tree is built from libyaml's events: aliases are never expanded, nothing recurses, and parsing goes on after a
problem, so that one pass finds all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, takewhile
from pathlib import Path
from typing import Generic, NamedTuple, NoReturn, TypeAlias, TypeVar

import yaml

from imlp_audit.errors import MissingLibraryError, Problem
from imlp_audit.files import BOM, MAX_SPEC_BYTES, FileError, read_text
from imlp_audit.records.base import quote
from imlp_audit.records.check import Source


class Mark(NamedTuple):
    """A place in a file, lines and columns from 1."""

    line: int
    column: int


class Text(NamedTuple):
    """A scalar as it is written: `78.80`, `010`, `yes` and `null` are text."""

    text: str
    mark: Mark


class ListNode(NamedTuple):
    """A list and where it begins."""

    items: tuple[Node, ...]
    mark: Mark


class MapNode(NamedTuple):
    """A mapping and where it begins; its keys are distinct."""

    entries: tuple[tuple[Text, Node], ...]
    mark: Mark


Node: TypeAlias = Text | ListNode | MapNode


def plain(node: Node) -> object:
    """Return the values alone: nested dict, list and str."""
    match node:
        case Text():
            return node.text
        case ListNode():
            return [plain(item) for item in node.items]
        case MapNode():
            return {key.text: plain(value) for key, value in node.entries}


def mark_at(node: Node, path: Sequence[str | int], *, key: bool = False) -> Mark:
    """Return where the value at a path begins, or its key; for what isn't there, its nearest ancestor that is."""
    mark = node.mark
    for step in path:
        found = _child(node, step)
        if found is None:
            return node.mark
        name, node = found
        mark = name.mark if key else node.mark
    return mark


def _child(node: Node, step: str | int) -> tuple[Node, Node] | None:
    """Return the key (an item of a list has none, and is its own) and the value one step down."""
    if isinstance(node, ListNode) and isinstance(step, int) and 0 <= step < len(node.items):
        return node.items[step], node.items[step]
    if isinstance(node, MapNode):
        return next((entry for entry in node.entries if entry[0].text == step), None)
    return None


@dataclass(frozen=True)
class SpecText:
    """A spec file as it was read: the name to show, and its tree with a place for every value."""

    shown_as: str
    tree: Node


Value_co = TypeVar("Value_co", covariant=True)


@dataclass(frozen=True)
class Located(Generic[Value_co]):
    """A record, the file it comes from, and the path of keys and positions that leads to it there."""

    value: Value_co
    file: SpecText
    path: tuple[str | int, ...] = ()

    def source(self, *below: str | int) -> Source:
        """Return the place of the record, or of a value below it."""
        return Source(file=self.file.shown_as, line=mark_at(self.file.tree, (*self.path, *below)).line)

    def problem(self, message: str, *below: str | int) -> Problem:
        """Return a problem with the record, or with a value below it."""
        return Problem(self.file.shown_as, *mark_at(self.file.tree, (*self.path, *below)), message)


def taken_twice(records: Iterable[Located[object]], key: str = "id") -> Iterator[Problem]:
    """Yield a problem for each record whose name under a key an earlier one has."""
    seen: dict[str, Located[object]] = {}
    for record in records:
        name = getattr(record.value, key)
        earlier = seen.setdefault(name, record)
        if earlier is not record:
            first = earlier.source(key)
            place = "on line" if record.file is earlier.file else f"in {first.file} too, line"
            message = f"the {key} {name!r} is taken already; give each its own (it is {place} {first.line})"
            yield record.problem(message, key)


MAX_PROBLEMS = 100  # per file; past this, nobody reads on
MAX_DEPTH = 32
MAX_NODES = 100_000

_REFUSED = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff"
"""Control characters, line ends that editors do not show, marks that change the order of text, and what is none."""
_REFUSED_AS_WRITTEN = re.compile(rf"[\t{_REFUSED}]|\r(?!\n)")
_REFUSED_VALUE = re.compile(f"[\r{_REFUSED}]")
_GROUPED = re.compile(r"\d{1,3}(,\d{3})+$")
_UNFINISHED = re.compile("scalar|simple key|tag|anchor|alias")  # in libyaml's words for what it was reading


def read_tree(path: Path, shown_as: str) -> tuple[Node | None, list[Problem]]:
    """Return the tree of a YAML file and every problem found, in file order, placed in the file as `shown_as`.

    The tree is None where its shape is unknown: unreadable, empty, with characters that a spec refuses, not YAML, or
    too deep. Otherwise it is whole, with stand-ins for what was refused, so that a schema can report its errors too.
    """
    try:
        return parse_tree(read_text(path, MAX_SPEC_BYTES, shown_as), shown_as)
    except FileError as error:
        return None, [error.problem(shown_as)]


def parse_tree(text: str, shown_as: str) -> tuple[Node | None, list[Problem]]:
    """Do as `read_tree`, with text that is already in memory. Raises MissingLibraryError."""
    if not yaml.__with_libyaml__:
        raise MissingLibraryError(
            "PyYAML was installed without libyaml, which reads the specs: install a wheel of PyYAML, "
            "e.g. pip install --force-reinstall --only-binary :all: pyyaml"
        )
    source = text.removeprefix(BOM)
    problems, tree = _refused_characters(source, shown_as), None
    if not problems:
        builder = _Builder(source, shown_as)
        tree, problems = builder.build(), sorted(set(builder.problems))
    if len(problems) > MAX_PROBLEMS:
        more = replace(problems[MAX_PROBLEMS], message="further problems after this one are not listed")
        problems = [*problems[:MAX_PROBLEMS], more]
    return tree, problems


def without_refused(value: str) -> str:
    """Return a value with a space for each character that a spec refuses."""
    return _REFUSED_VALUE.sub(" ", value)


def _refused_characters(text: str, shown_as: str) -> list[Problem]:
    found = islice(_REFUSED_AS_WRITTEN.finditer(text), MAX_PROBLEMS + 1)
    return [Problem(shown_as, *_end_of(text[: one.start()]), _refuse(one[0])) for one in found]


def _refuse(character: str) -> str:
    if character == "\t":
        return "a tab (U+0009) is refused: use spaces"
    return f"U+{ord(character):04X} is refused: remove it"


def _end_of(text: str) -> Mark:
    return Mark(text.count("\n") + 1, len(text) - text.rfind("\n"))


class _StopReadingError(Exception):
    """The rest of the file cannot be read, or further problems would not help."""


class _Builder:
    """Turns events into one tree; each call takes the events of one value."""

    def __init__(self, source: str, shown_as: str) -> None:
        self.problems: list[Problem] = []
        self._source, self._shown_as = source, shown_as
        self._events = iter(yaml.CSafeLoader(source).get_event, None)
        self._end = _end_of(source)
        self._long_quote: tuple[Mark, int] | None = None  # where the last one over several lines begins, and its last
        self._nodes = 0

    def build(self) -> Node | None:
        """Return the first document's tree, if the text can be parsed to its end."""
        documents: list[Node] = []
        try:
            for event in self._events:
                if isinstance(event, yaml.NodeEvent):
                    documents.append(self._node(event))
                elif isinstance(event, yaml.DocumentStartEvent):
                    self._check_start(event, first=not documents)
        except _StopReadingError:
            return None
        except yaml.MarkedYAMLError as error:
            self._take_error(error)
            return None
        if not documents:
            self._report(Mark(1, 1), "the file is empty: write a mapping of keys to values")
        return documents[0] if documents else None

    def _check_start(self, event: yaml.DocumentStartEvent, *, first: bool) -> None:
        mark = self._place(event.start_mark)
        if not first:
            self._report(mark, "a second document begins here: a spec is one document")
        elif event.version or event.tags:
            self._report(mark, "a line that begins with % is a YAML directive, and a spec needs none: remove it")

    def _node(self, event: yaml.Event, depth: int = 1, *, is_key: bool = False) -> Node:
        mark = self._begin(event, depth)
        match event:
            case yaml.ScalarEvent():
                self._check_scalar(event, mark, is_key=is_key)
                return Text(event.value, mark)
            case yaml.SequenceStartEvent():
                return ListNode(tuple(self._node(item, depth + 1) for item in self._inside()), mark)
            case yaml.MappingStartEvent():
                return MapNode(tuple(self._entries(depth + 1)), mark)
            case _:
                assert isinstance(event, yaml.AliasEvent)  # no other event begins a value
                self._report(mark, f"the alias *{event.anchor} is refused: write the value out")
                return Text(f"*{event.anchor}", mark)

    def _begin(self, event: yaml.Event, depth: int) -> Mark:
        """Return where a value begins; what YAML can write before one is refused."""
        mark = self._place(event.start_mark)
        self._nodes += 1
        if self._nodes > MAX_NODES:
            self._stop(mark, f"more than {MAX_NODES} keys and values: split the file")
        if isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent):
            if event.anchor is not None:
                self._report(mark, f"the anchor &{event.anchor} is refused: remove it")
            if event.tag is not None:
                self._report(mark, f"the tag {quote(event.tag)} is refused: remove it")
        if isinstance(event, yaml.CollectionStartEvent) and depth > MAX_DEPTH:
            self._stop(mark, f"nested deeper than {MAX_DEPTH} levels: flatten it")
        return mark

    def _inside(self) -> Iterator[yaml.Event]:
        """Yield the events that begin the values of a collection, whose end is taken too."""
        return takewhile(lambda event: not isinstance(event, yaml.CollectionEndEvent), self._events)

    def _entries(self, depth: int) -> Iterable[tuple[Text, Node]]:
        """Return the entries of a mapping; those whose keys are refused are left out."""
        entries: dict[str, tuple[Text, Node]] = {}
        for event in self._inside():
            key, value = self._node(event, depth, is_key=True), self._node(next(self._events), depth)
            if not isinstance(key, Text):
                self._report(key.mark, "a key must be text, not a list or a mapping")
            elif key.text in entries:
                first = entries[key.text][0].mark.line
                self._report(key.mark, f"the key {quote(key.text)} was given on line {first} already: keep one")
            else:
                entries[key.text] = (key, value)
        return entries.values()

    def _check_scalar(self, event: yaml.ScalarEvent, mark: Mark, *, is_key: bool) -> None:
        if event.style in ("'", '"'):
            if (last := self._place(event.end_mark).line) > mark.line:
                self._long_quote = (mark, last)
            if refused := _REFUSED_VALUE.search(event.value):
                self._report(mark, f"an escape in this text stands for {_refuse(refused[0])}")
        elif not event.value and not event.style:
            number = _GROUPED.search(self._source.split("\n")[mark.line - 1][: mark.column - 1])
            what = "key" if is_key else "value"
            missing = f"a {what} is missing: write it ('' for an empty text), or remove the entry"
            self._report(mark, f"a number with commas needs quotes: '{number[0]}'" if number else missing)
        elif is_key and event.value == "<<" and not event.style:
            self._report(mark, "the merge key << is refused: write the entries out")

    def _take_error(self, error: yaml.MarkedYAMLError) -> None:
        """Place what is never finished where it begins: an open quote, not the end of the file."""
        at, begun = self._place(error.problem_mark), self._place(error.context_mark or error.problem_mark)
        if self._long_quote is not None and self._long_quote[1] == at.line:
            start, last = self._long_quote  # it has taken in a quote that was to begin another text
            message = f"the quote that begins here is closed only on line {last}: close it where its text ends"
            self._report(start, message)
            return
        place = begun if _UNFINISHED.search(error.context or "") is not None else at
        # a value that is missing just there is missing because of the error
        self.problems = [one for one in self.problems if (one.line, one.column) != place]
        since = f" (in what begins on line {begun.line})" if begun.line < place.line else ""
        self._report(place, _in_words(f"{error.context}: {error.problem}") + since)

    def _place(self, mark: yaml.Mark | yaml._yaml.Mark | None) -> Mark:
        assert mark is not None  # libyaml marks every event and error
        place = Mark(mark.line + 1, mark.column + 1)
        # Without a last line end, libyaml places the end of the file on a line that isn't there.
        return place if place.line < self._end.line else min(place, self._end)

    def _report(self, mark: Mark, message: str) -> None:
        self.problems.append(Problem(self._shown_as, mark.line, mark.column, message))

    def _stop(self, mark: Mark, message: str) -> NoReturn:
        self._report(mark, message)
        raise _StopReadingError


# What libyaml says, and what that means to an author.
_WORDS = (
    ("found unexpected ':'", "a space is missing after this ':' (or quote the text)"),
    ("comment or line break", "after | or > the text begins on the next line"),
    (" tag", "a tag (!...) is refused, and this one is malformed: quote the text, or remove the tag"),
    ("alphabetic or numeric", "an unquoted text cannot begin with & or *: quote it"),
    (
        "mapping values are not allowed",
        "a ':' cannot stand here: quote the text if it belongs to it, or check the indentation",
    ),
    ("could not find expected ':'", "a key without a ':' after it, or a text that must be quoted"),
    ("',' or '\\]'", "the list is not closed: a ',' or ']' is missing here"),
    ("',' or '}'", "the mapping is not closed: a ',' or '}' is missing here"),
    ("<block end>|expected key|expected '-'", "the indentation does not match the lines above"),
    ("end of stream|document (indicator|separator)", "the quote that begins here is not closed"),
    ("document start", "this does not belong to the value above: check the indentation"),
    ("node content", "a key or a value is missing here"),
    ("cannot start any token", "an unquoted text cannot begin with this character: quote it"),
    ("escape|hexdecimal", "this text has a \\ that begins no escape: double it, or use single quotes"),
    ("not allowed", "a '-' or '?' cannot stand here: begin a new line, or quote the text"),
)


def _in_words(problem: str) -> str:
    known = (words for pattern, words in _WORDS if re.search(pattern, problem))
    return next(known, f"this is not YAML ({problem})")
