"""The JSON of `imlp-audit init`: what was made of a table, and what a person must decide."""

from __future__ import annotations

from typing import ClassVar

from imlp_audit.records.document import JsonDocument
from imlp_audit.records.values import Count


class Transcription(JsonDocument):
    """A table that was written as a spec: its size, what was made of it, and what to do next."""

    FORMAT: ClassVar = "imlp-audit/init/1"
    WRITTEN_BY: ClassVar = "imlp-audit init"

    file: str
    paper: str
    table: str
    caption: str
    rows: Count
    numbers: Count
    models: Count
    made: tuple[str, ...]
    decide: tuple[str, ...]
    next: tuple[str, ...]
