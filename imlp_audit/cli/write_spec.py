"""Writing into a paper's folder: the lock of its findings, and drafts of findings."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from imlp_audit.checks.acknowledge import renew_lock
from imlp_audit.errors import SpecError
from imlp_audit.files import MAX_SPEC_BYTES, read_bytes
from imlp_audit.records.document import to_json
from imlp_audit.records.finding import Finding, RenewedLock
from imlp_audit.records.result import AuditResult
from imlp_audit.report.files import check_writable, write_whole
from imlp_audit.spec.edit import draft_ids, read_text, with_drafts
from imlp_audit.spec.findings import covered_checks
from imlp_audit.spec.paper import Paper
from imlp_audit.spec.reader import read_spec


def check_spec(text: str, name: str) -> None:
    """Read the new text before it takes the old one's place. Raises SpecError."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / name
        copy.write_text(text, encoding="utf-8", newline="")
        _, problems = read_spec(copy, name)
    if problems:
        raise SpecError(problems)


def write_lock(paper: Paper, result: AuditResult, *, draft: bool, write: bool) -> RenewedLock:
    """Write a paper's lock if it changed, and with `draft` findings to be titled.

    Return what was written; without `write`, what would be.
    """
    file = paper.findings_file
    lock, report = renew_lock(paper, result, file.lock_shown_as)
    if draft:
        drafts = draft_ids(_without_drafts(paper, report.unexplained), [entry.value.id for entry in paper.findings])
        report = report.model_copy(update={"drafts": tuple(drafts)})
        if write and drafts:
            _write_drafts(paper, drafts)
    if write and (lock.checks or lock.evidence or file.lock_path.exists()):
        check_writable(file.lock_path)
        _write(file.lock_path, to_json(lock), file.lock_shown_as)
    return report


def _without_drafts(paper: Paper, unexplained: tuple[Finding, ...]) -> list[Finding]:
    """Return the failing checks that no entry covers, not even a draft."""
    left = []
    for finding in unexplained:
        drafted = covered_checks(paper, finding.checks)
        checks = tuple(name for name in finding.checks if name not in drafted)
        left += [finding.model_copy(update={"checks": checks})] if checks else []
    return left


def _write_drafts(paper: Paper, drafts: dict[str, Finding]) -> None:
    file = paper.findings_file
    check_writable(file.path)
    before = read_text(file.path) if file.path.exists() else None
    text = with_drafts(before, paper.id, drafts, file.shown_as)
    check_spec(text, file.path.name)
    _write(file.path, text, file.shown_as)


def _write(path: Path, text: str, shown_as: str) -> None:
    if path.exists() and read_bytes(path, MAX_SPEC_BYTES) == text.encode():
        return
    write_whole(path, text)
    sys.stderr.write(f"wrote {shown_as}\n")
