"""The result of an audit: its papers as reports head them, and what the counted numbers of each support together."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import ClassVar, Literal, Self, TypeVar

from pydantic import Field, model_validator

from imlp_audit.numbers.interval import decimal_text
from imlp_audit.records.base import ByName, Count, JsonDocument, Number, PaperId, Record
from imlp_audit.records.check import FAILS, AnyCheck, Caveat, CellCheck, Check, Power, RepeatCheck, Verdict
from imlp_audit.records.finding import Finding, StaleEntry, StaleFinding, group_unexplained
from imlp_audit.records.solution import Solved


class ColumnHead(Record):
    """A column of a table as the report heads it; `measure` is what it holds: "parameters", "flops", "score", ..."""

    id: str
    heading: str
    unit: str
    measure: str | None = None


class CounterHead(Record):
    """The convention that a row states for its numbers of a measure, which its column's need not be, and why."""

    measure: str
    convention: str
    because: str


class RowHead(Record):
    """A row of a table as the report labels it; `baseline` is the row that its printed changes compare it with."""

    id: str
    label: str
    baseline: str | None = None
    counters: tuple[CounterHead, ...] | None = None


class TableHead(Record):
    """A table of a paper: its title, columns and rows, so that a report can lay out its cells.

    `name` is what the paper calls it where that is not "Table" and its id.
    """

    id: str
    name: str | None = None
    title: str
    columns: tuple[ColumnHead, ...]
    rows: tuple[RowHead, ...]

    @property
    def called(self) -> str:
        """What the paper calls it."""
        return self.name or f"Table {self.id}"


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
    """A paper that was audited, and how its numbers are read: of each list the first is the default.

    `lacks` says what the text that was audited lacks, and what that means for the audit.
    """

    id: PaperId
    title: str
    authors: str
    version: str
    url: str | None = None
    lacks: str | None = None
    rounding: tuple[str, ...]
    rounding_of: ByName[tuple[str, ...]] = Field(default_factory=dict)
    parameters: tuple[str, ...]
    flops: tuple[str, ...]
    readings: tuple[ReadingHead, ...]
    tables: tuple[TableHead, ...]


class GroupScore(Record):
    """Cells that share an option: the one chosen for them, and how many of the `votes` each declared option explains.

    `name` is a family of models for a reading, and table/column for a convention. `chance` is the best score on copies
    of the numbers with shifted digits. The choice is `clear`, `weak`, the `only` one that could be made, `shared`: a
    column with too few numbers follows the paper's other columns of its measure; or `mixed`: the column has two
    counters, the winner and its `rival`. The numbers are judged under a clear choice: the one that explains most of
    them. `alone` counts the numbers that each other option explains and the winner does not; those without any are left
    out.
    """

    name: str
    winner: str | None
    votes: Count
    scores: ByName[Count]
    chance: Count
    choice: Literal["only", "clear", "mixed", "shared", "weak"]
    rival: str | None = None
    alone: ByName[Count] = Field(default_factory=dict)


class FitScore(Record):
    """What the search for a convention explained, and the most that it explains of numbers with shifted digits."""

    explained: Count
    of: Count
    by_chance: Count


class ColumnScore(Record):
    """A column: the group that shares its convention, and the power of its passes.

    `passing` counts its numbers that pass, rows with a counter of their own included; `by_chance` how many pass on
    average, as a decimal, where every number of the paper is shifted by up to ten last digits. `fit` is
    there if the chosen convention was fitted.
    """

    group: GroupScore
    passing: Count
    by_chance: Number
    power: Power
    fit: FitScore | None = None


class PaperHypothesis(Record):
    """The best hypothesis: a rounding rule, a reading for each family of models, a convention for each column.

    `roundings` are the scores of the rounding rules where several are declared that differ for these numbers;
    `rounding_of` are the rules of measures that have their own, each named as its measure.
    """

    rounding: str
    roundings: GroupScore | None = None
    rounding_of: tuple[GroupScore, ...] = ()
    explained: Count
    votes: Count
    readings: tuple[GroupScore, ...]
    columns: tuple[ColumnScore, ...]


C = TypeVar("C", bound=AnyCheck)


class AuditResult(JsonDocument):
    """All checks of an audit, the papers they are of, and the versions of what measured them.

    `findings` are what is wrong with the papers that were asked for, in a person's words; failing checks that none of
    them covers are grouped when the result is written (`unexplained`). `stale` are entries of locks that changed since,
    and `stale_findings` findings that cover checks that do not fail. `hypotheses` are, by paper, what the counted cells
    were judged under; `solved` what a report's search found that the numbers say about the models.
    """

    FORMAT: ClassVar = "imlp-audit/3"
    WRITTEN_BY: ClassVar = "imlp-audit verify"
    COMPUTED: ClassVar = ("summary", "unexplained", "unguarded")

    papers: tuple[PaperHead, ...]
    versions: dict[str, str]
    checks: tuple[Check, ...]
    findings: tuple[Finding, ...] = ()
    stale: tuple[StaleEntry, ...] = ()
    stale_findings: tuple[StaleFinding, ...] = ()
    hypotheses: dict[str, PaperHypothesis] = Field(default_factory=dict)
    solved: dict[str, Solved] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _findings_name_checks(self) -> Self:
        known = {check.id for check in self.checks}
        for finding in self.findings:
            for name in finding.checks:
                if name not in known:
                    raise ValueError(f"the finding {finding.id} names {name}, and no check has this id")
        return self

    def of(self, paper: PaperHead) -> AuditResult:
        """Return the part of the result that is about one paper.

        A repeat belongs to the paper whose number it repeats if its own was not audited; its place names its own.
        """
        audited = {head.id for head in self.papers}

        def owner(check: Check) -> str:
            own = check.id.partition("/")[0]
            repeats = check.repeats if isinstance(check, RepeatCheck) else None
            return own if own in audited or repeats is None else repeats.partition("/")[0]

        checks = tuple(_name_paper(check, paper.id) for check in self.checks if owner(check) == paper.id)
        own = {check.id for check in checks}
        hypotheses = {name: found for name, found in self.hypotheses.items() if name == paper.id}
        solved = {name: found for name, found in self.solved.items() if name == paper.id}
        return AuditResult(
            papers=(paper,),
            versions=self.versions,
            checks=checks,
            findings=tuple(one for one in self.findings if one.paper == paper.id),
            stale=tuple(entry for entry in self.stale if entry.check in own or entry.check.startswith(f"{paper.id}/")),
            stale_findings=tuple(one for one in self.stale_findings if one.paper == paper.id),
            hypotheses=hypotheses,
            solved=solved,
        )

    def of_kind(self, kind: type[C]) -> tuple[C, ...]:
        """Return the checks of one kind."""
        return tuple(check for check in self.checks if isinstance(check, kind))

    def find(self, name: str, kind: type[C]) -> C:
        """Return the check of an id. Raises KeyError where the result has none of that kind."""
        return {check.id: check for check in self.of_kind(kind)}[name]

    def checks_of(self, finding: Finding) -> tuple[Check, ...]:
        """Return the failing checks that a finding covers; those that it rests on where it covers none."""
        made = {check.id: check for check in self.checks}
        return tuple(made[name] for name in finding.checks or finding.evident_checks if name in made)

    def counts(self) -> dict[Verdict, int]:
        """Return how many checks have each verdict, in the verdicts' order."""
        found = Counter(check.verdict for check in self.checks)
        return {verdict: found[verdict] for verdict in Verdict}

    def unguarded(self) -> tuple[int, int]:
        """Return how many numbers no check guards, and of how many that the tool cannot count."""
        found = [check.unguarded for check in self.of_kind(CellCheck) if check.unguarded is not None]
        return sum(found), len(found)

    def acknowledged(self) -> int:
        """Return how many checks fail, but are acknowledged."""
        return sum(check.verdict in FAILS and check.acknowledged is True for check in self.checks)

    def caveats(self) -> Counter[Caveat]:
        """Return how many passes have to be read with each caveat."""
        return Counter(caveat for check in self.checks for caveat in check.caveats)

    def unexplained(self) -> tuple[Finding, ...]:
        """Return the failing checks that no finding covers, grouped by table, column and kind.

        A number that another paper repeats may be covered by a finding of that paper, which is not among these.
        """
        papers = {paper.id for paper in self.papers}
        covered = {name for finding in self.findings for name in finding.checks}
        covered |= {
            one.id for one in self.of_kind(RepeatCheck) if one.acknowledged and one.id.partition("/")[0] not in papers
        }
        return group_unexplained(self.checks, covered)

    def body(self) -> dict[str, object]:
        """Return the result as plain values, with a summary."""
        body = super().body()
        body["unexplained"] = [finding.model_dump(mode="json") for finding in self.unexplained()]
        for name in ("hypotheses", "solved", "stale", "stale_findings", "unexplained"):
            if not body[name]:
                del body[name]
        counts = {verdict.value: count for verdict, count in self.counts().items()}
        caveats = {caveat.value: self.caveats()[caveat] for caveat in (Caveat.FITTED, Caveat.WEAK)}
        alone, of = self.unguarded()
        share = decimal_text(Fraction(100 * alone, of), 1) if of else "0"
        return {
            "summary": {**counts, "acknowledged": self.acknowledged(), **caveats},
            **({"unguarded": {"numbers": alone, "of": of, "percent": share}} if of else {}),
            **body,
        }


def _name_paper(check: Check, shown: str) -> Check:
    """Return a check with the paper's id in its place if it stands in another paper than the one that is shown."""
    own = check.id.partition("/")[0]
    if own == shown or check.place is None or check.place.startswith(f"in {own}: "):
        return check
    return check.model_copy(update={"place": f"in {own}: {check.place}"})
