"""The tables of a LaTeX document: where each stands, its caption, its label and its cells."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import islice

from imlp_audit.numbers.words import list_some
from imlp_audit.transcribe.grid import PART, SourceDocument, SourceTable, make_table, number_tables
from imlp_audit.transcribe.latex.commands import TABULARS
from imlp_audit.transcribe.latex.macros import (
    Definition,
    Macro,
    find_definitions,
    find_macros,
    read_braced,
    skip_braced,
    skip_optional,
)
from imlp_audit.transcribe.latex.scan import UNSEEN, read_rows, to_text
from imlp_audit.transcribe.latex.source import LatexSource

MOST_TABLES = 500
MOST_FLOATS = 10_000
LONGEST_TABLE = 400_000  # characters
LONGEST_TABLES = 800_000  # characters of all of them
_DEEPEST = 50
_MOST_AROUND = 20_000  # characters of a float outside its tables
_MOST_CAPTIONS = 100
_MOST_AUTHORS = 100
_ENVIRONMENT = re.compile(r"\\(begin|end)\s*\{([A-Za-z]+)\*?\}")
_FLOATS = frozenset({"table", "wraptable", "sidewaystable", "margintable", "SCtable", "longtable", "figure"})
_CAPTION = re.compile(
    r"\\(?:(?P<part>begin|end)\s*\{sub(?:table|figure|float)\}"
    r"|(?:(?P<main>caption(?:of\s*\{table\})?|tabcaption)|caption\*|subcaption\*?)(?=\s*[\[{]))"
)
_LABEL = re.compile(r"\\label\s*\{([^{}]*)\}")


@dataclass
class _Float:
    """A float, or a tabular outside any, by its name: the tabulars in it, by where each begins and ends."""

    name: str
    start: int
    end: int
    tabulars: list[tuple[str, int, int]] = field(default_factory=list)


def read_latex(source: LatexSource) -> SourceDocument:
    """Return the tables of a document, its title and its authors."""
    definitions = list(find_definitions(source.text))
    macros = find_macros(source.text, definitions)
    notes = list(source.notes)
    tables: list[SourceTable] = []
    number = read = 0
    for one in _find_floats(source, definitions, notes):
        captions, labels = list(_captions(one, source.text)), _labels(one, source.text)
        mains = [caption for caption, main in captions if main]
        parts = [caption for caption, main in captions if not main]
        apart = len(mains) == len(one.tabulars)
        outside = "\n".join(_outside(one, source.text))[:_MOST_AROUND]
        around = to_text(outside, macros)
        for at, place in enumerate(one.tabulars):
            read += place[2] - place[1]
            if read > LONGEST_TABLES and tables:
                file, line = source.place(place[1])
                notes.append(f"tables from {file}:{line} on are not read: give a file with the one that you want")
                return _finished(source, macros, tables, notes)
            letter = "" if apart or len(one.tabulars) == 1 else chr(ord("a") + at % 26)
            caption = " ".join([*mains[at if apart else 0 :][:1], *(parts[at:][:1] if letter or not mains else [])])
            label = labels[at if len(labels) == len(one.tabulars) else 0] if labels else None
            table = _read_table(source, place, macros)
            counted = f"{number + 1 + at * apart}{letter}" if mains else f"{PART}{letter}" if letter else ""
            tables.append(
                replace(table, number=counted, caption=_to_sentence(caption, macros), label=label, around=around)
            )
        number += len(mains)
    return _finished(source, macros, tables, notes)


def _finished(
    source: LatexSource, macros: Mapping[str, Macro], tables: Sequence[SourceTable], notes: Sequence[str]
) -> SourceDocument:
    declared = {name: _declarations(name, source, macros) for name in ("title", "icmltitle", "author", "icmlauthor")}
    title = next(filter(None, (text for name in ("title", "icmltitle") for text in declared[name][:1])), None)
    authors = next(iter(declared["author"]), "") or ", ".join(declared["icmlauthor"])
    advice = "look for a begin or an end that is missing"
    numbered = tuple(number_tables(tables))
    return SourceDocument(numbered, title[:200] if title else None, authors[:200] or None, tuple(notes), advice)


def _declarations(name: str, source: LatexSource, macros: Mapping[str, Macro]) -> list[str]:
    """Return what each use of a macro such as `\\author`, or the one that a style has in its place, declares."""
    texts: list[str] = []
    for found in islice(re.finditer(rf"\\{name}\b", source.text), _MOST_AUTHORS):
        read = read_braced(source.text, skip_optional(source.text, found.end()))
        tex = re.sub(r"\\(and|AND|And)\b", ", ", read[0]) if read else ""
        words = _to_sentence(tex, macros).replace(UNSEEN, "")
        texts.append(_AFFILIATION.sub("", words) if name.endswith("author") else words)
    return texts


_AFFILIATION = re.compile(r"\^?[*†‡§¶⋆∗](?:,?[\d*†‡§¶⋆∗])*|\^\d(?:,?[\d*†‡§¶⋆∗])*")  # the sign of one, behind a name


def _find_floats(source: LatexSource, definitions: Sequence[Definition], notes: list[str]) -> Iterator[_Float]:
    stack: list[tuple[str, int]] = []
    current: _Float | None = None
    floats = yielded = 0
    for found in _outside_definitions(source.text, definitions):
        name = found[2]
        if found[1] == "begin" and len(stack) < _DEEPEST:
            stack.append((name, found.start()))
            if current is None:
                current = _Float(name, found.start(), found.start())
            continue
        if found[1] == "begin" or name not in [open_name for open_name, _ in stack]:
            continue
        while stack[-1][0] != name:
            notes.append(_unclosed(source, *stack.pop()))
        start = stack.pop()[1]
        if current is not None and name in TABULARS and not any(one in TABULARS for one, _ in stack):
            current.tabulars.append((name, start, found.start()))
        if not stack and current is not None:
            current.end = found.end()
            floats += 1
            yielded += bool(current.tabulars)
            yield current
            current = None
            if yielded >= MOST_TABLES or floats >= MOST_FLOATS:
                notes.append(f"only the first {yielded} tables are read: give a file with the one that you want")
                return
    notes += [_unclosed(source, name, start) for name, start in stack[:3]]


def _outside_definitions(text: str, definitions: Sequence[Definition]) -> Iterator[re.Match[str]]:
    """Yield where floats and tables begin and end. One in a definition is a table only if it has cells of its own."""
    spans = sorted(
        (one.start, one.end) for one in definitions if not one.name or one.macro.count or "&" not in one.macro.body
    )
    at = end = 0
    for found in _ENVIRONMENT.finditer(text):
        if found[2] not in _FLOATS and found[2] not in TABULARS:
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
        for found in islice(_CAPTION.finditer(part), _MOST_CAPTIONS):
            argument = read_braced(part, skip_optional(part, found.end())) if not found["part"] else None
            if found["part"]:
                depth = max(0, depth + (1 if found["part"] == "begin" else -1))
            elif argument is not None:
                counted = found["main"] is not None and (one.name != "figure" or found["main"] != "caption")
                yield argument[0], counted and depth == 0


def _labels(one: _Float, text: str) -> list[str]:
    every = (found[1] for part in _outside(one, text) for found in _LABEL.finditer(part))
    return list(islice(every, _MOST_CAPTIONS))


def _read_table(source: LatexSource, place: tuple[str, int, int], macros: Mapping[str, Macro]) -> SourceTable:
    name, start, end = place
    file, line = source.place(start)
    body = source.text[start : min(end, start + LONGEST_TABLE)]
    begin = body.index("}")
    at = skip_braced(body, begin + 1, TABULARS[name] + (name == "tabular" and body[begin - 1] == "*"))
    text = re.sub(r"\\caption\*?\s*(?:\[[^\]]*\])?\s*\{[^{}]*\}", "", body[at:])
    rows, unknown, endless = read_rows(text, line + body.count("\n", 0, at), macros)
    table = make_table("", "", rows, file, line)
    notes = _notes(endless, unknown, end - start > LONGEST_TABLE, body[at:], bool(rows))
    return replace(table, notes=(*table.notes, *notes))


def _notes(endless: set[str], unknown: set[str], cut: bool, body: str, found: bool) -> Iterator[str]:
    if endless:
        yield f"macros that expand into themselves, left out: {_listed(endless)}"
    if unknown:
        yield f"macros that are not understood, of which only the text is kept: {_listed(unknown)}"
    if cut:
        yield f"only the first {LONGEST_TABLE} characters of the table are read"
    if re.search(r"\\begin\s*\{tabular", body):
        yield "tables inside cells are read as text in one line"
    if not found:
        yield "no row was found in it"


def _listed(names: Set[str]) -> str:
    return list_some([f"\\{name}" for name in sorted(names)], 8)


def _to_sentence(tex: str, macros: Mapping[str, Macro]) -> str:
    """Return what a caption prints; no space is left before a point where a citation stood."""
    return re.sub(r"\s+(?=[.,;:])", "", to_text(tex, macros)).strip()
