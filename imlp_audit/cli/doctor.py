"""`imlp-audit doctor`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from imlp_audit.cli.exits import ExitCode
from imlp_audit.cli.output import emit
from imlp_audit.records.document import to_json
from imlp_audit.records.image_folder import FolderFinding, ImageFolderReport

if TYPE_CHECKING:
    from imlp_audit.evaluate.doctor.examine import Examination

app = typer.Typer(help="Find out what is wrong with a folder of images.", rich_markup_mode=None)


class Form(StrEnum):
    """How findings are written."""

    TEXT = "text"
    JSON = "json"


@app.callback()
def _doctor() -> None:
    """Find out what is wrong with a folder of images."""


@app.command()
def imagenet(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="ImageNet-1k's validation images, or the folder that holds `val`.")
    ],
    decode_all: Annotated[bool, typer.Option("--all", help="Decode every image, which takes minutes.")] = False,
    form: Annotated[Form, typer.Option("--format", "-f", help="What to print.")] = Form.TEXT,
) -> int:
    """Find out what is wrong with a folder of ImageNet-1k's validation images."""
    from imlp_audit.evaluate.doctor.examine import examine

    if decode_all and sys.stderr.isatty():
        sys.stderr.write("decoding every image; this takes minutes\n")
    found = examine(folder, decode_all=decode_all)
    emit(to_json(_report(found)) if form is Form.JSON else "".join(f"{line}\n" for line in _lines(found)))
    return ExitCode.FINDINGS if found.findings else ExitCode.CLEAN


def _report(found: Examination) -> ImageFolderReport:
    return ImageFolderReport(
        folder=found.folder,
        images=found.images,
        classes=found.classes,
        findings=tuple(
            FolderFinding(kind=str(one.kind), what=one.what, next=one.then, names=one.names) for one in found.findings
        ),
        notes=found.notes,
    )


def _lines(found: Examination) -> Iterator[str]:
    from imlp_audit.numbers.words import count_of

    yield f"{found.folder}: {count_of(found.images, 'image')} in {count_of(found.classes, 'class folder')}"
    yield from (f"{one.kind}: {one.what}; next: {one.then}" for one in found.findings)
    yield from (f"note: {note}" for note in found.notes)
    if not found.findings:
        yield "nothing wrong found"
