"""Results of `imlp-audit inspect` as sections of reports."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from imlp_audit.inspect.document import inspection_document
from imlp_audit.records.checkpoint import CheckpointReport
from imlp_audit.records.document import from_json
from imlp_audit.records.inspection import Inspection
from imlp_audit.report.document import Document, Paragraph, parse_code


@dataclass(frozen=True)
class Inspected:
    """What was found in a checkpoint's weights, its SHA-256, the papers whose rows it fits, and captions by picture."""

    sha256: str
    papers: frozenset[str]
    weights: Inspection
    pictures: dict[str, str]

    def section(self, paper: str, folder: Path | None = None) -> Document:
        """Return the section of a paper's report; empty if the checkpoint fits no row of it.

        It shows the pictures that lie in the folder of the report.
        """
        if paper not in self.papers:
            return ()
        there = {file: caption for file, caption in self.pictures.items() if folder and (folder / file).is_file()}
        heading, *rest = inspection_document(self.weights, there)
        source = f"Weights of the checkpoint with SHA-256 `{self.sha256}`, from `imlp-audit inspect`."
        return (heading, Paragraph(parse_code(source)), *rest)

    def lacking(self, folder: Path) -> list[str]:
        """Return the pictures that were drawn and do not lie in the folder."""
        return [file for file in self.pictures if not (folder / file).is_file()]


def read_inspected(path: Path, text: str) -> Inspected:
    """Read a JSON result of `inspect`. Raises UsageError for a broken one."""
    report = from_json(CheckpointReport, text, str(path))
    return Inspected(
        sha256=report.file.sha256,
        papers=frozenset(place.partition("/")[0] for one in report.exact or report.nearest for place in one.places),
        weights=report.weights,
        pictures={Path(file).name: caption for file, caption in report.pictures.items()},
    )
