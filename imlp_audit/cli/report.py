"""`imlp-audit report`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from imlp_audit.cli.exits import ExitCode, exit_code
from imlp_audit.cli.options import Specs, TrustCode, helpers
from imlp_audit.errors import SolverError, UsageError
from imlp_audit.report.files import check_writable, write_whole
from imlp_audit.report.formats import Format

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from imlp_audit.inspect.document import Inspected
    from imlp_audit.records.result import AuditResult
    from imlp_audit.records.solution import Solved
    from imlp_audit.spec.library import Selection
    from imlp_audit.spec.paper import Paper

RUN = "`imlp-audit eval`, `bench` or `inspect` with `--format json`"


def report(
    specs: Specs = None,
    from_: Annotated[
        Path | None,
        typer.Option("--from", metavar="FILE", help="Use a JSON result of verify; audit nothing."),
    ] = None,
    with_: Annotated[
        list[Path] | None,
        typer.Option("--with", metavar="FILE", help="A JSON result of eval, bench or inspect to put in; repeatable."),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--dir", metavar="DIR", help="Write DIR/PAPER.md and its figures for each paper instead of printing."
        ),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="With --dir: write nothing; exit 1 if a report there is stale.")
    ] = False,
    trust_code: TrustCode = False,
    format_: Annotated[Format, typer.Option("--format", "-f", help="What to print.")] = Format.MARKDOWN,
    no_progress: Annotated[bool, typer.Option("--no-progress", help="Show no progress.")] = False,
) -> int:
    """Write the report of each paper."""
    from imlp_audit.report.merging import merge_runs

    if from_ is not None and specs:
        raise UsageError("give specs to audit or --from FILE, not both")
    if check and folder is None:
        raise UsageError("--check compares the reports in a folder; name it with --dir")
    if folder is not None:
        if format_ is not Format.MARKDOWN:
            raise UsageError("--dir holds markdown reports; leave out --format, or print instead")
        check_writable(folder / "PAPER.md")
    inspected, runs = _read_results(with_ or [])
    if inspected and format_ is Format.JSON:
        raise UsageError("--with: the JSON has no place for a result of inspect; use another --format")
    if from_ is not None:
        audited = _read_audit(from_)
    else:
        audited = _audit_and_solve(specs or [], trust_code=trust_code, shown=not no_progress)
    result = merge_runs(audited, runs)
    incomplete = exit_code(result) is ExitCode.INCOMPLETE
    if folder is None:
        _print(result, format_, inspected)
        return ExitCode.INCOMPLETE if incomplete else ExitCode.CLEAN
    reports = _reports(result, folder, inspected)
    code = _compare(reports) if check else _write(reports)
    return ExitCode.INCOMPLETE if incomplete else code


def _print(result: AuditResult, form: Format, inspected: Sequence[Inspected]) -> None:
    from imlp_audit.cli.output import emit_document
    from imlp_audit.records.document import to_json
    from imlp_audit.report.paper import report_document

    sections = [section for paper in result.papers for one in inspected for section in one.section(paper.id)]
    document = (*report_document(result), *sections)
    emit_document(document, form, to_json(result) if form is Format.JSON else "")


def _reports(result: AuditResult, folder: Path, inspected: Sequence[Inspected]) -> dict[Path, str]:
    """Return each paper's report and its figures, by their files."""
    from imlp_audit.report.figures import figures
    from imlp_audit.report.markdown import render_markdown
    from imlp_audit.report.paper import report_document

    reports = {}
    for paper in result.papers:
        sections = [section for one in inspected for section in one.section(paper.id, folder)]
        document = (*report_document(result.of(paper)), *sections)
        reports[folder / f"{paper.id}.md"] = render_markdown(document)
    for one in inspected:
        if one.lacking(folder):
            sys.stderr.write(
                f"imlp-audit: {', '.join(one.lacking(folder))} not in {folder} and left out of the report; "
                f"`imlp-audit inspect CHECKPOINT --draw {folder}` draws there\n"
            )
    return reports | {folder / name: drawn for name, drawn in figures(result).items()}


def _read_results(paths: list[Path]) -> tuple[list[Inspected], list[tuple[str, AuditResult]]]:
    """Read results of inspect, and of eval and bench by the names of their files."""
    from imlp_audit.inspect.document import read_inspected
    from imlp_audit.records.checkpoint import CheckpointReport
    from imlp_audit.records.document import format_of, from_json
    from imlp_audit.records.result import AuditResult

    inspected, runs = [], []
    for path in paths:
        text = _read_text(path)
        if format_of(text) == CheckpointReport.FORMAT:
            inspected.append(read_inspected(path, text))
        else:
            runs.append((str(path), from_json(AuditResult, text, str(path), written_by=RUN)))
    return inspected, runs


def _read_audit(path: Path) -> AuditResult:
    from imlp_audit.records.document import from_json
    from imlp_audit.records.result import AuditResult

    return from_json(AuditResult, _read_text(path), str(path))


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} could not be read: {error}") from error


def _audit_and_solve(specs: list[str], *, trust_code: bool, shown: bool) -> AuditResult:
    from imlp_audit.audit import Options, audit
    from imlp_audit.cli.progress import show_progress
    from imlp_audit.spec.library import load

    selection = load(specs)
    with show_progress(shown=shown) as announce:
        result = audit(selection, Options(jobs=helpers(), trust_code=trust_code), announce)
        progress = announce(len(selection.papers))
        solved = {
            paper.id: found for paper in selection.papers if (found := _solve(selection, paper, progress)) is not None
        }
    return result.model_copy(update={"solved": solved})


def _solve(selection: Selection, paper: Paper, progress: Callable[[str], None]) -> Solved | None:
    """Return what the numbers of a paper say about its models; None where its text leaves nothing open."""
    from imlp_audit.solve.selection import Search, default_targets, solve_selection

    targets = default_targets(paper)
    try:
        return solve_selection(selection, targets, Search(), progress) if targets else None
    except SolverError:  # of no model there are numbers: the checks say so one by one
        return None


def _compare(reports: dict[Path, str]) -> ExitCode:
    stale = [path for path, text in reports.items() if not path.is_file() or not _same(path, text)]
    for path in stale:
        state = "is stale" if path.exists() else "is missing"
        sys.stderr.write(f"{path} {state}; run the same command without --check to write it\n")
    return ExitCode.FINDINGS if stale else ExitCode.CLEAN


def _same(path: Path, text: str) -> bool:
    from imlp_audit.report.figures import same_figure

    kept = path.read_text(encoding="utf-8", errors="replace")
    return same_figure(kept, text) if path.suffix == ".svg" else kept == text


def _write(reports: dict[Path, str]) -> ExitCode:
    for path, text in reports.items():
        write_whole(path, text)
        sys.stderr.write(f"wrote {path}\n")
    return ExitCode.CLEAN
