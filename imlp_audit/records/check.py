"""One verdict, and all that it rests on."""

from __future__ import annotations

from enum import StrEnum

from pydantic import SerializerFunctionWrapHandler, ValidationInfo, field_validator, model_serializer

from imlp_audit.records.base import Record
from imlp_audit.records.evidence import Evidence
from imlp_audit.records.hint import AnyHint
from imlp_audit.records.hypothesis import Power
from imlp_audit.records.values import Number, check_number


class Verdict(StrEnum):
    """What a check found."""

    REPRODUCED = "reproduced"
    REPRODUCED_UNDER = "reproduced_under"  # a declared reading, convention or rounding that is not the default
    DIFFERS = "differs"
    INCONSISTENT = "inconsistent"  # the paper contradicts itself
    UNVERIFIABLE = "unverifiable"  # something is missing, and the reason names it
    ERROR = "error"  # the check could not be made


PASSES = (Verdict.REPRODUCED, Verdict.REPRODUCED_UNDER)
FAILS = (Verdict.DIFFERS, Verdict.INCONSISTENT)
NO_MODEL = "the spec gives no model"


_LEFT_OUT_IF_EMPTY = ("also", "counterexample", "evidence", "hints", "under", "weak", "mixed", "fitted", "power")


class CheckKind(StrEnum):
    """What a check is about."""

    CELL = "cell"
    DELTA = "delta"
    MARK = "mark"
    REPEAT = "repeat"
    COLUMN = "column"
    CLAIM = "claim"
    EQUATION = "equation"


class Source(Record):
    """Where in the specs a check comes from (lines from 1)."""

    file: str
    line: int


class Measurement(Record):
    """One measured value, the reading and convention it was measured under, and what it alone would say."""

    reading: str | None = None
    convention: str | None = None
    measured: Number
    verdict: Verdict


class Check(Record):
    """One verdict, and all that it rests on.

    `place` is where it stands in the paper, and `source` where in the specs. Numbers are decimal text in base units
    (parameters, not millions; percent for changes); `measured` is one for cells and for changes as measured, and words
    for other checks, which compare several numbers; `gap` is the measured value minus the printed one in units of the
    printed last digit; `under` names what departs from the default where the verdict is `reproduced_under`. `finding`
    is the id of the finding that covers a failing check, and `acknowledged` says whether the lock has it as it is. A
    `weak` pass may be luck, because its reading or convention is not a clear choice; a `mixed` one stands in a column
    of two counters; `power` counts the wrong numbers that would not have passed in its place. A `fitted` pass rests on
    a convention that was fitted on it. A claim that passes in a meaning that asks for less than its words says in
    `charitable` which one, or why. `repeats` is the id of the other cell of a number that is printed twice. A cell
    that the tool cannot count is `unguarded` if no other check notices that its number is changed by one last digit or
    by ten. `evidence` is what runs of a checkpoint or on hardware measured. For an equation, `statement` is what is
    claimed in words, `printed` its literal form or `corrected` the form that holds, `examples` how many it was tried
    on, `proved` for what it was proved on symbols, `bound` what rounding may make of it, `counterexample` the smallest
    example it is false on, and `replay` the choices that make that example again.
    """

    id: str
    kind: CheckKind
    verdict: Verdict
    reason: str
    source: Source
    printed: str | None = None
    unit: str | None = None
    interval: tuple[Number, Number] | None = None
    measured: str | None = None
    gap: Number | None = None
    reading: str | None = None
    convention: str | None = None
    rounding: str | None = None
    under: tuple[str, ...] = ()
    also: tuple[Measurement, ...] = ()
    hints: tuple[AnyHint, ...] = ()
    statement: str | None = None
    corrected: str | None = None
    place: str | None = None
    bound: str | None = None
    repeats: str | None = None
    examples: int | None = None
    proved: str | None = None
    replay: str | None = None
    counterexample: tuple[str, ...] = ()
    finding: str | None = None
    acknowledged: bool | None = None
    weak: bool = False
    mixed: bool = False
    power: Power | None = None
    fitted: bool = False
    charitable: str | None = None
    unguarded: bool | None = None
    evidence: tuple[Evidence, ...] = ()

    @property
    def hint_texts(self) -> tuple[str, ...]:
        """The hints in words."""
        return tuple(map(str, self.hints))

    @field_validator("measured")
    @classmethod
    def _is_number(cls, measured: str | None, info: ValidationInfo) -> str | None:
        kind = info.data.get("kind")
        counted = kind is CheckKind.CELL or (kind is CheckKind.DELTA and " to " not in (measured or ""))
        return check_number(measured) if counted and measured is not None else measured

    @model_serializer(mode="wrap")
    def _leave_out_empty_lists(self, dump: SerializerFunctionWrapHandler) -> dict[str, object]:
        return {name: value for name, value in dump(self).items() if value or name not in _LEFT_OUT_IF_EMPTY}
