"""`imlp-audit coverage`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from imlp_audit.cli.exits import ExitCode
from imlp_audit.cli.options import Formatted, Specs
from imlp_audit.cli.output import emit_document
from imlp_audit.errors import UsageError
from imlp_audit.report.formats import Format

if TYPE_CHECKING:
    from imlp_audit.records.listing import CoverageReport, NumberState


def coverage(
    document: Annotated[
        Path,
        typer.Argument(
            metavar="DOCUMENT",
            help="The paper's text: plain text, markdown, LaTeX (or its archive), or a PDF with a text layer.",
            show_default=False,
        ),
    ],
    specs: Specs = None,
    only_open: Annotated[bool, typer.Option("--open", help="List only the numbers that are open.")] = False,
    all_: Annotated[bool, typer.Option("--all", help="List also the digits that are not quantities.")] = False,
    format_: Formatted = Format.RICH,
) -> int:
    """List every number that a document prints, with the check that reads it; exit with 1 if some are open.

    A number is read by a check, explained by an entry of the paper's coverage, or open. Of several papers, the one that
    reads most numbers of the document is taken.
    """
    from imlp_audit.cli.loading import load_specs
    from imlp_audit.records.listing import NumberState
    from imlp_audit.report.listings import coverage_document
    from imlp_audit.transcribe.cover import cover
    from imlp_audit.transcribe.document import read_document

    printed = read_document(document)
    selection = load_specs(specs)
    reports = [cover(printed, paper, selection.known) for paper in selection.papers]
    report = _choose(reports, document)
    emit_document(coverage_document(report, _listed(only_open=only_open, all_=all_)), format_, report)
    return ExitCode.FINDINGS if report.count(NumberState.OPEN) else ExitCode.CLEAN


def _listed(*, only_open: bool, all_: bool) -> frozenset[NumberState]:
    """Return the states whose numbers are listed."""
    from imlp_audit.records.listing import NumberState

    if only_open and all_:
        raise UsageError("--open and --all: give one of them")
    if only_open:
        return frozenset({NumberState.OPEN})
    return frozenset(NumberState) - (frozenset() if all_ else {NumberState.APART})


def _choose(reports: Sequence[CoverageReport], document: Path) -> CoverageReport:
    """Return the report of the paper that the document is of. Raises UsageError where none of several may be it."""
    from imlp_audit.records.listing import NumberState

    if len(reports) == 1:
        return reports[0]
    best = max(reports, key=lambda report: report.count(NumberState.BOUND))
    if not best.count(NumberState.BOUND):
        papers = ", ".join(report.paper for report in reports)
        raise UsageError(f"{document}: no check of {papers} reads a number of it; name the paper whose document it is")
    return best
