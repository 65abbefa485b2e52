"""Where results go: standard output, and the files that -o names; and how the process ends."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING

from imlp_audit.errors import ClosedPipeError, OutputError, UsageError
from imlp_audit.report.atomic_files import check_writable, write_whole
from imlp_audit.report.document import make_visible
from imlp_audit.report.formats import ENDINGS, AuditFormat, Format, disarm_commands, render_audit, render_document
from imlp_audit.report.terminal import Surface

if TYPE_CHECKING:
    from imlp_audit.records.base import JsonDocument
    from imlp_audit.records.result import AuditResult
    from imlp_audit.report.document import Document


_WIDTH = 120  # of what is not a terminal, unless COLUMNS says otherwise
_SOURCES = (".yaml", ".yml", ".py", ".lock")  # what a result never replaces
_MOST_ERRORS = 5  # that are named where nothing is printed


@dataclass(frozen=True)
class Outputs:
    """Where the result of an audit goes: what is printed, if anything, and the files."""

    printed: AuditFormat | None
    files: tuple[tuple[AuditFormat, Path], ...] = ()

    @property
    def saved(self) -> Path | None:
        """The file that the result can be read from again."""
        return next((path for form, path in self.files if form is AuditFormat.JSON), None)


def parse_outputs(printed: AuditFormat | None, texts: Sequence[str] | None) -> Outputs:
    """Read each FORMAT:FILE or FILE.

    Raises UsageError for an unknown format, a file that can't be written, and a file that is named twice.
    """
    files = tuple(_parse_output(text) for text in texts or ())
    seen: set[Path] = set()
    for _, path in files:
        if path.resolve() in seen:
            raise UsageError(f"-o {path}: this file is named twice, and one result would replace the other")
        seen.add(path.resolve())
    return Outputs(printed, files)


def _parse_output(text: str) -> tuple[AuditFormat, Path]:
    """Read FORMAT:FILE, or a file whose ending says the format."""
    name, colon, file = text.partition(":")
    known = [form.value for form in AuditFormat]
    by_ending = next((form for ending, form in ENDINGS.items() if text.lower().endswith(ending)), None)
    if colon and name in known and file:
        form, path = AuditFormat(name), Path(file)
    elif by_ending is not None and not re.match("([A-Za-z]{2,})?:", text):  # a misspelled format, but no drive
        form, path = by_ending, Path(text)
    else:
        endings = ", ".join(ENDINGS)
        raise UsageError(
            f"-o {text}: write FORMAT:FILE with one of the formats {', '.join(known)}, or a FILE that ends in {endings}"
        )
    if str(path) == "-":
        raise UsageError(f"-o {text}: to print on standard output, use --format {form}")
    check_writable(path, links=True)
    if path.exists() and path.resolve().suffix.lower() in _SOURCES:
        raise UsageError(f"-o {text}: this would replace a spec or code; name another file")
    return form, path


def emit_document(document: Document, form: Format = Format.RICH, record: JsonDocument | None = None) -> None:
    """Print a document on standard output in a format; `record` is what JSON shows of it."""
    emit(render_document(document, form, record, surface()))


def emit_result(result: AuditResult, outputs: Outputs, *, screen: Document | None = None) -> None:
    """Write the result of an audit to files, and then, where there is a format, to standard output."""
    if outputs.printed is None:
        _tell_errors(result)
    for form, path in outputs.files:
        write_whole(path, render_audit(result, form, screen), links=True)
    if outputs.printed is not None:
        emit(render_audit(result, outputs.printed, screen, surface()))


def _tell_errors(result: AuditResult) -> None:
    """Report on standard error why checks could not be completed, where nothing is printed."""
    from imlp_audit.records.check import Verdict

    errors = [check for check in result.checks if check.verdict is Verdict.ERROR]
    for check in errors[:_MOST_ERRORS]:
        tell(make_visible(f"{check.id}: {check.reason}"))
    if len(errors) > _MOST_ERRORS:
        tell(f"{len(errors) - _MOST_ERRORS} more checks could not be completed")


def tell(what: object) -> None:
    """Print a message on standard error."""
    print(f"imlp-audit: {make_inert(what)}", file=sys.stderr)


def make_inert(what: object) -> str:
    """Return a message in which nothing of a user's file acts on a terminal, or on the log of a runner."""
    return disarm_commands(make_visible(str(what), keep="\n"))


def surface() -> Surface:
    """Return what standard output is: a terminal's width, and colours where it is one and NO_COLOR is not set."""
    on_terminal = sys.stdout is not None and sys.stdout.isatty()
    asked = on_terminal or "COLUMNS" in os.environ
    return Surface(
        width=shutil.get_terminal_size((_WIDTH, 24)).columns if asked else _WIDTH,
        colour=on_terminal and not os.environ.get("NO_COLOR"),
    )


def emit(text: str) -> None:
    """Write to standard output. Raises ClosedPipeError if nobody reads it, OutputError if it can't be written.

    On a broken stream Python would complain again when it ends, so the stream is replaced.
    """
    if sys.stdout is None:
        raise OutputError("standard output is closed; nothing could be written")
    try:
        sys.stdout.writelines(text.splitlines(keepends=True))  # in one piece, Python may not notice a closed pipe
        sys.stdout.flush()
    except (BrokenPipeError, OSError, ValueError) as error:  # ValueError: standard output was closed
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  # for what is left of the process
        if isinstance(error, BrokenPipeError):
            raise ClosedPipeError from error
        raise OutputError(f"standard output could not be written: {error}") from error


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
