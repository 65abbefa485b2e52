"""What changed between two audits: the JSON of `imlp-audit diff`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from pydantic import Field

from imlp_audit.records.base import Count, JsonDocument, Record
from imlp_audit.records.check import (
    FAILS,
    PASSES,
    Caveat,
    Check,
    CountedCheck,
    EquationCheck,
    Judged,
    Verdict,
    printed_form,
)
from imlp_audit.records.result import AuditResult


class CheckState(Judged):
    """What an audit says of a check: what is printed and measured, the verdict, and what that rests on.

    `measured` is what the verdict was given on, `also` are other measured values by "reading/convention". An equation
    has neither: the next search may find another counterexample.
    """

    reason: str
    printed: str | None = None
    measured: str | None = None
    also: dict[str, str] = Field(default_factory=dict)
    under: tuple[str, ...] = ()
    weak: bool = False
    fitted: bool = False
    mixed: bool = False
    acknowledged: bool = False

    @classmethod
    def of(cls, check: Check) -> CheckState:
        """Return the state of a check."""
        also = check.also if isinstance(check, CountedCheck) else ()
        caveats = check.caveats
        return cls(
            verdict=check.verdict,
            reason=check.reason,
            printed=printed_form(check),
            measured=None if isinstance(check, EquationCheck) else check.measured,
            also={"/".join(part for part in (one.reading, one.convention) if part): one.measured for one in also},
            under=check.under,
            weak=Caveat.WEAK in caveats,
            fitted=Caveat.FITTED in caveats,
            mixed=Caveat.MIXED in caveats,
            acknowledged=check.acknowledged is True and check.verdict in FAILS,
        )

    @property
    def fails_the_run(self) -> bool:
        """Whether the check fails without being acknowledged, or could not be completed."""
        return (self.verdict in FAILS and not self.acknowledged) or self.verdict is Verdict.ERROR

    @property
    def rank(self) -> int:
        """How far the check is from `reproduced`: a larger rank is worse."""
        return 2 * _RANKS[self.verdict] + (self.verdict in FAILS and not self.acknowledged)

    def same_as(self, other: CheckState) -> bool:
        """Return whether nothing changed that counts: reasons in words may be written differently."""
        return self.model_copy(update={"reason": other.reason}) == other


_RANKS = {
    Verdict.REPRODUCED: 0,
    Verdict.REPRODUCED_UNDER: 1,
    Verdict.UNVERIFIABLE: 2,
    Verdict.DIFFERS: 3,
    Verdict.INCONSISTENT: 3,
    Verdict.ERROR: 4,
}


class CheckChange(Record):
    """A check that both audits have, and that is not as it was."""

    id: str
    before: CheckState
    after: CheckState


class CheckOfOne(Record):
    """A check that only one of the audits has."""

    id: str
    state: CheckState


class VersionChange(Record):
    """A library that the audits were made with in different versions, or that only one of them names."""

    library: str
    before: str | None = None
    after: str | None = None


class VerdictCounts(Record):
    """How many checks of an audit have each verdict, and how many failing ones are acknowledged."""

    verdicts: dict[Verdict, Count]
    acknowledged: Count

    @classmethod
    def of(cls, result: AuditResult) -> VerdictCounts:
        """Count the verdicts of an audit."""
        return cls(verdicts=result.counts(), acknowledged=result.acknowledged())


class AuditDiff(JsonDocument):
    """What changed between two audits of the same papers. Each check is in one group, or one of the `same` ones.

    A check got `worse` if it went down in this order: reproduced, reproduced under an alternative, unverifiable,
    failing but acknowledged, failing, not completed. It got `better` if it went up, except that one that failed and can
    no longer be decided is `undecided`. `changed` ones have a verdict as good as before, but another printed or
    measured value, or they hold under something else, or may be luck in only one of the audits.
    """

    FORMAT: ClassVar = "imlp-audit/diff/3"
    WRITTEN_BY: ClassVar = "imlp-audit diff A.json B.json"

    papers: tuple[str, ...]
    before: VerdictCounts
    after: VerdictCounts
    worse: tuple[CheckChange, ...]
    better: tuple[CheckChange, ...]
    undecided: tuple[CheckChange, ...]
    changed: tuple[CheckChange, ...]
    new: tuple[CheckOfOne, ...]
    gone: tuple[CheckOfOne, ...]
    same: Count
    versions: tuple[VersionChange, ...]

    @property
    def got_worse(self) -> bool:
        """Whether a verdict got worse, or a new check fails the run."""
        return bool(self.worse) or any(one.state.fails_the_run for one in self.new)

    @property
    def is_empty(self) -> bool:
        """Whether nothing changed."""
        checks = (*self.worse, *self.better, *self.undecided, *self.changed, *self.new, *self.gone)
        return not (checks or self.versions)


def diff_audits(before: AuditResult, after: AuditResult) -> AuditDiff:
    """Return what changed between two audits, each of which has a check once; in the order of the second one."""
    old, new = _states(before.checks), _states(after.checks)
    both = [CheckChange(id=name, before=old[name], after=state) for name, state in new.items() if name in old]
    changes = [change for change in both if not change.before.same_as(change.after)]
    return AuditDiff(
        papers=tuple(dict.fromkeys(paper.id for paper in (*before.papers, *after.papers))),
        before=VerdictCounts.of(before),
        after=VerdictCounts.of(after),
        worse=_worst_first(one for one in changes if one.after.rank > one.before.rank),
        better=tuple(one for one in changes if one.after.rank < one.before.rank and not _became_undecided(one)),
        undecided=tuple(one for one in changes if _became_undecided(one)),
        changed=tuple(one for one in changes if one.after.rank == one.before.rank),
        new=tuple(CheckOfOne(id=name, state=state) for name, state in new.items() if name not in old),
        gone=tuple(CheckOfOne(id=name, state=state) for name, state in old.items() if name not in new),
        same=len(both) - len(changes),
        versions=_diff_versions(before.versions, after.versions),
    )


def _states(checks: Iterable[Check]) -> dict[str, CheckState]:
    return {check.id: CheckState.of(check) for check in checks}


def _worst_first(changes: Iterable[CheckChange]) -> tuple[CheckChange, ...]:
    return tuple(sorted(changes, key=lambda one: (not one.after.fails_the_run, one.before.verdict not in PASSES)))


def _became_undecided(change: CheckChange) -> bool:
    return change.before.verdict in FAILS and change.after.verdict is Verdict.UNVERIFIABLE


def _diff_versions(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[VersionChange, ...]:
    return tuple(
        VersionChange(library=name, before=before.get(name), after=after.get(name))
        for name in sorted({*before, *after})
        if before.get(name) != after.get(name)
    )
