"""Joins the files of a paper's folder into one paper, and reports all errors of all files at once."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path

from imlp_audit.equations.catalogue import AnyClaim
from imlp_audit.errors import Problem
from imlp_audit.models.own import SpecFolder
from imlp_audit.models.reading import OwnFamily
from imlp_audit.records.paper import AxisHead, ColumnHead, CounterHead, PaperHead, ReadingHead, RowHead, TableHead
from imlp_audit.spec.claim_entries import ClaimEntry
from imlp_audit.spec.equations import EquationEntry
from imlp_audit.spec.findings import FindingEntry, FindingsFile
from imlp_audit.spec.globs import Names
from imlp_audit.spec.own_blocks import own_families
from imlp_audit.spec.parse_yaml import read_tree
from imlp_audit.spec.prune import prune, respell
from imlp_audit.spec.readings import NOT_STATED, Choice
from imlp_audit.spec.references import RowRef, rows_of_table
from imlp_audit.spec.schema import About, Coverage, PaperFile, Preprocessing, System
from imlp_audit.spec.tables import PrintedTable, Row, TableFile
from imlp_audit.spec.tree import Located, MapNode, SpecText
from imlp_audit.spec.validate import validate


@dataclass(frozen=True, eq=False)  # two papers are never compared, and what is found out about one is kept by it
class Paper:
    """Everything that is known of a paper: its specs, and the claims about functions that its folder holds.

    `folder` is where its Python may lie: none for a paper that shares its folder with files of others. `code` is the
    folder whose Python is run for it, such as the installed paper's that it is a copy of; none where it is not trusted.
    `findings_file` is where its findings are, or would be written. `files` are its specs, and how reports show them.
    """

    id: str
    about: Located[About]
    tables: tuple[Located[PrintedTable], ...]
    claims: tuple[Located[ClaimEntry], ...]
    findings: tuple[Located[FindingEntry], ...]
    findings_file: FindingsFile
    coverage: tuple[Located[Coverage], ...]
    systems: tuple[Located[System], ...] = ()
    preprocessing: tuple[Located[Preprocessing], ...] = ()
    shared: tuple[Located[EquationEntry], ...] = ()
    equations: tuple[AnyClaim, ...] = ()
    folder: Path | None = None
    code: Path | None = None
    files: tuple[tuple[Path, str], ...] = ()

    @cached_property
    def rows(self) -> tuple[RowRef, ...]:
        """All rows in order."""
        return tuple(row for table in self.tables for row in rows_of_table(self, table))

    @cached_property
    def row_by_id(self) -> dict[str, RowRef]:
        """The rows by their full ids; the first where two have the same, which is a problem of its own."""
        found: dict[str, RowRef] = {}
        for row in self.rows:
            found.setdefault(row.id, row)
        return found

    @cached_property
    def row_names(self) -> Names:
        """The rows' full ids, which globs are matched with."""
        return Names(self.row_by_id)

    @cached_property
    def rows_by_label(self) -> dict[tuple[str, str, str], list[RowRef]]:
        """The rows by their tables, labels and marks: a table may list several under one."""
        found: dict[tuple[str, str, str], list[RowRef]] = {}
        for row in self.rows:
            found.setdefault((row.table.value.table, row.full_label, row.row.mark), []).append(row)
        return found


@dataclass(frozen=True)
class SpecFile:
    """A file that was read and validated: a whole table, or anything else of a paper.

    `lost` are the words of what was wrong with it and taken out.
    """

    text: SpecText
    record: TableFile | PaperFile
    lost: frozenset[str] = frozenset()

    def tables(self) -> list[Located[PrintedTable]]:
        """Return the file's tables."""
        if isinstance(self.record, TableFile):
            return [Located(self.record, self.text)]
        return [Located(table, self.text, ("tables", i)) for i, table in enumerate(self.record.tables)]


def read_spec(
    path: Path, shown_as: str, *, code: Path | None = None, wrong: Collection[Problem] = ()
) -> tuple[SpecFile | None, list[Problem]]:
    """Read one file; a mapping with the key `table` is a table, any other a part of a paper.

    With problems come what is left of the file without them, if anything is; a required key that is misspelt is read as
    it is meant. What is known to be `wrong` is taken out too. The Python in the folder `code` may build its models.
    """
    folder = SpecFolder(code or path.parent.resolve(), trusted=code is not None)
    tree, problems = read_tree(path, shown_as)
    if tree is None:
        return None, problems
    record, found = _validate(SpecText(shown_as, tree), folder)
    while meant := {one.at: one.meant for one in found if one.meant is not None}:
        problems += [one for one in found if one.meant is not None]
        tree = respell(tree, meant)
        record, found = _validate(SpecText(shown_as, tree), folder)
    problems = [*problems, *found]
    lost: frozenset[str] = frozenset()
    taken = [*found, *(one for one in wrong if one.file == shown_as)]
    while tree is not None and taken:
        tree, words = prune(tree, [one.at for one in taken])
        lost |= words
        record, taken = _validate(SpecText(shown_as, tree), folder) if tree is not None else (None, [])
    usable = SpecFile(SpecText(shown_as, tree), record, lost) if tree is not None and record is not None else None
    return usable, problems


def _validate(text: SpecText, folder: SpecFolder) -> tuple[TableFile | PaperFile | None, list[Problem]]:
    is_table = isinstance(text.tree, MapNode) and any(key.text == "table" for key, _ in text.tree.entries)
    return validate(text, TableFile, folder) if is_table else validate(text, PaperFile, folder)


def join(paper: str, files: Sequence[SpecFile], findings_file: FindingsFile) -> tuple[Paper | None, list[Problem]]:
    """Make one paper of its files."""
    rest = [(file.text, file.record) for file in files if isinstance(file.record, PaperFile)]
    about = [Located(r.about, text, ("about",)) for text, r in rest if r.about is not None]
    problems = [
        Located(None, file.text).problem(_stranger(file, paper), "paper")
        for file in files
        if file.record.paper != paper
    ]
    problems += [extra.problem(f"{paper} is described in {about[0].file.shown_as} already") for extra in about[1:]]
    holders = [Located(None, text, ("findings",)) for text, r in rest if r.findings]
    problems += [extra.problem(f"{paper} has its findings in {holders[0].file.shown_as}") for extra in holders[1:]]
    if not about:
        first = Located(None, files[0].text)
        return None, [
            *problems,
            first.problem(f"no file of {paper} has the key 'about', which describes the paper"),
        ]
    return Paper(
        id=paper,
        about=about[0],
        tables=tuple(chain.from_iterable(file.tables() for file in files)),
        claims=tuple(Located(c, t, ("claims", i)) for t, r in rest for i, c in enumerate(r.claims)),
        findings=tuple(Located(f, t, ("findings", i)) for t, r in rest for i, f in enumerate(r.findings)),
        findings_file=findings_file,
        coverage=tuple(Located(r.coverage, t, ("coverage",)) for t, r in rest if r.coverage is not None),
        systems=tuple(Located(s, t, ("systems", i)) for t, r in rest for i, s in enumerate(r.systems)),
        preprocessing=tuple(
            Located(p, t, ("preprocessing", i)) for t, r in rest for i, p in enumerate(r.preprocessing)
        ),
        shared=tuple(Located(e, t, ("equations", i)) for t, r in rest for i, e in enumerate(r.equations)),
    ), problems


def _stranger(file: SpecFile, paper: str) -> str:
    return f"this file is of paper {file.record.paper!r}, but lies among the files of {paper!r}"


def paper_head(paper: Paper) -> PaperHead:
    """Return a paper's title and the outline of its tables."""
    about = paper.about.value
    return PaperHead(
        id=paper.id,
        title=about.title,
        authors=about.authors,
        version=about.version,
        url=about.url,
        lacks=about.lacks,
        rounding=tuple(map(str, about.rounding)),
        rounding_of={measure.value: tuple(map(str, rules)) for measure, rules in about.rounding_of.items()},
        parameters=tuple(map(str, about.parameters)),
        flops=about.flops,
        readings=tuple(_reading_heads(about, own_families(paper))),
        tables=tuple(_table_head(table.value) for table in paper.tables),
    )


def _reading_heads(about: About, own: Sequence[OwnFamily]) -> Iterator[ReadingHead]:
    """Yield the declared readings; where there are none, the defaults of the paper's own blocks."""
    readings = {name: reading.choices_with(own) for name, reading in about.readings.items()}
    axes_of_blocks = [axis for family in own for axis in family.axes]
    defaults = {axis: Choice[str](value=values[0], because=NOT_STATED) for axis, values in axes_of_blocks}
    for name, choices in (readings or ({"defaults": defaults} if defaults else {})).items():
        axes = (AxisHead(axis=a, value=str(c.value), because=c.because) for a, c in choices.items())
        yield ReadingHead(name=name, axes=tuple(axes))


def _table_head(table: PrintedTable) -> TableHead:
    columns = tuple(
        ColumnHead(id=i, heading=c.heading, unit=c.unit, measure=c.measure) for i, c in table.columns.items()
    )
    rows = tuple(map(_row_head, table.rows))
    return TableHead(id=table.table, name=table.name, title=table.title, columns=columns, rows=rows)


def _row_head(row: Row) -> RowHead:
    counters = tuple(
        CounterHead(measure=measure, convention=own.convention, because=own.because)
        for measure, own in row.counted_by.items()
    )
    return RowHead(id=row.id, label=row.label + row.mark, baseline=row.baseline, counters=counters)
