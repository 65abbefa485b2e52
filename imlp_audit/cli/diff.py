"""`imlp-audit diff`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from imlp_audit.cli.options import Formatted
from imlp_audit.cli.output import ExitCode, emit_document
from imlp_audit.errors import UsageError
from imlp_audit.report.formats import Format


def diff(
    before: Annotated[
        Path, typer.Argument(metavar="A", help="The JSON result of verify before the change.", show_default=False)
    ],
    after: Annotated[
        Path, typer.Argument(metavar="B", help="The result after it, of the same papers.", show_default=False)
    ],
    all_: Annotated[bool, typer.Option("--all", help="Print every change, not only as many as fit a screen.")] = False,
    format_: Formatted = Format.RICH,
) -> int:
    """Show what changed between two audits; exit with 1 if a verdict got worse or a new check fails."""
    from imlp_audit.cli.report import read_audit
    from imlp_audit.records.diff import diff_audits
    from imlp_audit.report.diff import LINES, diff_document

    one, other = read_audit(before), read_audit(after)
    first, second = ({paper.id for paper in result.papers} for result in (one, other))
    if not first & second:
        raise UsageError(
            f"{before} audits {_list(first)} and {after} audits {_list(second)}; give two audits of the same papers"
        )
    found = diff_audits(one, other)
    short = format_ is Format.RICH and not all_
    document = diff_document(found, (str(before), str(after)), LINES if short else None)
    emit_document(document, format_, found)
    return ExitCode.FINDINGS if found.got_worse else ExitCode.CLEAN


def _list(papers: set[str]) -> str:
    return ", ".join(sorted(papers)) or "nothing"
