"""What a report needs of a spec to lay out a paper's tables."""

from __future__ import annotations

from imlp_audit.result import ColumnHead, PaperHead, RowHead, TableHead
from imlp_audit.spec.loader import Paper
from imlp_audit.spec.schema import Table


def paper_head(paper: Paper) -> PaperHead:
    """Return a paper's title and the outline of its tables."""
    about = paper.about.value
    return PaperHead(
        id=paper.id,
        title=about.title,
        authors=about.authors,
        version=about.version,
        url=about.url,
        tables=tuple(_table_head(table.value) for table in paper.tables),
    )


def _table_head(table: Table) -> TableHead:
    columns = tuple(ColumnHead(id=i, heading=c.heading, unit=c.unit) for i, c in table.columns.items())
    rows = tuple(RowHead(id=row.id, label=row.label + row.mark) for row in table.rows)
    return TableHead(id=table.table, title=table.title, columns=columns, rows=rows)
