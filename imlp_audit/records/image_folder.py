"""What is wrong with a folder of images: the JSON of `imlp-audit doctor`."""

from __future__ import annotations

from typing import ClassVar

from imlp_audit.records.base import Record
from imlp_audit.records.document import JsonDocument
from imlp_audit.records.evidence import Count


class FolderFinding(Record):
    """One problem, what to do next, and the files or folders that show it."""

    kind: str
    what: str
    next: str
    names: tuple[str, ...]


class ImageFolderReport(JsonDocument):
    """A folder, relative to the given one, how many images and class folders it has, and what is wrong with it."""

    FORMAT: ClassVar = "imlp-audit/doctor/1"
    WRITTEN_BY: ClassVar = "imlp-audit doctor"

    folder: str
    images: Count
    classes: Count
    findings: tuple[FolderFinding, ...]
    notes: tuple[str, ...]
