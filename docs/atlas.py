"""Writes the pages of the atlas: `imlp-audit verify atlas -o atlas.json`, then `python docs/atlas.py atlas.json`.

atlas.md and atlas.html say the same; atlas.svg is their figure.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path

from imlp_audit.count.conventions import FLOPS_CONVENTIONS
from imlp_audit.numbers.interval import readable
from imlp_audit.numbers.words import count_of
from imlp_audit.records.base import from_json
from imlp_audit.records.check import PASSES, CellCheck, Verdict
from imlp_audit.records.finding import Finding, FindingKind
from imlp_audit.records.result import AuditResult, GroupScore
from imlp_audit.report.document import Align, Block, Code, Document, Heading, List, Paragraph, Span, Table, parse_code
from imlp_audit.report.markdown import render_markdown
from imlp_audit.report.page import render_page

DOCS = Path(__file__).parent
SPECS = DOCS.parent / "specs" / "atlas"
FIGURE = "(figure)"
_LEAST = 3  # numbers of a column that say how it was counted
_CELL, _LEFT, _TOP = (44, 17), 330, 96  # pixels
_AS = {"with_buffers": " with statistics", "no_head": " without the classifier", "layers": " in layers"}
_STEPS = ("verify", "accept", "verify")
_KINDS = {FindingKind.MISPRINT: "Misprints", FindingKind.ASK: "Questions", FindingKind.NOTE: "Notes"}


@dataclass(frozen=True)
class Column:
    """A column of FLOPs, and how many of its numbers each counter gives."""

    source: str
    table: str
    group: GroupScore

    @cached_property
    def best(self) -> list[str]:
        """The counters that give most of its numbers, if these are more than half."""
        most = max(self.group.scores.values())
        return [name for name, n in self.group.scores.items() if n == most and 2 * n > self.group.votes]

    @cached_property
    def next_best(self) -> str:
        """The counters that come after those, or first where none gives enough, and how many numbers they give."""
        rest = {name: n for name, n in self.group.scores.items() if name not in self.best}
        most = max(rest.values(), default=0)
        return f"{', '.join(name for name, n in rest.items() if n == most)} {most}" if most else "none"


def main() -> None:
    """Write the pages."""
    path = Path(sys.argv[1])
    result = from_json(AuditResult, path.read_text(encoding="utf-8"), path.name)
    for name, text in pages(result).items():
        (DOCS / name).write_text(text, encoding="utf-8")


def pages(result: AuditResult) -> dict[str, str]:
    """Return the text of each page by its file name."""
    columns, document = columns_of(result), tuple(_document(result))
    figure = draw(columns)
    markdown = render_markdown(document).replace(FIGURE, "![numbers that each counter gives](atlas.svg)")
    return {"atlas.md": markdown, "atlas.html": render_page(document).replace(FIGURE, figure), "atlas.svg": figure}


def columns_of(result: AuditResult) -> list[Column]:
    """Return the columns of FLOPs that at least three numbers tell about, those of one counter together."""
    found = []
    names = {f"{one.id}/{table.id}": table.name or table.id for one in result.papers for table in one.tables}
    for paper, hypothesis in result.hypotheses.items():
        for score in hypothesis.columns:
            if score.group.scores.keys() & FLOPS_CONVENTIONS.keys() - {"no_head"} and score.group.votes >= _LEAST:
                table = score.group.name.partition("/")[0]
                found.append(Column(paper, names[f"{paper}/{table}"], score.group))
    order = [*FLOPS_CONVENTIONS]
    return sorted(found, key=lambda one: ([order.index(name) for name in one.best] or [len(order)], one.source))


def _document(result: AuditResult) -> Document:
    cells = result.of_kind(CellCheck)
    columns = columns_of(result)
    tables = sum(len(paper.tables) for paper in result.papers)
    return (
        Heading('What "FLOPs" and "parameters" mean in published tables', 1),
        _say(_introduction(result, cells, tables)),
        Code("imlp-audit verify atlas\nimlp-audit verify atlas/convnext", "sh"),
        Heading("Which counter gives a column of FLOPs"),
        *_about_counters(columns),
        Paragraph(FIGURE),
        _counter_table(columns),
        Heading("What a column of parameters counts"),
        *_about_parameters(result),
        Heading("What does not follow"),
        *_findings(result, cells),
        Heading("Source by source"),
        *_source_by_source(result, columns),
        Heading("How well rows are identified without a person"),
        *_identified(),
        Heading("Models that only the authors' code has"),
        *_by_authors_code(),
        Heading("Add a table in five minutes"),
        *_how_to_add(),
    )


def _introduction(result: AuditResult, cells: tuple[CellCheck, ...], tables: int) -> str:
    verdicts = [one.verdict for one in cells]
    rows = {one.id.rpartition("/")[0] for one in cells}
    passing, failing = sum(v in PASSES for v in verdicts), verdicts.count(Verdict.DIFFERS)
    unknown = verdicts.count(Verdict.UNVERIFIABLE)
    return (
        f"{count_of(tables, 'table')} of {len(result.papers)} public repositories, {readable(len(rows))} rows of "
        f"models that an installed library has, {readable(len(cells))} numbers as printed. {readable(passing)} follow "
        f"from the models, {failing} do not, and {unknown} are undecided: no known counter of FLOPs gives enough of "
        "their column, or two give it differently. Each spec names its file, lines and commit. The rows' models were "
        "decided by their labels before anything was counted. No counter of FLOPs was given: the numbers choose it. "
        "Accuracies are left out. On two cores it takes 53 s where `import torch, timm` takes 4.5 s; with one process "
        "81 s, for 10 sources 20 s, for 30 sources 54 s; at most 950 MB; and 1.7 s once everything is in the cache."
    )


def _about_counters(columns: list[Column]) -> Iterator[Block]:
    known = [one for one in columns if one.best]
    alone = [one for one in known if len(one.best) == 1]
    families = {"macs": "plain multiply-accumulates", "fvcore": "fvcore's", "ptflops": "ptflops'", "thop": "thop's"}
    text = ", ".join(f"{sum(name in one.best for one in known)} {words}" for name, words in families.items())
    unknown = len(columns) - len(known)
    mixed = [f"{one.source} ({one.table})" for one in columns if one.group.choice == "mixed"]
    yield Paragraph(
        f"Of {count_of(len(columns), 'column')} of three numbers or more, {len(known)} follow from a counter for more "
        f"than half of them: {text} (a column may follow from several). The numbers of {len(alone)} tell one counter "
        f"from all others; in {len(known) - len(alone)} several give the same digits, as for plain convolutional nets "
        f"at one decimal. {unknown} follow from none that is known: their models, sizes or counters are others. Two "
        f"counters share the numbers of {', '.join(mixed) or 'no column'}. A number that a column prints twice for one "
        "model is one number here; the last column is how many a counter would give by chance. The counters are "
        "explained in docs/conventions.md and docs/counters.md."
    )


def _counter_table(columns: list[Column]) -> Table:
    header = ("source", "table", "numbers", "best", "given by", "by chance")
    rows = tuple(
        (
            one.source,
            one.table,
            str(one.group.votes),
            str(max(one.group.scores.values())),
            ", ".join(one.best) if one.best else "none that is known",
            str(one.group.chance),
        )
        for one in columns
    )
    left, right = Align.LEFT, Align.RIGHT
    return Table(header, rows, (left, left, right, right, left, right))


def _about_parameters(result: AuditResult) -> Iterator[Block]:
    groups = [
        (paper, score.group)
        for paper, hypothesis in result.hypotheses.items()
        for score in hypothesis.columns
        if "macs" not in score.group.scores and score.group.votes >= _LEAST
    ]
    full = sum(group.winner == "all" and group.scores["all"] == group.votes for _, group in groups)
    others = [
        (paper, group)
        for paper, group in groups
        if group.winner != "all" and 2 * group.scores.get(str(group.winner), 0) > group.votes
    ]
    yield Paragraph(
        f"Of {count_of(len(groups), 'column')} of three numbers or more {full} are all parameters, number for number. "
        "These count something else:"
    )
    words = {
        "no_head": "parameters without the classifier",
        "with_buffers": "the statistics of batch norms too",
        "layers": "layers of torch.nn alone, so none of timm's own batch norms",
    }
    yield List(
        tuple(f"{paper}, {g.scores[str(g.winner)]} of {g.votes} numbers: {words[str(g.winner)]}" for paper, g in others)
    )


def _findings(result: AuditResult, cells: tuple[CellCheck, ...]) -> Iterator[Block]:
    urls = {paper.id: paper.url or "" for paper in result.papers}
    numbers = {one.id: one for one in cells}
    yield Paragraph(
        "Each was recomputed by the authors' code, by another counter or by a plain sum over the library's model. "
        "Models of other frameworks may differ from timm's of the same name; then the entry is a question or a note."
    )
    for kind, title in _KINDS.items():
        found = [one for one in result.findings if one.kind is kind]
        yield Heading(f"{title} ({len(found)})", 3)
        rows = tuple(_finding(one, urls[one.paper], numbers) for one in found)
        yield Table(("source", "what", "printed and counted", "why"), rows)


def _finding(one: Finding, url: str, numbers: dict[str, CellCheck]) -> tuple[Span | str, ...]:
    cells = (numbers.get(name) for name in one.checks or one.evident_checks)
    pairs = [
        f"{_with_unit(cell)} ({_counted(cell)})" for cell in cells if cell is not None and cell.measured is not None
    ]
    shown = dict.fromkeys(pairs)
    more = f" and {len(shown) - 4} more" if len(shown) > 5 else ""
    listed = "; ".join([*shown][: 4 if more else None]) + more
    return (Span(one.paper, link=url), one.title, listed, one.why)


def _source_by_source(result: AuditResult, columns: list[Column]) -> Iterator[Block]:
    failing = {paper: [one.title for one in result.findings if one.paper == paper] for paper in result.hypotheses}
    for paper in result.papers:
        rows = [row for row in _kept("atlas/identified.csv") if row["source"] == paper.id]
        has, found = (sum(int(row[name]) for row in rows) for name in ("has", "identified"))
        given = "" if found == has else ", the others were given by their labels"
        sentences = [f"{found} of {has} rows are identified by what is printed{given}."]
        sentences += [_about_column(one) for one in columns if one.source == paper.id]
        sentences += ["Does not follow: " + "; ".join(failing[paper.id]) + "."] if failing[paper.id] else []
        yield Paragraph((Span(paper.id, link=paper.url or ""), ": " + " ".join(sentences)))


def _about_column(one: Column) -> str:
    group, where = one.group, f"The FLOPs of {one.table}"
    odds = f"{one.next_best}; {group.chance} by chance"
    if one.best:
        most = group.scores[one.best[0]]
        return f"{where} follow from {', '.join(one.best)} ({most} of {group.votes}; next best {odds})."
    return f"{where} follow from no known counter ({group.votes} numbers; nearest {odds})."


def _kept(name: str) -> list[dict[str, str]]:
    with (SPECS.parent / name).open(encoding="utf-8", newline="") as file:
        return [*csv.DictReader(file)]


def _with_unit(cell: CellCheck) -> str:
    printed = str(cell.printed)
    return printed if printed[-1:].isalpha() else f"{printed} {cell.unit}"


def _counted(cell: CellCheck) -> str:
    return readable(int(cell.measured or 0)) + _AS.get(str(cell.convention), "")


def _identified() -> Iterator[Block]:
    rows = _kept("atlas/identified.csv")
    has, found, wrong = (sum(int(row[name]) for row in rows) for name in ("has", "identified", "wrong"))
    yield _say(
        f"`imlp-audit init` and `verify` without an edit identify {found} of these {has} rows by what is printed "
        f"({100 * found / has:.0f} %), and {wrong} rows as another model. Most rows that are missed print FLOPs "
        "alone, or numbers that no candidate has."
    )
    header = ("source", "cut", "rows", "have a model", "identified", "missed", "wrong")
    names = ("source", "table", "rows", "has", "identified", "missed", "wrong")
    yield Table(header, tuple(tuple(row[n] for n in names) for row in rows), (Align.LEFT, *(Align.RIGHT,) * 6))


def _by_authors_code() -> Iterator[Block]:
    rows = _kept("atlas_code/counted.csv")
    failing = sum(row["verdict"] == Verdict.DIFFERS for row in rows)
    yield _say(
        f"Mamba-like models are in no library. `specs/atlas_code` has the tables of four repositories; clone each at "
        f"the commit of its spec, and their code makes the models. {len(rows) - failing} of these {len(rows)} numbers "
        f"follow, {failing} do not: MambaVision's are cut off, MLLA-T's is a question. The parameters were summed once "
        "more in plain torch, MLLA's FLOPs by ptflops itself. Those of the others need kernels for CUDA. The code "
        "needs `pip install einops`."
    )
    clone = "specs/atlas_code/vim/code"
    commit = "dd0358ad1e42701f22afbefa0717cc8825cf9f45"
    steps = (f"git clone https://github.com/hustvl/Vim {clone}", f"git -C {clone} checkout {commit}")
    yield Code("\n".join((*steps, "imlp-audit verify atlas_code/vim --trust-code")), "sh")
    header = ("source", "model", "printed", "counted", "as", "verdict")
    cells = tuple((*list(row.values())[:3], readable(int(row["counted"])), row["as"], row["verdict"]) for row in rows)
    yield Table(header, cells, (*(Align.LEFT,) * 2, *(Align.RIGHT,) * 2, *(Align.LEFT,) * 2))


def _say(text: str) -> Paragraph:
    return Paragraph(parse_code(text))


def _how_to_add() -> Iterator[Block]:
    begin = "init README.md --paper name -o specs/atlas/name/table_1.yaml"
    steps = (begin, *(f"{step} specs/atlas/name" for step in _STEPS))
    after = ("imlp-audit verify atlas -o atlas.json", "python docs/atlas.py atlas.json")
    test = "python -m pytest tests/published/test_atlas.py"
    lines = ("pip install -e '.[dev]'", *(f"imlp-audit {step}" for step in steps), *after, test)
    yield Code("\n".join(lines), "sh")
    yield _say(
        "`init` reads the table and proposes models, `accept` writes those that the numbers identify. Read each row's "
        "model against its label, write the rest by hand or remove it, as tables of detectors and accuracies, and put "
        "repository, commit and lines into the spec. What "
        "then `differs` is an error, another model of the name, or a column that counts something else: recount it by "
        "the authors' code before it becomes an entry of `findings.yaml`, and `imlp-audit acknowledge` it."
    )


def draw(columns: list[Column]) -> str:
    """Draw how many numbers of each column each counter gives: dark is all of them."""
    names = [name for name in FLOPS_CONVENTIONS if any(name in one.group.scores for one in columns)]
    wide, high = _CELL
    size = (_LEFT + wide * len(names) + 10, _TOP + high * len(columns) + 10)
    extent = f'width="{size[0]}" height="{size[1]}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size[0]} {size[1]}" {extent} role="img"',
        '  aria-label="numbers of each column that each counter gives" font-family="sans-serif" font-size="11">',
        f'<rect {extent} fill="#ffffff"/>',
    ]
    for at, name in enumerate(names):
        x, y = _LEFT + wide * at + wide // 2, _TOP - 6
        parts.append(f'<text x="{x}" y="{y}" fill="#222222" transform="rotate(-45 {x} {y})">{escape(name)}</text>')
    for line, one in enumerate(columns):
        y = _TOP + high * line
        label = f"{one.source}: {one.table.rpartition('/')[2]}"
        label = label if len(label) < 54 else label[:52] + "…"
        parts.append(f'<text x="{_LEFT - 6}" y="{y + 12}" fill="#222222" text-anchor="end">{escape(label)}</text>')
        for at, name in enumerate(names):
            parts.append(_cell(_LEFT + wide * at, y, one.group.scores.get(name, 0), one.group.votes))
    return "\n".join([*parts, "</svg>", ""])


def _cell(x: int, y: int, n: int, of: int) -> str:
    share = n / of
    red, green, blue = (round(255 - share * (255 - end)) for end in (20, 74, 128))
    wide, high = _CELL
    place = f'x="{x}" y="{y}" width="{wide - 1}" height="{high - 1}"'
    text = f'x="{x + wide // 2}" y="{y + 12}" text-anchor="middle" font-size="10"'
    return (
        f'<rect {place} fill="#{red:02x}{green:02x}{blue:02x}" stroke="#cccccc" stroke-width="0.5"/>'
        f'<text {text} fill="{"#ffffff" if share > 0.4 else "#222222"}">{n}/{of}</text>'
    )


if __name__ == "__main__":
    main()
