"""The files of `imlp-audit report --dir`: rendered, written, or compared with what lies there."""

from __future__ import annotations

import sys
from os.path import lexists
from pathlib import Path
from typing import TYPE_CHECKING

from imlp_audit.cli.exits import ExitCode
from imlp_audit.errors import UsageError
from imlp_audit.files import MAX_DOCUMENT_BYTES, FileError, read_text
from imlp_audit.records.base import FileName, Record
from imlp_audit.report.files import check_writable, write_whole

if TYPE_CHECKING:
    from imlp_audit.cache.store import Store
    from imlp_audit.records.result import AuditResult


class Reports(Record):
    """Reports by the names of their files, as they are kept for the next run: most of their time goes into drawing."""

    files: dict[FileName, str]


def prepare_folder(folder: Path) -> None:
    """Make a folder for reports if it isn't there. Raises UsageError if that can't be done."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"--dir {folder}: this folder cannot be made: {error.strerror or error}; name another"
        ) from error
    check_writable(folder / "PAPER.md")


def recall_reports(result: AuditResult, folder: Path, store: Store) -> dict[Path, str]:
    """Return the reports of a result that needs no other file; those of an earlier run on the same result if kept."""
    from imlp_audit.cache.store import digest_of, remember
    from imlp_audit.records.document import to_json

    def make() -> Reports:
        rendered = render_reports(result, folder)
        return Reports(files={str(path.relative_to(folder)): text for path, text in rendered.items()})

    kept = remember(store, digest_of([to_json(result)]), Reports, make, lambda _: True)
    return {folder / name: text for name, text in kept.files.items()}


def render_reports(result: AuditResult, folder: Path) -> dict[Path, str]:
    """Return an index, and each paper's page, markdown and figures, by their files."""
    from imlp_audit.report.figures import draw_figures
    from imlp_audit.report.markdown import render_markdown
    from imlp_audit.report.page import PagePictures, render_page
    from imlp_audit.report.paper import index_document, report_document, short_report

    reports = {folder / "index.html": render_page(index_document(result))}
    for paper in result.papers:
        own = result.of(paper)
        whole = report_document(own)
        drawn = draw_figures(whole)
        reports[folder / f"{paper.id}.html"] = render_page(whole, PagePictures(folder, drawn))
        reports[folder / f"{paper.id}.md"] = render_markdown(short_report(own))
        reports |= {folder / name: text for name, text in drawn.items()}
    return reports


def compare_reports(reports: dict[Path, str]) -> ExitCode:
    """Say which reports are not there as they would be written now."""
    stale = [path for path, text in reports.items() if not lexists(path) or not _same(path, text)]
    for path in stale:
        state = "is stale" if lexists(path) else "is missing"
        sys.stderr.write(f"{path} {state}; run the same command without --check to write it\n")
    return ExitCode.FINDINGS if stale else ExitCode.CLEAN


def _same(path: Path, text: str) -> bool:
    """Compare a file with a report; drawings by the data that they show."""
    from imlp_audit.report.figures import same_figure, same_page

    try:
        kept = read_text(path, MAX_DOCUMENT_BYTES).replace("\r\n", "\n")
    except FileError:  # nothing that we wrote
        return False
    match path.suffix:
        case ".svg":
            return same_figure(kept, text)
        case ".html":
            return same_page(kept, text)
        case _:
            return kept == text


def write_reports(reports: dict[Path, str]) -> ExitCode:
    """Write the reports, all of them or none. Raises UsageError where one can't be written."""
    for path in reports:
        check_writable(path)
    for path, text in reports.items():
        write_whole(path, text)
        sys.stderr.write(f"wrote {path}\n")
    return ExitCode.CLEAN
