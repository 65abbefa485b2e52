"""A LaTeX document in one piece, with the file and line of each place, and its tables: captions, labels and cells."""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property

from imlp_audit.numbers.words import list_some
from imlp_audit.transcribe.grid import SourceDocument, SourceTable, make_table, number_tables
from imlp_audit.transcribe.latex import macros as latex
from imlp_audit.transcribe.latex.scan import UNSEEN, read_rows, to_text

DEEPEST = 10
MOST_INPUTS = 2_000
MOST_CHARACTERS = 60_000_000
_COMMENT = re.compile(r"%.*")
_PAIR, _SIGN = "\x1d", "\x1e"  # stand for \\\\ and \\% while comments are found
_INPUT = re.compile(r"\\(?:input|include|subfile)\b\s*(?:\{([^{}\n]*)\}|([\w./-]+))")
_BEGIN = re.compile(r"\\begin\s*\{(verbatim|Verbatim|lstlisting|comment|minted)(\*?)\}|\\iffalse\b")
_MOST_AROUND = 20_000  # characters of a float outside its tables
_ENVIRONMENT = re.compile(r"\\(begin|end)\s*\{([A-Za-z]+)\*?\}")
_FLOATS = frozenset({"table", "wraptable", "sidewaystable", "margintable", "SCtable", "longtable", "figure"})
_CAPTION = re.compile(
    r"\\(?:(?P<part>begin|end)\s*\{sub(?:table|figure|float)\}"
    r"|(?:(?P<main>caption(?:of\s*\{table\})?|tabcaption)|caption\*|subcaption\*?)(?=\s*[\[{]))"
)
_LABEL = re.compile(r"\\label\s*\{([^{}]*)\}")

ReadFile = Callable[[str], str | None]
"""Returns the text of a file that a document names, or None where there is none."""


@dataclass(frozen=True)
class LatexSource:
    """The text of a document and, for where each piece of it begins, the file and its line there."""

    text: str
    starts: tuple[int, ...]
    places: tuple[tuple[str, int], ...]
    notes: tuple[str, ...] = ()

    def place(self, offset: int) -> tuple[str, int]:
        """Return the file and the line of a place in the text."""
        piece = max(0, bisect_right(self.starts, offset) - 1)
        file, line = self.places[piece]
        return file, line + bisect_left(self._ends, offset) - bisect_left(self._ends, self.starts[piece])

    @cached_property
    def _ends(self) -> list[int]:
        return [found.start() for found in re.finditer("\n", self.text)]


def join_source(name: str, text: str, read: ReadFile) -> LatexSource:
    """Return a document with the files that it inputs in their places; a file that is not there is noted."""
    joiner = _Joiner(read)
    joiner.add(name, strip_comments(text), (name,))
    notes = [f"not there, so not read: {list_some(list(joiner.missing))}"] if joiner.missing else []
    return LatexSource("".join(joiner.pieces), tuple(joiner.starts), tuple(joiner.places), tuple(notes))


class _Joiner:
    def __init__(self, read: ReadFile) -> None:
        self.read = read
        self.pieces: list[str] = []
        self.starts: list[int] = []
        self.places: list[tuple[str, int]] = []
        self.missing: dict[str, None] = {}
        self.size = self.inputs = 0

    def add(self, name: str, text: str, inside: tuple[str, ...]) -> None:
        """Add a file's text, and that of the files that it inputs; `inside` are the files it is read from."""
        at, line = 0, 1
        for found in _INPUT.finditer(text):
            child = self._open((found[1] or found[2] or "").strip(), inside)
            if child is None:
                continue
            self._piece(name, line, text[at : found.start()])
            line += text.count("\n", at, found.end())
            at = found.end()
            self.add(child[0], strip_comments(child[1]), (*inside, child[0]))
        self._piece(name, line, text[at:])

    def _open(self, named: str, inside: tuple[str, ...]) -> tuple[str, str] | None:
        self.inputs += 1
        if not named or len(inside) > DEEPEST or named in self.missing or self.inputs > MOST_INPUTS:
            return None
        for candidate in (named, f"{named}.tex"):
            path = posixpath.normpath(candidate)
            if path in inside or self.size > MOST_CHARACTERS:
                return None
            text = self.read(path)
            if text is not None:
                return path, text
        self.missing[named] = None
        return None

    def _piece(self, name: str, line: int, text: str) -> None:
        self.starts.append(self.size)
        self.places.append((name, line))
        self.pieces.append(text)
        self.size += len(text)


def strip_comments(text: str) -> str:
    """Return LaTeX without its comments and what is not set: verbatim text, and all behind the end; line ends stay."""
    text = text.replace(_PAIR, " ").replace(_SIGN, " ")
    text = text.replace("\\\\", _PAIR).replace("\\%", _SIGN)  # whole texts at once: lines may be millions
    text = _COMMENT.sub("", text).replace(_SIGN, "\\%").replace(_PAIR, "\\\\")
    return _blank_environments(text.partition(r"\end{document}")[0])


def _blank_environments(text: str) -> str:
    """Return a text with spaces in place of what stands between the begins and ends of some environments."""
    pieces: list[str] = []
    at = 0
    unclosed: set[str] = set()
    for found in _BEGIN.finditer(text):
        end = rf"\end{{{found[1]}{found[2]}}}" if found[1] else r"\fi"
        if found.start() < at or end in unclosed:
            continue
        close = text.find(end, found.end())
        if close < 0:
            unclosed.add(end)
            continue
        pieces += [text[at : found.start()], blank(text[found.start() : close + len(end)])]
        at = close + len(end)
    return "".join([*pieces, text[at:]])


def blank(text: str) -> str:
    """Return spaces for a text; its line ends stay."""
    return re.sub(r"[^\n]", " ", text)


@dataclass
class _Float:
    """A float, or a tabular outside any, by its name: the tabulars in it, by where each begins and ends."""

    name: str
    start: int
    end: int
    tabulars: list[tuple[str, int, int]] = field(default_factory=list)


def read_latex(source: LatexSource) -> SourceDocument:
    """Return the tables of a document, and its title."""
    definitions = list(latex.find_definitions(source.text))
    macros = latex.find_macros(source.text, definitions)
    notes = list(source.notes)
    tables: list[SourceTable] = []
    number = 0
    for one in _find_floats(source, definitions, notes):
        captions = list(_captions(one, source.text))
        labels = [found[1] for part in _outside(one, source.text) for found in _LABEL.finditer(part)]
        mains = [caption for caption, main in captions if main]
        parts = [caption for caption, main in captions if not main]
        apart = len(mains) == len(one.tabulars)
        around = to_text("\n".join(_outside(one, source.text))[:_MOST_AROUND], macros)
        for at, place in enumerate(one.tabulars):
            letter = "" if apart or len(one.tabulars) == 1 else chr(ord("a") + at % 26)
            caption = " ".join([*mains[at if apart else 0 :][:1], *(parts[at:][:1] if letter or not mains else [])])
            label = labels[at if len(labels) == len(one.tabulars) else 0] if labels else None
            table = _read_table(source, place, macros)
            counted = f"{number + 1 + at * apart}{letter}" if mains else ""
            said = _to_sentence(caption, macros)
            tables.append(replace(table, number=counted, caption=said, label=label, around=around))
        number += len(mains)
    advice = "look for a begin or an end that is missing"
    return SourceDocument(tuple(number_tables(tables)), _title(source.text, macros), tuple(notes), advice)


def _title(text: str, macros: Mapping[str, latex.Macro]) -> str | None:
    found = re.search(r"\\(?:icml)?title\b", text)
    read = latex.read_braced(text, latex.skip_optional(text, found.end())) if found is not None else None
    title = _to_sentence(read[0], macros).replace(UNSEEN, "")[:200] if read is not None else ""
    return title or None


def _find_floats(source: LatexSource, definitions: Sequence[latex.Definition], notes: list[str]) -> Iterator[_Float]:
    """Yield the floats with tables in them, and the tables outside floats."""
    stack: list[tuple[str, int]] = []
    current: _Float | None = None
    for found in _outside_definitions(source.text, definitions):
        name = found[2]
        if found[1] == "begin":
            current = _Float(name, found.start(), found.start()) if current is None else current
            stack.append((name, found.start()))
            continue
        if name not in [open_name for open_name, _ in stack]:
            continue
        while stack[-1][0] != name:
            notes.append(_unclosed(source, *stack.pop()))
        start = stack.pop()[1]
        if current is not None and name in latex.TABULARS and not any(one in latex.TABULARS for one, _ in stack):
            current.tabulars.append((name, start, found.start()))
        if not stack and current is not None:
            current.end = found.end()
            yield current
            current = None
    notes += [_unclosed(source, name, start) for name, start in stack[:3]]


def _outside_definitions(text: str, definitions: Sequence[latex.Definition]) -> Iterator[re.Match[str]]:
    """Yield where floats and tables begin and end. One in a definition is a table only if it has cells of its own."""
    unread = (one for one in definitions if not one.name or one.macro.count or "&" not in one.macro.body)
    spans = sorted((one.start, one.end) for one in unread)
    at = end = 0
    for found in _ENVIRONMENT.finditer(text):
        if found[2] not in _FLOATS and found[2] not in latex.TABULARS:
            continue
        while at < len(spans) and spans[at][0] <= found.start():
            end = max(end, spans[at][1])
            at += 1
        if found.start() >= end:
            yield found


def _unclosed(source: LatexSource, name: str, start: int) -> str:
    file, line = source.place(start)
    return f"{file}:{line}: \\begin{{{name}}} has no \\end{{{name}}}, so it is not read"


def _outside(one: _Float, text: str) -> Iterator[str]:
    """Yield the parts of a float that are outside its tables; a table over pages has its caption inside."""
    at = one.start
    for name, start, end in one.tabulars:
        yield text[at : end if name in _FLOATS else start]
        at = end
    yield text[at : one.end]


def _captions(one: _Float, text: str) -> Iterator[tuple[str, bool]]:
    """Yield the captions of a float; main ones are counted as tables, those of parts and of figures are not."""
    depth = 0  # of the parts of a float, such as subtables
    for part in _outside(one, text):
        for found in _CAPTION.finditer(part):
            argument = latex.read_braced(part, latex.skip_optional(part, found.end())) if not found["part"] else None
            if found["part"]:
                depth = max(0, depth + (1 if found["part"] == "begin" else -1))
            elif argument is not None:
                counted = found["main"] is not None and (one.name != "figure" or found["main"] != "caption")
                yield argument[0], counted and depth == 0


def _read_table(source: LatexSource, place: tuple[str, int, int], macros: Mapping[str, latex.Macro]) -> SourceTable:
    name, start, end = place
    file, line = source.place(start)
    body = source.text[start:end]
    begin = body.index("}")
    at = latex.skip_arguments(body, begin + 1, latex.TABULARS[name] + (name == "tabular" and body[begin - 1] == "*"))
    text = re.sub(r"\\caption\*?\s*(?:\[[^\]]*\])?\s*\{[^{}]*\}", "", body[at:])
    rows, unknown, endless = read_rows(text, line + body.count("\n", 0, at), macros)
    table = make_table("", "", rows, file, line)
    notes = _notes(endless, unknown, body[at:], bool(rows))
    return replace(table, notes=(*table.notes, *notes))


def _notes(endless: set[str], unknown: set[str], body: str, found: bool) -> Iterator[str]:
    if endless:
        yield f"macros that expand into themselves, left out: {_listed(endless)}"
    if unknown:
        yield f"macros that are not understood, of which only the text is kept: {_listed(unknown)}"
    if re.search(r"\\begin\s*\{tabular", body):
        yield "tables inside cells are read as text in one line"
    if not found:
        yield "no row was found in it"


def _listed(names: Set[str]) -> str:
    return list_some([f"\\{name}" for name in sorted(names)], 8)


def _to_sentence(tex: str, macros: Mapping[str, latex.Macro]) -> str:
    """Return what a caption prints; no space is left before a point where a citation stood."""
    return re.sub(r"\s+(?=[.,;:])", "", to_text(tex, macros)).strip()
