"""`imlp-audit report` and `imlp-audit diff`: they read the JSON of audits and of runs."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from imlp_audit.cache.store import Store
from imlp_audit.cli.loading import load_specs, open_store
from imlp_audit.cli.options import Formatted, NoCache, NoProgress, Output, Specs, TrustCode, helpers
from imlp_audit.cli.output import ExitCode, emit_document, emit_result, exit_code, parse_outputs
from imlp_audit.cli.progress import show_progress
from imlp_audit.cli.verify import audit_with_causes
from imlp_audit.errors import SolverError, UsageError
from imlp_audit.files import BOM, MAX_RESULT_BYTES, FileError, read_text
from imlp_audit.pipeline import Options
from imlp_audit.records.base import from_json
from imlp_audit.records.check import Check, CheckKind, Verdict
from imlp_audit.records.diff import diff_audits
from imlp_audit.records.result import AuditResult
from imlp_audit.records.solution import Solved
from imlp_audit.report.atomic_files import check_writable, write_whole
from imlp_audit.report.formats import AuditFormat, Format
from imlp_audit.report.listings import diff_document
from imlp_audit.report.markdown import render_short
from imlp_audit.report.page import render_page
from imlp_audit.report.paper import index_document, report_document
from imlp_audit.solve.selection import default_targets, solve_selection
from imlp_audit.spec.load import Selection
from imlp_audit.spec.paper import Paper

RUN = "`imlp-audit eval`, `bench` or `inspect` with `--format json`"


def report(
    specs: Specs = None,
    from_: Annotated[
        Path | None, typer.Option("--from", metavar="FILE", help="Use a JSON result of verify; audit nothing.")
    ] = None,
    with_: Annotated[
        list[Path] | None,
        typer.Option("--with", metavar="FILE", help="A JSON result of eval or bench to put in; repeatable."),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--dir",
            metavar="DIR",
            help="Write each paper's page and markdown, and an index of these papers, into this folder.",
        ),
    ] = None,
    format_: Annotated[
        AuditFormat | None, typer.Option("--format", "-f", help="What to print; markdown if no file is written.")
    ] = None,
    output: Output = None,
    trust_code: TrustCode = False,
    no_progress: NoProgress = False,
    no_cache: NoCache = False,
) -> int:
    """Write the report of each paper."""
    if from_ is not None and specs:
        raise UsageError("give specs to audit or --from FILE, not both")
    outputs = parse_outputs(format_ or (None if output else AuditFormat.MARKDOWN), output)
    if folder is not None and (format_ is not None or output):
        raise UsageError("--dir writes pages and markdown; leave out --format and -o, or leave out --dir")
    if folder is not None:
        _prepare_folder(folder)
    runs = [(str(path), _read_result(path, RUN)) for path in with_ or []]
    store = open_store(no_cache=no_cache)
    if from_ is not None:
        audited = read_audit(from_)
    else:
        audited = _audit_and_solve(specs or [], store, trust_code=trust_code, shown=not no_progress)
    result = merge_runs(audited, runs)
    if folder is not None:
        _write_reports(result, folder)
    else:
        emit_result(result, outputs)
    return ExitCode.INCOMPLETE if exit_code(result) is ExitCode.INCOMPLETE else ExitCode.CLEAN


def _prepare_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"--dir {folder}: this folder cannot be made: {error.strerror or error}; name another"
        ) from error
    check_writable(folder / "PAPER.md")


def _write_reports(result: AuditResult, folder: Path) -> None:
    reports = {folder / "index.html": render_page(index_document(result))}
    for paper in result.papers:
        whole = report_document(result.of(paper))
        reports[folder / f"{paper.id}.html"] = render_page(whole)
        reports[folder / f"{paper.id}.md"] = render_short(whole)
    for path in reports:
        check_writable(path)
    for path, text in reports.items():
        write_whole(path, text)
        sys.stderr.write(f"wrote {path}\n")


def read_audit(path: Path) -> AuditResult:
    """Read a JSON result of verify. Raises UsageError for any other file, and for one that has a part twice."""
    result = _read_result(path)
    parts = (
        *(f"the paper {paper.id}" for paper in result.papers),
        *(f"the table {paper.id}/{table.id}" for paper in result.papers for table in paper.tables),
        *(f"the check {check.id!r}" for check in result.checks),
    )
    twice = next((part for part, count in Counter(parts).items() if count > 1), None)
    if twice is not None:
        raise UsageError(f"{path}: {twice} stands there twice; run `imlp-audit verify` again")
    return result


def _read_result(path: Path, written_by: str | None = None) -> AuditResult:
    try:
        text = read_text(path, MAX_RESULT_BYTES, str(path)).removeprefix(BOM)
    except FileError as error:
        raise UsageError(f"{error}; give a JSON result of imlp-audit, as `-o result.json` writes it") from error
    return from_json(AuditResult, text, str(path), written_by=written_by)


def merge_runs(audit: AuditResult, runs: Sequence[tuple[str, AuditResult]]) -> AuditResult:
    """Return an audit with the checks of runs in their places; each run comes with the name of its file.

    A number that the audit leaves open takes its run's check. Raises UsageError for a run without evidence; for a
    number that the audit doesn't have, has with another printed text, or has a verdict on; and for a number that two
    runs judge differently.
    """
    known = {check.id: check for check in audit.checks}
    found: dict[str, tuple[str, Check]] = {}
    for name, run in runs:
        measured = [check for check in run.checks if check.evidence]
        if not measured:
            raise UsageError(f"{name}: none of its checks has evidence; give a JSON result of eval or bench")
        for check in measured:
            own = _fit_in(name, check, known.get(check.id))
            other, before = found.setdefault(check.id, (name, own))
            if before != own:
                raise UsageError(
                    f"{other} and {name} both judge {check.id}; a report has one run per number: give one of them"
                )
    checks = tuple(found[check.id][1] if check.id in found else check for check in audit.checks)
    return audit.model_copy(update={"checks": checks})


def _fit_in(name: str, check: Check, here: Check | None) -> Check:
    """Return a run's check with its line here. Raises UsageError for one unknown, printed otherwise or judged."""
    if here is None or here.kind is not CheckKind.CELL:
        raise UsageError(f"{name}: {check.id} is not in this report; give the specs that the run was made with")
    if check.printed != here.printed:
        was = f"it judges {check.id} as {check.printed!r}, but {here.printed!r} is printed"
        raise UsageError(f"{name}: {was}; run it again")
    own = check.model_copy(update={"source": here.source})
    if (here.verdict is not Verdict.UNVERIFIABLE or here.evidence) and own != here:
        raise UsageError(f"{name}: {check.id} already has a verdict ({here.verdict}), which a run does not replace")
    return own


def _audit_and_solve(specs: list[str], store: Store, *, trust_code: bool, shown: bool) -> AuditResult:
    selection = load_specs(specs, trust_code=trust_code)
    with show_progress(shown=shown) as announce:
        result = audit_with_causes(selection, Options(jobs=helpers(), trust_code=trust_code, store=store), announce)
        progress = announce(len(selection.papers))
        solved = {
            paper.id: found
            for paper in selection.papers
            if (found := _solve(selection, paper, progress, store)) is not None
        }
    return result.model_copy(update={"solved": solved})


def _solve(selection: Selection, paper: Paper, progress: Callable[[str], None], store: Store) -> Solved | None:
    """Return what the numbers of a paper say about its models; None where its text leaves nothing open."""
    targets = default_targets(paper)
    try:
        return solve_selection(selection, targets, progress, store, jobs=helpers()) if targets else None
    except SolverError:  # of no model there are numbers: the checks say so one by one
        return None


def diff(
    before: Annotated[
        Path, typer.Argument(metavar="A", help="The JSON result of verify before the change.", show_default=False)
    ],
    after: Annotated[
        Path, typer.Argument(metavar="B", help="The result after it, of the same papers.", show_default=False)
    ],
    format_: Formatted = Format.RICH,
) -> int:
    """Show what changed between two audits; exit with 1 if a verdict got worse or a new check fails."""
    one, other = read_audit(before), read_audit(after)
    first, second = ({paper.id for paper in result.papers} for result in (one, other))
    if not first & second:
        raise UsageError(
            f"{before} audits {', '.join(sorted(first)) or 'nothing'} and {after} audits "
            f"{', '.join(sorted(second)) or 'nothing'}; give two audits of the same papers"
        )
    found = diff_audits(one, other)
    emit_document(diff_document(found, short=format_ is Format.RICH), format_, found)
    return ExitCode.FINDINGS if found.got_worse else ExitCode.CLEAN
