"""`imlp-audit solve`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from imlp_audit.cli.options import Formatted, NoCache, NoProgress
from imlp_audit.cli.output import emit_document
from imlp_audit.errors import UsageError
from imlp_audit.report.formats import Format


def solve(
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TARGET",
            help="Papers, folders, files, paper/table or globs of cells, searched together.",
            show_default=False,
        ),
    ] = None,
    tied_norms: Annotated[bool, typer.Option("--tied-norms", help="Give all kinds of norms the same weight.")] = False,
    by_column: Annotated[
        bool, typer.Option("--by-column", help="Allow different rounding rules for parameters and FLOPs.")
    ] = False,
    free_widths: Annotated[
        bool, typer.Option("--free-widths", help="Also search hidden widths that the recipes of text models state.")
    ] = False,
    budget: Annotated[
        int,
        typer.Option(
            min=1, help="Pairs of weights and a reading to examine; if it runs out, the answer is not exhaustive."
        ),
    ] = 50_000_000,
    write: Annotated[
        str | None,
        typer.Option("--write", metavar="NAME", help="Add the first solution to the paper's spec under this name."),
    ] = None,
    format_: Formatted = Format.RICH,
    no_progress: NoProgress = False,
    no_cache: NoCache = False,
) -> int:
    """Find the readings and the counters that explain the printed numbers."""
    from imlp_audit.cli.cache import open_store
    from imlp_audit.cli.progress import show_progress
    from imlp_audit.cli.write_found import check_name, write_found
    from imlp_audit.records.document import to_json
    from imlp_audit.report.solved import solved_document
    from imlp_audit.solve.search import Rules
    from imlp_audit.solve.selection import Search, solve_selection
    from imlp_audit.spec.library import load

    if write is not None:
        check_name(write)
    selection = load(list(dict.fromkeys(map(_paper_of, targets or []))))
    if not targets and len(selection.papers) > 1:
        first, *_ = ids = [paper.id for paper in selection.papers]
        raise UsageError(f"{len(ids)} papers found: {', '.join(ids)}; name what to search, such as `solve {first}`")
    if write is not None and len(selection.papers) > 1:
        raise UsageError("--write adds to one paper; give targets of one paper only")
    names = [name for target in targets or [] for name in _names_of(target)] or [paper.id for paper in selection.papers]
    search = Search(Rules.BY_COLUMN if by_column else Rules.TOGETHER, tied_norms, free_widths, budget)
    with show_progress(shown=not no_progress, doing="solving") as announce:
        solved = solve_selection(selection, names, search, announce(9), open_store(no_cache=no_cache))
    try:
        if write is not None:
            write_found(selection.papers[0], write, solved)
    finally:  # what was found is worth reading also where it is not written
        emit_document(solved_document(solved), format_, to_json(solved))
    return 0


def _paper_of(target: str) -> str:
    """Return what to load for a target: a folder or a file as it is, the paper that an id begins with otherwise."""
    return target if Path(target).exists() else target.partition("/")[0]


def _names_of(target: str) -> Iterator[str]:
    """Yield what a target stands for: an id or a glob itself, the papers of a folder, the tables of a file."""
    from imlp_audit.spec.library import load

    if not Path(target).exists():
        yield target
        return
    selection = load([target])
    for paper in selection.papers:
        only = selection.only_files.get(paper.id)
        tables = [f"{paper.id}/{table.value.table}" for table in paper.tables if only and table.file.shown_as in only]
        yield from tables if only else [paper.id]
