"""`imlp-audit demo`: a paper of one page with three errors, each shown as it is caught, and how to mend it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from imlp_audit.cli.options import NoProgress, trusting
from imlp_audit.cli.output import ExitCode, emit_document
from imlp_audit.cli.progress import show_progress
from imlp_audit.errors import OutputError, UsageError
from imlp_audit.pipeline import Options, audit, list_versions
from imlp_audit.records.check import FAILS, Check, Verdict
from imlp_audit.records.result import AuditResult
from imlp_audit.report.document import Code, Document, Heading, Item, List, Paragraph, code, join, parse_code
from imlp_audit.report.tables import write_printed
from imlp_audit.report.verdicts import verdict_span
from imlp_audit.spec.load import load

_PAPER = Path(__file__).parent / "demo_paper"
_FILES = ("paper.tex", "paper.yaml", "claims/sec2.py")
_OWN = (
    "Copy `paper.yaml` to `mypaper.yaml` in another folder, change `paper: demo`, put your table in place of this "
    "one, and name a model for each row. `lint` finds mistakes in the file, `verify` those in the paper, "
    "and `report` writes a page about it."
)


class PlantedError(NamedTuple):
    """An error, the check that catches it, why in plain words, and the texts of one file whose change mends it."""

    title: str
    check: str
    why: str
    file: str
    edits: tuple[tuple[str, str], ...]

    def explain_command(self, folder: Path) -> str:
        """Return the command that explains it."""
        return shlex.join(["imlp-audit", "explain", self.check, str(folder), *trusting(self.file.endswith(".py"))])


PLANTED = (
    PlantedError(
        "A wrong parameter count",
        "demo/1/deit_s/params",
        "The model was built and counted: it has another size. Two digits changed places.",
        "paper.yaml",
        (("22.50", "22.05"),),
    ),
    PlantedError(
        "A percentage that does not follow from its two cells",
        "demo/1/deit_s/speed.delta",
        "The two speeds need the authors' hardware, but the change between them is arithmetic.",
        "paper.yaml",
        (("-69.2%", "-62.9%"),),
    ),
    PlantedError(
        "An equation that does not do what the text says",
        "demo/equations/relu_loses_nothing",
        "The equation was run on examples, and this is the simplest that it fails on: the sign of x is lost.",
        "claims/sec2.py",
        (("+ ReLU(-x)", "- ReLU(-x)"), ("+ relu(", "- relu(")),
    ),
)


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
    emit_document(_document(result, folder))
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


def _document(result: AuditResult, folder: Path) -> Document:
    checks = {check.id: check for check in result.checks}
    caught = sum(one.check in checks and checks[one.check].verdict in FAILS for one in PLANTED)
    what = (
        "`paper.tex` is the paper, `paper.yaml` has its numbers and `claims/sec2.py` its equation. "
        f"The audit caught {caught} of {len(PLANTED)} errors."
    )
    errors = [
        (Heading(f"{number}. {one.title}", 3), List(tuple(_describe(one, checks[one.check], folder))))
        for number, one in enumerate(PLANTED, 1)
    ]
    own = ("lint mypaper.yaml", "verify mypaper.yaml", "report mypaper.yaml --dir report")
    return (
        Heading("A paper of one page, with three errors in it", 1),
        Paragraph(parse_code(what)),
        *(block for blocks in errors for block in blocks),
        Heading("Mend one of them, and run the audit again", 3),
        Code(shlex.join(["imlp-audit", "verify", str(folder), "--trust-code"]), "sh"),  # the equation is Python
        Heading("Your own paper", 3),
        Paragraph(parse_code(_OWN)),
        Code("\n".join(f"imlp-audit {command}" for command in own), "sh"),
    )


def _describe(one: PlantedError, check: Check, folder: Path) -> Iterator[Item]:
    text = (_PAPER / one.file).read_text(encoding="utf-8")
    changes = (
        (f"line {text[: text.index(wrong)].count(chr(10)) + 1}: change ", code(wrong), " to ", code(right))
        for wrong, right in one.edits
    )
    yield Item(write_printed(check), label="printed")
    yield Item((verdict_span(check.verdict), f": {check.reason}"), label="caught")
    yield Item(one.why, label="so")
    yield Item((code(one.file), " ", *join(changes, "; ")), label="mend")
    yield Item(code(one.explain_command(folder)), label="ask")
