"""A LaTeX document as lines: what is not printed is left out, and every line keeps its place."""

from __future__ import annotations

import re

from imlp_audit.transcribe.coverage.lines import DocumentLine, PrintedDocument
from imlp_audit.transcribe.latex.macros import Macro, expand, find_macros
from imlp_audit.transcribe.latex.source import LatexSource

_BRACES = r"\{(?:[^{}]|\{[^{}]{0,400}\}){0,400}\}"  # bounded: a brace may never be closed
_BRACKETS = r"(?:\s*\[[^\][]{0,400}\])*"
_COMMANDS = {  # by the number of arguments that are not printed
    1: r"label|[a-zA-Z]*ref\*?|(?:no)?cite[a-zA-Z]*\*?|bibliography(?:style)?|includegraphics\*?|input|include|url|"
    r"[vh]space\*?|usepackage|cmidrule(?:\([^()]*\))?|cline|scalebox|raisebox|color|textcolor|cellcolor|rowcolor|pagestyle|"
    r"thispagestyle|multirow",
    2: r"setlength|addtolength|setcounter|addtocounter|rule|resizebox\*?|multicolumn",
    3: r"definecolor",
}
_ENVIRONMENTS = {  # by the number of arguments that are not printed
    0: r"table\*?|figure\*?|sidewaystable\*?|enumerate|itemize",
    1: r"tabular|array|longtable|minipage|adjustbox|multicols|tblr",
    2: r"tabular\*|tabularx|tabulary|wraptable|wrapfigure",
}
_SILENT = re.compile(
    "|".join(
        [rf"\\(?:{names})(?![a-zA-Z]){_BRACKETS}(?:{_BRACKETS}\s*{_BRACES}){{{n}}}" for n, names in _COMMANDS.items()]
        + [
            rf"(?P<kept{n}>\\begin\s*\{{(?:{names})\}}){_BRACKETS}(?:{_BRACKETS}\s*{_BRACES}){{{n}}}"
            for n, names in _ENVIRONMENTS.items()
        ]
        + [r"\\\\\*?\s*\[[^\][\n]{0,40}\]", r"\\(?:[vh]skip|kern)\s*-?[\d.]+\s*[a-z]{2}"]
    )
)
_DRAWN = re.compile(r"\\begin\s*\{(tikzpicture|pgfpicture|thebibliography|filecontents\*?)\}")
_DEFINITION = re.compile(
    rf"\\(?:(?:re|provide)?newcommand|DeclareRobustCommand|DeclareMathOperator)\*?\s*\{{?\s*\\[A-Za-z@]+\s*\}}?"
    rf"(?:\s*\[[^\][]*\])*\s*\{{(?:[^{{}}\n]|{_BRACES})*\}}|\\def\s*\\[A-Za-z@]+(?:#\d)*\s*\{{(?:[^{{}}\n]|{_BRACES})*\}}"
)
_BEGIN = re.compile(r"\\begin\s*\{document\}")


def latex_lines(name: str, source: LatexSource) -> PrintedDocument:
    """Return the lines that a document prints, with the author's own macros in place of their names."""
    begun = _BEGIN.search(source.text)
    start = begun.end() if begun is not None else 0
    macros = {key: macro for key, macro in find_macros(source.text).items() if re.search(r"\d", macro.body)}
    text = _SILENT.sub(_blank, _DEFINITION.sub(_blank, _without_drawings(source.text[start:])))
    names = re.compile("|".join(rf"\\{re.escape(one)}(?![A-Za-z@])" for one in sorted(macros))) if macros else None
    lines: list[DocumentLine] = []
    at = start
    for line in text.split("\n"):
        file, number = source.place(at)
        lines.append(DocumentLine(file, number, _expand(line, macros, names)))
        at += len(line) + 1
    return PrintedDocument(name, tuple(lines), source.notes)


def _expand(line: str, macros: dict[str, Macro], names: re.Pattern[str] | None) -> str:
    return expand(line, macros)[0] if names is not None and names.search(line) else line


def _without_drawings(text: str) -> str:
    """Return a text without its drawings and its bibliography; line ends stay."""
    pieces: list[str] = []
    at = 0
    unclosed: set[str] = set()
    for found in _DRAWN.finditer(text):
        end = rf"\end{{{found[1]}}}"
        close = text.find(end, found.end()) if found.start() >= at and end not in unclosed else -1
        if close < 0:
            unclosed |= {end} if found.start() >= at else set()
            continue
        pieces += [text[at : found.start()], _spaces(text[found.start() : close])]
        at = close
    return "".join([*pieces, text[at:]])


def _blank(found: re.Match[str]) -> str:
    """Put spaces in place of a text, so that what follows keeps its place; the name of an environment stays."""
    kept = next((name for group, name in found.groupdict().items() if group.startswith("kept") and name), "")
    return kept + _spaces(found[0][len(kept) :])


def _spaces(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)
