"""`imlp-audit demo`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from imlp_audit.cli.exits import ExitCode
from imlp_audit.cli.options import Formatted, NoProgress
from imlp_audit.cli.output import emit, emit_document
from imlp_audit.errors import AuditError
from imlp_audit.report.formats import Format

if TYPE_CHECKING:
    from imlp_audit.records.result import AuditResult

_PROMPT = "\nMend one in your editor and press Enter to audit again (q and Enter to stop): "


def demo(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A new or empty folder; if left out, this one.", show_default=False)
    ] = Path(),
    format_: Formatted = Format.RICH,
    no_progress: NoProgress = False,
) -> int:
    """Write a paper of one page with three errors, audit it, and show how each is caught and mended."""
    from imlp_audit.cli.demo.document import caught_document, mend_document, next_document
    from imlp_audit.cli.demo.planted import write_paper
    from imlp_audit.pipeline import list_versions
    from imlp_audit.records.check import Verdict

    list_versions()  # where one is missing, nothing is written
    write_paper(folder)
    result = _audit(folder, shown=not no_progress)
    caught = caught_document(result, folder)
    if format_ is Format.RICH and _somebody_answers():
        emit_document(caught, format_)
        mend_together(folder, input, shown=not no_progress)
        emit("\n")
        emit_document(next_document(), format_)
    else:
        emit_document((*caught, *mend_document(folder), *next_document()), format_, result)
    return ExitCode.INCOMPLETE if result.counts()[Verdict.ERROR] else ExitCode.CLEAN


def _audit(folder: Path, *, shown: bool) -> AuditResult:
    """Audit the demo's paper. Its Python is run: it is ours, and what its reader made of it."""
    from imlp_audit.cli.progress import show_progress
    from imlp_audit.pipeline import Options, audit
    from imlp_audit.spec.library import load

    with show_progress(shown=shown) as announce:
        return audit(load([str(folder)], trust_code=True), Options(jobs=1, trust_code=True), announce)


def _somebody_answers() -> bool:
    """Return whether a person can read a question and answer it."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def mend_together(folder: Path, ask: Callable[[str], str], *, shown: bool) -> None:
    """Audit the paper each time its reader changed something, until nothing fails or they have seen enough."""
    from imlp_audit.cli.demo.document import failing, state_document

    while True:
        try:
            if ask(_PROMPT).strip():
                return
        except EOFError:
            return
        try:
            result = _audit(folder, shown=shown)
        except AuditError as error:  # a file that was edited until it could not be read
            sys.stderr.write(f"{error}\n")
            continue
        emit_document(state_document(result), Format.RICH)
        if not failing(result):
            return
