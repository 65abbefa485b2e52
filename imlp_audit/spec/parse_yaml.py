"""YAML in which every scalar stays text and every value knows its place.

The tree is built from libyaml's events: aliases are never expanded, nothing recurses, and parsing goes on after a
problem, so that one pass finds all of them.
"""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path
from typing import NoReturn

import yaml

from imlp_audit.errors import MissingLibraryError, Problem
from imlp_audit.files import BOM, MAX_SPEC_BYTES, FileError, read_text
from imlp_audit.spec.tree import ListNode, MapNode, Mark, Node, Text

MAX_PROBLEMS = 100  # per file; past this, nobody reads on
MAX_DEPTH = 32
MAX_NODES = 100_000

_TAB = "a tab (U+0009)"
_BREAKS = "\x85\u2028\u2029"
_CONTROL = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f"
_BIDI = "\u202a-\u202e\u2066-\u2069"
_NONE = "\ud800-\udfff\ufffe\uffff"

# Pattern, why it is refused, and the character that stands in for each of its own while the rest is parsed.
_REFUSED = (
    ("\t", "it has no fixed width in YAML; use spaces", " "),
    (f"\r(?!\n)|[{_BREAKS}]", "YAML takes it for a line end and editors do not: use an ordinary line end", " "),
    (f"[{_CONTROL}]", "it is a control character: remove it", "\ufffd"),
    (f"[{_BIDI}]", "it changes the order in which text is shown: remove it", "\ufffd"),
    (BOM, "a byte order mark can only begin a file: remove it", "\ufffd"),
    (f"[{_NONE}]", "it is not a character: remove it", "\ufffd"),
    # libyaml refuses these escapes too, but at the quote that begins the text.
    (
        r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}|\\U0000[dD][89a-fA-F][0-9a-fA-F]{2}|\\U(?!000|0010)[0-9a-fA-F]{8}",
        "this escape names no character: remove it",
        "\ufffd",
    ),
    ("^%", "a line that begins with % is a YAML directive, and a spec needs none: remove it", "#"),
)
_ANY_REFUSED = re.compile("|".join(f"({pattern})" for pattern, _, _ in _REFUSED), re.MULTILINE)
_REFUSED_VALUE = re.compile(f"[\r{_BREAKS}{_CONTROL}{_BIDI}{BOM}{_NONE}]")
# Every refused text holds one of these. They are searched twenty times as fast as the patterns one by one.
_SUSPECT = re.compile(rf"[\t\r{_BREAKS}{_CONTROL}{_BIDI}{BOM}{_NONE}]")
_SUSPECT_TEXTS = ("\\u", "\\U", "\n%")


def read_tree(path: Path, shown_as: str) -> tuple[Node | None, list[Problem]]:
    """Return the tree of a YAML file and every problem found, in file order, placed in the file as `shown_as`.

    The tree is None where its shape is unknown: unreadable, empty, not YAML, or too deep. Otherwise it is
    whole, with stand-ins for what was refused, so that a schema can report its errors as well.
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
    source, problems = _clean(text.removeprefix(BOM), shown_as)
    builder = _Builder(source, shown_as)
    tree = builder.build()
    lines = source.split("\n")
    tabs = [problem for problem in problems if problem.message.startswith(_TAB)]
    misplaced = {tab.line for tab in tabs if not lines[tab.line - 1][: tab.column - 1].strip()}
    found = [problem for problem in builder.problems if problem.line not in misplaced]  # a tab is not its indentation
    every = sorted({*problems, *found})
    if len(every) > MAX_PROBLEMS:
        last = every[MAX_PROBLEMS]
        more = Problem(last.file, last.line, last.column, "further problems after this one are not listed")
        every = [*every[:MAX_PROBLEMS], more]
    return tree, every


def without_refused(value: str) -> str:
    """Return a value with a space for each character that a spec refuses."""
    return _REFUSED_VALUE.sub(" ", value)


def _clean(text: str, shown_as: str) -> tuple[str, list[Problem]]:
    """Return the text without refused characters, and a problem for each of those.

    What is refused is replaced one for one, so that lines and columns stay those of the file.
    """
    if _SUSPECT.search(text) is None and not any(suspect in f"\n{text}" for suspect in _SUSPECT_TEXTS):
        return text, []
    problems = []
    for hit in islice(_ANY_REFUSED.finditer(text), MAX_PROBLEMS + 1):
        message = f"{_name(hit[0])} is refused: {_refusal(hit)[1]}"
        problems.append(Problem(shown_as, *_end_of(text[: hit.start()]), message))
    return _ANY_REFUSED.sub(lambda hit: _refusal(hit)[2] * len(hit[0]), text), problems


def _refusal(hit: re.Match[str]) -> tuple[str, str, str]:
    return next(row for row, found in zip(_REFUSED, hit.groups(), strict=True) if found is not None)


def _name(found: str) -> str:
    if found == "\t":
        return _TAB
    return f"U+{ord(found):04X}" if len(found) == 1 and found != "%" else found


def _end_of(text: str) -> Mark:
    return Mark(text.count("\n") + 1, len(text) - text.rfind("\n"))


class _OpenList:
    expects_key = False

    def __init__(self, mark: Mark) -> None:
        self.mark = mark
        self.items: list[Node] = []

    def add(self, node: Node) -> str | None:
        """Take an item; never a complaint."""
        self.items.append(node)
        return None

    def close(self) -> ListNode:
        return ListNode(tuple(self.items), self.mark)


class _OpenMap:
    """A mapping whose end has not come yet; takes a key and a value in turn."""

    def __init__(self, mark: Mark) -> None:
        self.mark = mark
        self.expects_key = True
        self._entries: dict[str, tuple[Text, Node]] = {}
        self._key: Text | None = None

    def add(self, node: Node) -> str | None:
        """Take a key or a value, and say what is wrong with a key; the value of such a key is dropped."""
        self.expects_key = not self.expects_key
        if not self.expects_key:
            complaint = self._complaint(node)
            self._key = node if isinstance(node, Text) and complaint is None else None
            return complaint
        if self._key is not None:
            self._entries[self._key.text] = (self._key, node)
        return None

    def _complaint(self, key: Node) -> str | None:
        if not isinstance(key, Text):
            return "a key must be text, not a list or a mapping"
        first = self._entries.get(key.text)
        return first and f"the key {_clip(key.text)} was given on line {first[0].mark.line} already: keep one"

    def close(self) -> MapNode:
        return MapNode(tuple(self._entries.values()), self.mark)


def _clip(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "...")


_GROUPED = re.compile(r"\d{1,3}(,\d{3})+$")


class _StopReadingError(Exception):
    """The rest of the file cannot be read, or further problems would not help."""


class _Builder:
    """Turns events into one tree, keeping the collections that are still open on a stack of its own."""

    def __init__(self, source: str, shown_as: str) -> None:
        self.problems: list[Problem] = []
        self._source, self._shown_as = source, shown_as
        self._documents = _OpenList(Mark(1, 1))
        self._open: list[_OpenList | _OpenMap] = [self._documents]
        self._end = _end_of(source)
        self._long_quote: tuple[Mark, int] | None = None  # where the last one over several lines begins, and its last
        self._nodes = 0

    def build(self) -> Node | None:
        """Return the first document's tree, if the text can be parsed to its end."""
        try:
            for event in iter(yaml.CSafeLoader(self._source).get_event, None):
                self._take(event)
        except _StopReadingError:
            return None
        except yaml.MarkedYAMLError as error:
            self._take_error(error)
            return None
        if not self._documents.items:
            self._report(Mark(1, 1), "the file is empty: write a mapping of keys to values")
            return None
        return self._documents.items[0]

    def _take(self, event: yaml.Event) -> None:
        match event:
            case yaml.ScalarEvent():
                self._take_scalar(event)
            case yaml.CollectionStartEvent():
                self._take_start(event)
            case yaml.CollectionEndEvent():
                self._add(self._open.pop().close())
            case yaml.AliasEvent():
                mark = self._place(event.start_mark)
                self._report(mark, f"the alias *{event.anchor} is refused: write the value out")
                self._add(Text(f"*{event.anchor}", mark))
            case yaml.DocumentStartEvent() if self._nodes:
                self._report(self._place(event.start_mark), "a second document begins here: a spec is one document")

    def _take_scalar(self, event: yaml.ScalarEvent) -> None:
        mark = self._begin(event)
        if event.style in ("'", '"'):
            if (last := self._place(event.end_mark).line) > mark.line:
                self._long_quote = (mark, last)
            if refused := _REFUSED_VALUE.search(event.value):
                message = f"an escape in this text stands for {_name(refused[0])}, which is refused: remove it"
                self._report(mark, message)
        elif not event.value and not event.style:
            what = "key" if self._open[-1].expects_key else "value"
            number = _GROUPED.search(self._source.split("\n")[mark.line - 1][: mark.column - 1])
            missing = f"a {what} is missing: write it ('' for an empty text), or remove the entry"
            self._report(mark, f"a number with commas needs quotes: '{number[0]}'" if number else missing)
        elif event.value == "<<" and not event.style and self._open[-1].expects_key:
            self._report(mark, "the merge key << is refused: write the entries out")
        self._add(Text(event.value, mark))

    def _take_start(self, event: yaml.CollectionStartEvent) -> None:
        mark = self._begin(event)
        if len(self._open) > MAX_DEPTH:
            self._stop(mark, f"nested deeper than {MAX_DEPTH} levels: flatten it")
        self._open.append(_OpenMap(mark) if isinstance(event, yaml.MappingStartEvent) else _OpenList(mark))

    def _begin(self, event: yaml.ScalarEvent | yaml.CollectionStartEvent) -> Mark:
        """Return where a value begins; what YAML can write before one is refused."""
        mark = self._place(event.start_mark)
        if event.anchor is not None:
            self._report(mark, f"the anchor &{event.anchor} is refused: remove it")
        if event.tag is not None:
            self._report(mark, f"the tag {_clip(event.tag)} is refused: remove it")
        return mark

    def _add(self, node: Node) -> None:
        complaint = self._open[-1].add(node)
        if complaint is not None:
            self._report(node.mark, complaint)
        self._nodes += 1
        if self._nodes > MAX_NODES:
            self._stop(node.mark, f"more than {MAX_NODES} keys and values: split the file")

    def _take_error(self, error: yaml.MarkedYAMLError) -> None:
        """Place what is never finished where it begins: an open quote, not the end of the file."""
        at, begun = self._place(error.problem_mark), self._place(error.context_mark or error.problem_mark)
        if self._long_quote is not None and self._long_quote[1] == at.line:
            start, last = self._long_quote  # it has taken in a quote that was to begin another text
            message = f"the quote that begins here is closed only on line {last}: close it where its text ends"
            self._report(start, message)
            return
        place = begun if _UNFINISHED.search(error.context or "") is not None else at
        self._forget(place)  # a value that is missing just there is missing because of the error
        since = f" (in what begins on line {begun.line})" if begun.line < place.line else ""
        self._report(place, _in_words(f"{error.context}: {error.problem}") + since)

    def _place(self, mark: yaml.Mark | yaml._yaml.Mark | None) -> Mark:
        assert mark is not None  # libyaml marks every event and error
        place = Mark(mark.line + 1, mark.column + 1)
        # Without a last line end, libyaml places the end of the file on a line that isn't there.
        return place if place.line < self._end.line else min(place, self._end)

    def _forget(self, place: Mark) -> None:
        self.problems = [one for one in self.problems if (one.line, one.column) != place]

    def _report(self, mark: Mark, message: str) -> None:
        self.problems.append(Problem(self._shown_as, mark.line, mark.column, message))

    def _stop(self, mark: Mark, message: str) -> NoReturn:
        self._report(mark, message)
        raise _StopReadingError


_UNFINISHED = re.compile("scalar|simple key|tag|anchor|alias")


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
