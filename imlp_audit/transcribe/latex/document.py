"""The tables of a LaTeX document: where each stands, its caption, its label and its cells."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from imlp_audit.numbers.words import list_some
from imlp_audit.transcribe.grid import SourceDocument, SourceTable, make_table, number_tables
from imlp_audit.transcribe.latex.commands import TABULARS
from imlp_audit.transcribe.latex.macros import (
    Definition,
    Macro,
    find_definitions,
    find_macros,
    read_braced,
    skip_arguments,
    skip_optional,
)
from imlp_audit.transcribe.latex.scan import UNSEEN, read_rows, to_text
from imlp_audit.transcribe.latex.source import LatexSource

_MOST_AROUND = 20_000  # characters of a float outside its tables
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
    """Return the tables of a document, and its title."""
    definitions = list(find_definitions(source.text))
    macros = find_macros(source.text, definitions)
    notes = list(source.notes)
    tables: list[SourceTable] = []
    number = 0
    for one in _find_floats(source, definitions, notes):
        captions, labels = list(_captions(one, source.text)), _labels(one, source.text)
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
            tables.append(
                replace(table, number=counted, caption=_to_sentence(caption, macros), label=label, around=around)
            )
        number += len(mains)
    advice = "look for a begin or an end that is missing"
    return SourceDocument(tuple(number_tables(tables)), _title(source.text, macros), tuple(notes), advice)


def _title(text: str, macros: Mapping[str, Macro]) -> str | None:
    found = re.search(r"\\(?:icml)?title\b", text)
    read = read_braced(text, skip_optional(text, found.end())) if found is not None else None
    title = _to_sentence(read[0], macros).replace(UNSEEN, "")[:200] if read is not None else ""
    return title or None


def _find_floats(source: LatexSource, definitions: Sequence[Definition], notes: list[str]) -> Iterator[_Float]:
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
        if current is not None and name in TABULARS and not any(one in TABULARS for one, _ in stack):
            current.tabulars.append((name, start, found.start()))
        if not stack and current is not None:
            current.end = found.end()
            yield current
            current = None
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
        for found in _CAPTION.finditer(part):
            argument = read_braced(part, skip_optional(part, found.end())) if not found["part"] else None
            if found["part"]:
                depth = max(0, depth + (1 if found["part"] == "begin" else -1))
            elif argument is not None:
                counted = found["main"] is not None and (one.name != "figure" or found["main"] != "caption")
                yield argument[0], counted and depth == 0


def _labels(one: _Float, text: str) -> list[str]:
    return [found[1] for part in _outside(one, text) for found in _LABEL.finditer(part)]


def _read_table(source: LatexSource, place: tuple[str, int, int], macros: Mapping[str, Macro]) -> SourceTable:
    name, start, end = place
    file, line = source.place(start)
    body = source.text[start:end]
    begin = body.index("}")
    at = skip_arguments(body, begin + 1, TABULARS[name] + (name == "tabular" and body[begin - 1] == "*"))
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


def _to_sentence(tex: str, macros: Mapping[str, Macro]) -> str:
    """Return what a caption prints; no space is left before a point where a citation stood."""
    return re.sub(r"\s+(?=[.,;:])", "", to_text(tex, macros)).strip()
