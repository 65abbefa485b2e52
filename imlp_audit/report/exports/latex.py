"""LaTeX: tables of the verdicts that a paper takes in with `\\input`.

They use the packages booktabs and longtable and compile with every engine: characters that a plain font lacks are
written in others, and every character that LaTeX would interpret is escaped.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import assert_never

from imlp_audit.numbers.words import count_of
from imlp_audit.records.check import FAILS, Check, CheckKind, Verdict
from imlp_audit.records.paper import PaperHead, TableHead
from imlp_audit.records.result import AuditResult
from imlp_audit.report.document import one_line, plain_text
from imlp_audit.report.findings import NumberedFinding, by_check, number_findings
from imlp_audit.report.tables import CellChecks, find_cells
from imlp_audit.report.text import shorten, to_encoding
from imlp_audit.report.verdicts import counts_by_kind, name_place, name_verdict, write_measured

_WORDS = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\symbol{34}",
    **{char: f"\\{char}" for char in "{}$&#_%"},
    **{char: f"{{{char}}}" for char in "[]*`'-,:"},  # arguments of \\\\, and ligatures
}
_SPECIAL = re.compile(r"[\\~^<>|\"{}$&#_%\[\]*`]|([-',:])(?=\1)")
_LONGEST = 240  # characters of a statement
_LAST_SINGLE_BYTE = 255  # accented letters up to here are in every font


def render_latex(result: AuditResult) -> str:
    """Return the verdicts of a result as LaTeX tables."""
    version = result.versions.get("imlp_audit", "")
    head = f"% Verdicts of imlp-audit {version}".rstrip() + ". Take this file into a paper with \\input; its preamble"
    lines = [head, "% needs \\usepackage{booktabs} and \\usepackage{longtable}.", "\\begingroup\\footnotesize"]
    for paper in result.papers:
        lines += _paper(result.of(paper), paper)
    return "\n".join((*lines, "\\endgroup")) + "\n"


def _paper(result: AuditResult, paper: PaperHead) -> Iterator[str]:
    findings = number_findings(result)
    covering = by_check(findings)
    counts = counts_by_kind(result)
    rows = [[plain_text(cell) for cell in row] for row in counts.rows]
    header = [plain_text(cell).replace("_", " ") for cell in counts.header]
    yield from _table("l" + "r" * (len(header) - 1), f"{paper.id}: verdicts by kind of check", header, rows)
    if findings:
        header = ["", "kind", "finding", "checks", "state"]
        yield from _table("llp{.5\\linewidth}rl", f"{paper.id}: findings", header, map(_finding, findings))
    for table in paper.tables:
        yield from _printed_table(result, paper, table, covering)
    others = list(filter(_is_listed, result.checks))
    if others:
        rows = [[_what(check), _verdict(check, covering)] for check in others]
        columns = "p{.65\\linewidth}p{.25\\linewidth}"
        yield from _table(columns, f"{paper.id}: claims, equations and what else fails", ["what", "verdict"], rows)


def _is_listed(check: Check) -> bool:
    """Say whether a check is listed beside the tables: claims and equations, and what fails of other kinds."""
    match check.kind:
        case CheckKind.CELL | CheckKind.DELTA:
            return False
        case CheckKind.CLAIM | CheckKind.EQUATION:
            return check.verdict is not Verdict.UNVERIFIABLE
        case CheckKind.MARK | CheckKind.REPEAT | CheckKind.COLUMN:
            return check.verdict in FAILS
        case _:
            assert_never(check.kind)


def _finding(one: NumberedFinding) -> list[str]:
    state = "known" if one.finding.acknowledged else "open"
    return [one.name, one.finding.kind.value, one.finding.title, str(len(one.finding.checks)), state]


def _what(check: Check) -> str:
    """Write what a check is about: the sentence or the statement as the paper has it."""
    if check.kind is CheckKind.EQUATION and check.statement:
        return f"{name_place(check)}: {shorten(check.statement, _LONGEST)}"
    if check.kind is CheckKind.CLAIM and check.printed:
        measured = " (on measured values)" if check.id.endswith(".measured") else ""
        return f"{name_place(check)}: {check.printed}{measured}"
    return f"{name_place(check)}: {check.printed}" if check.printed else f"{name_place(check)}, {check.id}"


def _verdict(check: Check, covering: Mapping[str, NumberedFinding]) -> str:
    """Write a verdict with what it holds under, and the finding that covers it."""
    finding = f" ({covering[check.id].name})" if check.id in covering else ""
    return f"{name_verdict(check)}{finding}"


def _printed_table(
    result: AuditResult, paper: PaperHead, table: TableHead, covering: Mapping[str, NumberedFinding]
) -> Iterator[str]:
    """Yield the numbers of a paper's table that could be decided; the others are counted in its caption."""
    cells = list(find_cells(result, paper, table))
    rows = [row for one in cells for row in _cell(one, covering)]
    labels = ["" if row[0] == above[0] else row[0] for above, row in pairwise(([""], *rows))]
    undecided = sum(one.cell is not None and one.cell.verdict is Verdict.UNVERIFIABLE for one in cells)
    more = f"; {count_of(undecided, 'number')} cannot be decided" if undecided else ""
    if rows:
        columns, header = "p{.2\\linewidth}p{.2\\linewidth}rrp{.27\\linewidth}", ["model", "column"]
        header += ["printed", "measured", "verdict"]
        listed = ([label, *row[1:]] for label, row in zip(labels, rows, strict=True))
        yield from _table(columns, f"{paper.id}, {table.called}: {table.title}{more}", header, listed)


def _cell(one: CellChecks, covering: Mapping[str, NumberedFinding]) -> Iterator[list[str]]:
    named = [("", one.cell), (", change", one.delta), (", change as measured", one.delta_measured)]
    for name, check in named:
        if check is not None and check.verdict is not Verdict.UNVERIFIABLE:
            measured, verdict = write_measured(check.measured), _verdict(check, covering)
            yield [one.row.label, f"{one.column.heading}{name}", check.printed or "", measured, verdict]


def _table(columns: str, caption: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield a table that may run over several pages, with its header on each."""
    yield f"\\begin{{longtable}}{{{columns}}}"
    yield f"\\caption[]{{{escape(caption)}}}\\\\"
    yield f"\\toprule\n{_row(header)}\n\\midrule\n\\endhead\n\\bottomrule\n\\endfoot"
    yield from map(_row, rows)
    yield "\\end{longtable}"


def _row(cells: Iterable[str]) -> str:
    return f"{' & '.join(map(escape, cells))} \\\\"


def escape(text: str) -> str:
    """Return text that LaTeX sets as it is."""
    return _SPECIAL.sub(lambda found: _WORDS[found[0]], "".join(map(_in_every_font, one_line(text))))


def _in_every_font(char: str) -> str:
    """Keep ASCII and accented letters that every font has; write others in ASCII."""
    if char.isascii() or (ord(char) <= _LAST_SINGLE_BYTE and unicodedata.normalize("NFD", char)[0].isascii()):
        return char
    return to_encoding(char, "ascii")
