"""Results of `imlp-audit inspect` as sections of reports."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from imlp_audit.errors import UsageError
from imlp_audit.inspect.telling import as_markdown
from imlp_audit.records.inspection import Inspection

FORMAT = "imlp-audit/inspect/1"


@dataclass(frozen=True)
class Inspected:
    """What was found in a checkpoint's weights, its SHA-256, the papers whose rows it fits, and captions by picture."""

    sha256: str
    papers: frozenset[str]
    weights: Inspection
    pictures: dict[str, str]

    def section(self, paper: str, folder: Path | None = None) -> str:
        """Return the section of a paper's report; empty where the checkpoint is of no row of it.

        Pictures are shown that lie in the folder of the report.
        """
        if paper not in self.papers:
            return ""
        there = {file: caption for file, caption in self.pictures.items() if folder and (folder / file).is_file()}
        told = f"Of the checkpoint with SHA-256 `{self.sha256}`, by `imlp-audit inspect`."
        heading, *rest = "\n".join(as_markdown(self.weights, there)).strip().split("\n")
        return "\n".join(["", heading, "", told, *rest]) + "\n"

    def lacking(self, folder: Path) -> list[str]:
        """Return the pictures that were drawn and do not lie in a folder."""
        return [file for file in self.pictures if not (folder / file).is_file()]


def read_inspected(path: Path, text: str) -> Inspected | None:
    """Read a JSON result of `inspect`; None for one of another format. Raises UsageError for a broken one."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None  # said by whoever reads results of other formats
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        return None
    try:
        fitted = [str(place) for one in _fits(document) for place in one["places"]]
        return Inspected(
            sha256=str(int(document["file"]["sha256"], 16).to_bytes(32, "big").hex()),
            papers=frozenset(place.partition("/")[0] for place in fitted),
            weights=Inspection.model_validate(document["weights"]),
            pictures={str(Path(file).name): str(caption) for file, caption in document["pictures"].items()},
        )
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError, ValidationError) as error:
        advice = "give a file written by `imlp-audit inspect --format json`"
        raise UsageError(
            f"{path}: not a whole result of inspect ({type(error).__name__}: {error}); {advice}"
        ) from error


def _fits(document: dict[str, Sequence[dict[str, Sequence[str]]]]) -> Iterator[dict[str, Sequence[str]]]:
    yield from document["exact"] or document["nearest"]
