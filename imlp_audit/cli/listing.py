"""`imlp-audit list`, `lint` and `coverage`: they read, and measure nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from imlp_audit.checks.acknowledge import broken_by_verdicts
from imlp_audit.cli.loading import load_specs
from imlp_audit.cli.options import Formatted, Only, Skip, Specs
from imlp_audit.cli.output import ExitCode, emit_document
from imlp_audit.errors import SpecError, UsageError
from imlp_audit.numbers.words import count_of
from imlp_audit.records.listing import CheckList, CoverageReport, ListedCheck, NumberState
from imlp_audit.report.document import Table
from imlp_audit.report.formats import Format
from imlp_audit.report.listings import coverage_document
from imlp_audit.spec.findings import broken_locks, long_findings
from imlp_audit.spec.load import Selection, select_checks
from imlp_audit.spec.paper import CellRef, Paper
from imlp_audit.spec.plan import plan
from imlp_audit.spec.rules import broken_claims, unknown_models, wrong_code

_NO_MODEL = " of form, but no row has `model:` or `candidates:`, so no number can be counted yet"


def list_checks(specs: Specs = None, only: Only = None, skip: Skip = None, format_: Formatted = Format.RICH) -> int:
    """List the ids of all checks, without measuring anything."""
    plans = select_checks(load_specs(specs), only or (), skip or (), solving=True)
    checks = tuple(ListedCheck(id=plan.id, file=plan.source.file, line=plan.source.line) for plan in plans)
    rows = tuple((one.id, f"{one.file}:{one.line}") for one in checks)
    emit_document((Table((), rows),), format_, CheckList(checks=checks))
    return ExitCode.CLEAN


def lint(specs: Specs = None) -> int:
    """Find every problem in specs and their Python, without running anything."""
    selection = load_specs(specs)
    broken = [
        problem
        for paper in selection.papers
        for problem in (
            *unknown_models(paper),
            *wrong_code(paper),
            *broken_claims(paper),
            *long_findings(paper),
            *broken_by_verdicts(paper, selection.known),
        )
    ]
    broken += broken_locks(selection.papers)
    if broken:
        raise SpecError(broken)
    emit_document((Table((), tuple(_describe(paper, selection) for paper in selection.papers)),))
    return ExitCode.CLEAN


def _describe(paper: Paper, selection: Selection) -> tuple[str, str]:
    """Return a paper whose specs are sound, and how much they hold; and whether a number of it can be counted."""
    cells = [CellRef(row, column) for row in paper.rows for column in row.row.printed]
    counted = [cell for cell in cells if cell.column.measure.totalled]
    parts = (
        count_of(len(paper.tables), "table"),
        count_of(len(plan(paper, selection.known)), "check"),
        count_of(len(paper.findings), "finding"),
    )
    modelless = counted and all(cell.recipe is None and not cell.row.row.candidates for cell in counted)
    return f"{paper.id}:", f"{', '.join(parts)}: no problems{_NO_MODEL if modelless else ''}"


def coverage(
    document: Annotated[
        Path,
        typer.Argument(
            metavar="DOCUMENT",
            help="The paper's text: plain text, markdown, or a PDF with a text layer.",
            show_default=False,
        ),
    ],
    specs: Specs = None,
    only_open: Annotated[bool, typer.Option("--open", help="List only the numbers that are open.")] = False,
    format_: Formatted = Format.RICH,
) -> int:
    """List every number that a document prints, with the check that reads it; exit with 1 if some are open.

    A number is read by a check, explained by an entry of the paper's coverage, or open. Of several papers, the one that
    reads most numbers of the document is taken.
    """
    from imlp_audit.transcribe.cover import cover
    from imlp_audit.transcribe.sources import read_document

    printed = read_document(document)
    selection = load_specs(specs)
    reports = [cover(printed, paper, selection.known) for paper in selection.papers]
    report = _choose(reports, document)
    emit_document(coverage_document(report, only_open=only_open), format_, report)
    return ExitCode.FINDINGS if report.count(NumberState.OPEN) else ExitCode.CLEAN


def _choose(reports: Sequence[CoverageReport], document: Path) -> CoverageReport:
    """Return the report of the paper that the document is of. Raises UsageError where none of several may be it."""
    if len(reports) == 1:
        return reports[0]
    best = max(reports, key=lambda report: report.count(NumberState.BOUND))
    if not best.count(NumberState.BOUND):
        papers = ", ".join(report.paper for report in reports)
        raise UsageError(f"{document}: no check of {papers} reads a number of it; name the paper whose document it is")
    return best
