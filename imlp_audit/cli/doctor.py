"""`imlp-audit doctor`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from imlp_audit.cli.exits import ExitCode
from imlp_audit.cli.options import Formatted
from imlp_audit.cli.output import emit_document
from imlp_audit.report.formats import Format

app = typer.Typer(help="Find out what is wrong with a folder of images.", rich_markup_mode=None)


@app.callback()
def _doctor() -> None:
    """Find out what is wrong with a folder of images."""


@app.command()
def imagenet(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DIR",
            help="ImageNet-1k's validation images, or the folder that holds `val`; also parquet files and shards.",
        ),
    ],
    decode_all: Annotated[bool, typer.Option("--all", help="Decode every image, which takes minutes.")] = False,
    format_: Formatted = Format.RICH,
) -> int:
    """Find out what is wrong with a folder of ImageNet-1k's validation images."""
    from imlp_audit.evaluate.doctor.examine import examine
    from imlp_audit.records.listing import FolderFinding, ImageFolderReport
    from imlp_audit.report.listings import folder_document

    if decode_all and sys.stderr.isatty():
        sys.stderr.write("decoding every image; this takes minutes\n")
    found = examine(folder, decode_all=decode_all)
    report = ImageFolderReport(
        folder=found.folder,
        images=found.images,
        classes=found.classes,
        findings=tuple(
            FolderFinding(kind=str(one.kind), what=one.what, next=one.then, names=one.names) for one in found.findings
        ),
        notes=found.notes,
    )
    emit_document(folder_document(report), format_, report)
    return ExitCode.FINDINGS if found.findings else ExitCode.CLEAN
