"""The result of an audit: frozen records, to and from JSON. Everything that is reported is made from these."""

from __future__ import annotations

import json
from collections import Counter
from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from imlp_audit.errors import UsageError
from imlp_audit.records.evidence import Evidence
from imlp_audit.records.solved import Solved

FORMAT = "imlp-audit/1"


class Verdict(StrEnum):
    """What a check found."""

    REPRODUCED = "reproduced"
    REPRODUCED_UNDER = "reproduced_under"  # a declared reading, convention or rounding that is not the default
    DIFFERS = "differs"
    INCONSISTENT = "inconsistent"  # the paper contradicts itself
    UNVERIFIABLE = "unverifiable"  # something is missing, and the reason names it
    WAIVED = "waived"  # a finding that the spec declares as known, unchanged
    ERROR = "error"  # the check could not be made


PASSES = (Verdict.REPRODUCED, Verdict.REPRODUCED_UNDER)
FINDINGS = (Verdict.DIFFERS, Verdict.INCONSISTENT)


class Kind(StrEnum):
    """What a check is about."""

    CELL = "cell"
    DELTA = "delta"
    MARK = "mark"
    REPEAT = "repeat"
    COLUMN = "column"
    CLAIM = "claim"
    EQUATION = "equation"
    WAIVER = "waiver"


class Record(BaseModel):
    """A frozen record that refuses keys it does not know."""

    # built when first used: `list` and `lint` import these records without making any
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Source(Record):
    """Where in the specs a check comes from (lines from 1)."""

    file: str
    line: int


class Measurement(Record):
    """One measured value, the reading and convention it was measured under, and what it alone would say."""

    reading: str | None = None
    convention: str | None = None
    measured: str
    verdict: Verdict


class Curve(Record):
    """A line of a figure: its label, and its heights over the figure's places."""

    label: str
    y: tuple[float, ...]


class Figure(Record):
    """Curves over the same places, and heights that are marked across the whole width."""

    title: str
    x_label: str
    y_label: str
    x: tuple[float, ...]
    curves: tuple[Curve, ...]
    levels: tuple[tuple[str, float], ...] = ()


class Check(Record):
    """One verdict, and all that it rests on.

    Numbers are decimal text in base units (parameters, not millions; percent for changes); `gap` is the
    measured value minus the printed one in units of the printed last digit; `under` names what departs from
    the default where the verdict is `reproduced_under`. Of a waived check `finding` is
    the verdict it has without its waiver, and `waiver` why that is known. `evidence` is what runs of a checkpoint or
    on hardware measured. Of an equation `statement` is what is
    claimed in words, `printed` its literal form or `corrected` the form that holds, `place` where it stands in the
    paper, `examples` how many it was tried on, `bound` what rounding may make of it, `counterexample` the smallest
    example it is false on, and `figure` what a report draws beside it.
    """

    id: str
    kind: Kind
    verdict: Verdict
    reason: str
    source: Source
    printed: str | None = None
    unit: str | None = None
    interval: tuple[str, str] | None = None
    measured: str | None = None
    gap: str | None = None
    reading: str | None = None
    convention: str | None = None
    rounding: str | None = None
    under: tuple[str, ...] = ()
    also: tuple[Measurement, ...] = ()
    hints: tuple[str, ...] = ()
    statement: str | None = None
    corrected: str | None = None
    place: str | None = None
    bound: str | None = None
    examples: int | None = None
    counterexample: tuple[str, ...] = ()
    figure: Figure | None = None
    finding: Verdict | None = None
    waiver: str | None = None
    evidence: tuple[Evidence, ...] = ()


class ColumnHead(Record):
    """A column of a table as the report heads it."""

    id: str
    heading: str
    unit: str


class RowHead(Record):
    """A row of a table as the report labels it."""

    id: str
    label: str


class TableHead(Record):
    """A table of a paper: its title, columns and rows, so that a report can lay out its cells."""

    id: str
    title: str
    columns: tuple[ColumnHead, ...]
    rows: tuple[RowHead, ...]


class AxisHead(Record):
    """What a reading answers to one open question, and the place in the text that decides it."""

    axis: str
    value: str
    because: str


class ReadingHead(Record):
    """A declared reading."""

    name: str
    axes: tuple[AxisHead, ...]


class PaperHead(Record):
    """A paper that was audited, and how its numbers are read: of each list the first is the default."""

    id: Annotated[str, Field(pattern=r"^[a-z0-9_\-]+$")]  # a report's file is named after it
    title: str
    authors: str
    version: str
    url: str | None = None
    rounding: tuple[str, ...]
    parameters: tuple[str, ...]
    flops: tuple[str, ...]
    readings: tuple[ReadingHead, ...]
    tables: tuple[TableHead, ...]


class AuditResult(Record):
    """All checks of an audit, the papers they are of, and the versions of what measured them.

    `solved` is, by paper, what a report's search found that the numbers say about the models.
    """

    papers: tuple[PaperHead, ...]
    versions: dict[str, str]
    checks: tuple[Check, ...]
    solved: dict[str, Solved] = {}

    def of(self, paper: PaperHead) -> AuditResult:
        """Return the part of the result that is about one paper."""
        checks = tuple(check for check in self.checks if check.id.startswith(f"{paper.id}/"))
        solved = {name: found for name, found in self.solved.items() if name == paper.id}
        return AuditResult(papers=(paper,), versions=self.versions, checks=checks, solved=solved)

    def counts(self) -> dict[Verdict, int]:
        """Return how many checks have each verdict, in the verdicts' order."""
        found = Counter(check.verdict for check in self.checks)
        return {verdict: found[verdict] for verdict in Verdict}


def to_json(result: AuditResult) -> str:
    """Write a result as JSON: sorted keys, so equal audits are equal bytes."""
    body = result.model_dump(mode="json", exclude_none=True)
    for check in body["checks"]:
        for name in ("also", "counterexample", "evidence", "hints", "under"):
            if not check[name]:
                del check[name]
    summary = {verdict.value: count for verdict, count in result.counts().items()}
    if not body["solved"]:
        del body["solved"]
    document = {"format": FORMAT, "summary": summary, **body}
    return json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def from_json(text: str, shown_as: str, *, written_by: str = "`imlp-audit verify --format json`") -> AuditResult:
    """Read a result back. Raises UsageError naming the file and what is wrong with it, and what writes such files."""
    advice = f"give a file written by {written_by}"
    try:
        document = json.loads(text)
        json.dumps(document, ensure_ascii=False).encode()  # half of a surrogate pair could not be written again
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{shown_as}: not JSON ({error}); {advice}") from error
    if not isinstance(document, dict) or document.pop("format", None) != FORMAT:
        raise UsageError(f"{shown_as}: not a result of format {FORMAT}; {advice}")
    document.pop("summary", None)
    try:
        return AuditResult.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise UsageError(f"{shown_as}: {place}: {first['msg']}; {advice}") from error
