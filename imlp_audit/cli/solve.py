"""`imlp-audit solve`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from imlp_audit.cli.options import NoProgress
from imlp_audit.cli.output import emit
from imlp_audit.errors import UsageError


class Form(StrEnum):
    """How an answer is written."""

    TEXT = "text"
    JSON = "json"


def solve(
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TARGET",
            help="Papers, paper/table or globs of cells, solved together; all of imlp if none.",
            show_default=False,
        ),
    ] = None,
    tied_norms: Annotated[bool, typer.Option("--tied-norms", help="Give all kinds of norms one weight.")] = False,
    by_column: Annotated[
        bool, typer.Option("--by-column", help="Let parameters and FLOPs be rounded by different rules.")
    ] = False,
    free_widths: Annotated[
        bool, typer.Option("--free-widths", help="Leave open the hidden widths of text models that the text fixes.")
    ] = False,
    budget: Annotated[
        int,
        typer.Option(min=1, help="Pairs of weights and a reading to look at, before the answer is not exhaustive."),
    ] = 50_000_000,
    write: Annotated[
        str | None,
        typer.Option("--write", metavar="NAME", help="Add what the first solution is, so named, to the paper's spec."),
    ] = None,
    format_: Annotated[Form, typer.Option("--format", "-f", help="What to print.")] = Form.TEXT,
    no_progress: NoProgress = False,
) -> int:
    """Find the readings and the counters that explain the printed numbers."""
    from imlp_audit.cli.progress import show_progress
    from imlp_audit.records.document import to_json
    from imlp_audit.report.solved import as_text
    from imlp_audit.solve.search import Rules
    from imlp_audit.solve.selection import Search, solve_selection
    from imlp_audit.spec.library import load

    wanted = targets or ["imlp"]
    papers = list(dict.fromkeys(_paper_of(target) for target in wanted))
    selection = load(papers)
    if write is not None and len(papers) > 1:
        raise UsageError("--write adds a reading to one paper; give targets of one")
    names = [_named(target, [paper.id for paper in selection.papers]) for target in wanted]
    search = Search(Rules.BY_COLUMN if by_column else Rules.TOGETHER, tied_norms, free_widths, budget)
    with show_progress(shown=not no_progress, doing="solving") as announce:
        solved = solve_selection(selection, names, search, announce(9))
    if write is not None:
        from imlp_audit.cli.write_found import write_found

        write_found(selection.papers[0], write, solved)
    emit(to_json(solved) if format_ is Form.JSON else as_text(solved))
    return 0


def _paper_of(target: str) -> str:
    """Return the paper of a target: a folder or a file as it is, the first part of an id otherwise."""
    return target if Path(target).exists() else target.partition("/")[0]


def _named(target: str, papers: list[str]) -> str:
    return papers[0] if Path(target).exists() and target not in papers else target
