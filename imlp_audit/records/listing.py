"""The JSON of `imlp-audit list`, `lint` and `cache info`: what there is, and what is wrong."""

from __future__ import annotations

from typing import ClassVar

from imlp_audit.records.base import Record
from imlp_audit.records.check import Source
from imlp_audit.records.document import JsonDocument
from imlp_audit.records.values import Count


class ListedCheck(Record):
    """A check by its id, and the place in the specs that it comes from."""

    id: str
    file: str
    line: int


class CheckList(JsonDocument):
    """Checks in the order of the specs."""

    FORMAT: ClassVar = "imlp-audit/list/1"
    WRITTEN_BY: ClassVar = "imlp-audit list"

    checks: tuple[ListedCheck, ...]


class ListedModel(Record):
    """A model, its size, and the ids of the rows and systems that have it; `failure` if it could not be counted."""

    label: str
    recipe: str
    places: tuple[str, ...]
    parameters: int | None = None
    macs: int | None = None
    failure: str | None = None


class ModelList(JsonDocument):
    """Models in the order of the papers."""

    FORMAT: ClassVar = "imlp-audit/systems/1"
    WRITTEN_BY: ClassVar = "imlp-audit list --systems"

    models: tuple[ListedModel, ...]


class LintedPaper(Record):
    """A paper whose specs are sound, and how much they hold; `drafts` are the places of findings without a title.

    `modelless` says that it prints parameters or FLOPs, and no row has a model that they could be counted of.
    """

    id: str
    tables: int
    checks: int
    findings: int
    drafts: tuple[Source, ...] = ()
    modelless: bool = False


class LintReport(JsonDocument):
    """Papers without a problem in their specs: the JSON of `imlp-audit lint`."""

    FORMAT: ClassVar = "imlp-audit/lint/2"
    WRITTEN_BY: ClassVar = "imlp-audit lint"

    papers: tuple[LintedPaper, ...]


class CacheReport(JsonDocument):
    """Where measurements are kept, if anywhere, how many, and their size in bytes."""

    FORMAT: ClassVar = "imlp-audit/cache/1"
    WRITTEN_BY: ClassVar = "imlp-audit cache info"

    folder: str | None
    measurements: Count
    bytes: Count
