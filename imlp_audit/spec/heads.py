"""What a report needs of a spec to lay out a paper's tables."""

from __future__ import annotations

from imlp_audit.records.paper import AxisHead, ColumnHead, PaperHead, ReadingHead, RowHead, TableHead
from imlp_audit.spec.loader import Paper
from imlp_audit.spec.schema import NamedReading, Table


def paper_head(paper: Paper) -> PaperHead:
    """Return a paper's title and the outline of its tables."""
    about = paper.about.value
    return PaperHead(
        id=paper.id,
        title=about.title,
        authors=about.authors,
        version=about.version,
        url=about.url,
        rounding=tuple(map(str, about.rounding)),
        parameters=tuple(map(str, about.parameters)),
        flops=about.flops,
        readings=tuple(_reading_head(name, reading) for name, reading in about.readings.items()),
        tables=tuple(_table_head(table.value) for table in paper.tables),
    )


def _reading_head(name: str, reading: NamedReading) -> ReadingHead:
    axes = tuple(AxisHead(axis=a, value=str(c.value), because=c.because) for a, c in reading.choices.items())
    return ReadingHead(name=name, axes=axes)


def _table_head(table: Table) -> TableHead:
    columns = tuple(ColumnHead(id=i, heading=c.heading, unit=c.unit) for i, c in table.columns.items())
    rows = tuple(RowHead(id=row.id, label=row.label + row.mark) for row in table.rows)
    return TableHead(id=table.table, title=table.title, columns=columns, rows=rows)
