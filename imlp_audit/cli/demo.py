"""`imlp-audit demo`: a paper of one page with three errors, what the audit says of them, and how to mend them."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from imlp_audit.cli.options import NoProgress
from imlp_audit.cli.output import ExitCode, emit_document
from imlp_audit.cli.progress import show_progress
from imlp_audit.errors import OutputError, UsageError
from imlp_audit.pipeline import Options, audit, list_versions
from imlp_audit.records.check import Verdict
from imlp_audit.report.document import Code, Heading, List, Paragraph, parse_code
from imlp_audit.report.first_screen import overview
from imlp_audit.spec.load import load

_PAPER = Path(__file__).parent / "demo_paper"
_FILES = ("paper.tex", "paper.yaml", "claims/sec2.py")
_WHAT = "`paper.tex` is the paper, `paper.yaml` has its numbers and `claims/sec2.py` its equation. The audit says:"
_ERRORS = (
    "Two digits of a parameter count changed places: in `paper.yaml` change `22.50` to `22.05`.",
    "A change does not follow from its two cells. The speeds need the authors' hardware, but the change between them "
    "is arithmetic: change `-69.2%` to `-62.9%`.",
    "An equation loses the sign of x: in `claims/sec2.py` change `+ ReLU(-x)` to `- ReLU(-x)`, and `+ relu(` to "
    "`- relu(`.",
)
_OWN = (
    "Copy `paper.yaml` to `mypaper.yaml` in another folder, change `paper: demo`, put your table in place of this "
    "one, and name a model for each row. `lint` finds mistakes in the file, `verify` those in the paper, "
    "and `report` writes a page about it."
)
_OWN_COMMANDS = ("lint mypaper.yaml", "verify mypaper.yaml", "report mypaper.yaml --dir report")


def demo(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A new or empty folder; if left out, this one.", show_default=False)
    ] = Path(),
    no_progress: NoProgress = False,
) -> int:
    """Write a paper of one page with three errors, audit it, and show how each is caught and mended."""
    list_versions()  # where one is missing, nothing is written
    write_paper(folder)
    with show_progress(shown=not no_progress) as announce:
        result = audit(load([str(folder)], trust_code=True), Options(jobs=1, trust_code=True), announce)
    emit_document((
        Heading("A paper of one page, with three errors in it", 1),
        Paragraph(parse_code(_WHAT)),
        *overview(result),
        Heading("Mend them, and run the audit again", 3),
        List(tuple(map(parse_code, _ERRORS))),
        Code(shlex.join(["imlp-audit", "verify", str(folder), "--trust-code"]), "sh"),  # the equation is Python
        Heading("Your own paper", 3),
        Paragraph(parse_code(_OWN)),
        Code("\n".join(f"imlp-audit {command}" for command in _OWN_COMMANDS), "sh"),
    ))  # fmt: skip
    return ExitCode.INCOMPLETE if result.counts()[Verdict.ERROR] else ExitCode.CLEAN


def write_paper(folder: Path) -> None:
    """Write the paper into an empty or new folder. Raises UsageError for any other, OutputError where it cannot."""
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise UsageError(f"{folder} is not an empty folder; name a new one")
        for name in _FILES:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes((_PAPER / name).read_bytes())
    except OSError as error:
        raise OutputError(f"{folder}: the demo could not be written: {error.strerror or error}") from error
