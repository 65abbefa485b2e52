"""Exit codes."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from imlp_audit.records.result import AuditResult


class ExitCode(IntEnum):
    """What the process says when it ends; where several apply, the later one listed here wins."""

    CLEAN = 0
    FINDINGS = 1
    INCOMPLETE = 3
    UNUSABLE = 2
    INTERRUPTED = 130


def exit_code(result: AuditResult, *, strict: bool = False, baseline: bool = True) -> ExitCode:
    """Return the code for a finished audit.

    `strict` counts unverifiable checks as failing. Without `baseline`, acknowledged checks fail like any other.
    """
    from imlp_audit.records.check import FAILS, Verdict

    counts = result.counts()
    if counts[Verdict.ERROR]:
        return ExitCode.INCOMPLETE
    found = sum(counts[verdict] for verdict in FAILS) - (result.acknowledged() if baseline else 0)
    if found or (strict and counts[Verdict.UNVERIFIABLE]):
        return ExitCode.FINDINGS
    return ExitCode.CLEAN
