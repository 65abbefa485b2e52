"""One verdict, and all that it rests on. Hints are data, whose text is made here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from fractions import Fraction
from typing import Annotated, Literal, Self, TypeAlias, get_args

from pydantic import AfterValidator, Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from imlp_audit.numbers.interval import readable
from imlp_audit.numbers.words import count_of
from imlp_audit.records.base import Count, Digest, Number, Record, check_number
from imlp_audit.records.counted import NumberCause


class OptionHint(Record):
    """Another reading, convention or rounding rule whose `value` prints as the number does.

    Those that a number was judged under are left out; `missing` are the kinds that the spec does not declare. `support`
    says how many of the paper's numbers follow under a declared one, and `lost` how many numbers of the column, which
    follow now, would not. A convention from `elsewhere` is one that the spec has, for other numbers.
    """

    kind: Literal["option"] = "option"
    value: Number
    reading: str | None = None
    convention: str | None = None
    rounding: str | None = None
    missing: tuple[str, ...] = ()
    elsewhere: bool = False
    support: str = ""
    lost: Count = 0

    @property
    def options(self) -> dict[str, str]:
        """What departs, by its kind."""
        kinds = {"reading": self.reading, "convention": self.convention, "rounding": self.rounding}
        return {kind: name for kind, name in kinds.items() if name is not None}

    @property
    def undeclared(self) -> dict[str, str]:
        """What departs and is not declared, by its kind."""
        return {kind: name for kind, name in self.options.items() if kind in self.missing}

    @property
    def way(self) -> str:
        """The text without the number of one row, and without the price in one column."""
        fits = f"would fit under {_name_options(self.options)}" if self.options else "would fit"
        if not self.missing:
            return f"{fits}; {self.support}" if self.support else f"{fits}, which it was not judged under"
        if self.elsewhere and set(self.missing) == {"convention"}:
            return f"{fits}; the spec has convention {self.convention} for other numbers"
        if self.undeclared == self.options:
            return f"{fits}, which the spec does not declare"
        return f"{fits}; the spec does not declare {_name_options(self.undeclared)}"

    def __str__(self) -> str:
        follow = "follows now" if self.lost == 1 else "follow now"
        lost = f"; {self.lost} of the column's numbers that {follow} would not" if self.lost else ""
        return f"{readable(Fraction(self.value))} {self.way}{lost}"


class ModelHint(Record):
    """Another form or size of a row's model: it has the printed number, or is nearer by a `gap` in percent."""

    kind: Literal["model"] = "model"
    model: str
    gap: Number | None = None

    def __str__(self) -> str:
        if self.gap is None:
            return f"as printed with `model: {{{self.model}}}`: give the row that model, if it is the one that is meant"
        return f"with `model: {{{self.model}}}` the gap is {self.gap} %: is that model meant?"


class CauseHint(Record):
    """What the search of `explain` names as the cause of a number that differs; None if nothing is unlikely enough.

    It `tried` so many values, of which `nearest` is a usual one that is near; none where only `explain` searches.
    `as_in` is the check of its column at which the cause was found.
    """

    kind: Literal["cause"] = "cause"
    cause: NumberCause | None = None
    as_in: str | None = None
    tried: Count = 0
    nearest: str | None = None

    def __str__(self) -> str:
        if self.cause is not None:
            cause = self.cause if self.as_in is None else f"{self.cause.text}, as in {self.as_in}"
            return f"{'likely cause' if self.cause.certain else 'perhaps'}: {cause}"
        if not self.tried:
            return "not searched for a cause, since other numbers are further off; imlp-audit explain does it"
        near = f", a near one is {self.nearest}" if self.nearest else ""
        return f"nothing known explains it: {count_of(self.tried, 'value')} were tried{near}"


AnyHint: TypeAlias = Annotated[OptionHint | ModelHint | CauseHint, Field(discriminator="kind")] | str
"""A hint, or a note for the reader that nothing is made from."""


def _name_options(options: dict[str, str]) -> str:
    return ", ".join(f"{kind} {name}" for kind, name in options.items())


class Caught(Record):
    """How many of the wrong numbers that were tried would not have passed."""

    caught: Count
    tried: Count


class Power(Record):
    """Wrong numbers in place of passing ones: one last digit away, and within ten last digits."""

    one: Caught
    ten: Caught


def add_powers(powers: Sequence[Power]) -> Power:
    """Return the power of several passes together."""

    def add(parts: Sequence[Caught]) -> Caught:
        return Caught(caught=sum(part.caught for part in parts), tried=sum(part.tried for part in parts))

    return Power(one=add([power.one for power in powers]), ten=add([power.ten for power in powers]))


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


class Identified(StrEnum):
    """What the model of a row with candidates is known by."""

    NUMBERS = "numbers"  # its parameters, which no other combination is likely to have by chance
    TOGETHER = "together"  # its parameters and those of other rows whose first candidates have theirs
    NAME = "name"  # its label: other rows follow from the models that theirs name
    ALL = "all"  # all its numbers together, FLOPs included: they follow, and accuse nothing
    ONE_OF = "one_of"  # its numbers, which another model that its label may mean prints as well
    NO = "no"


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


class Caveat(StrEnum):
    """What a pass has to be read with."""

    FITTED = "fitted"  # its convention was fitted on the number
    MIXED = "mixed"  # it stands in a column of two counters
    WEAK = "weak"  # it may be luck: its reading or convention is not a clear choice


_FLAGS = {*map(str, Caveat), "lead"}


class Accuracy(Record):
    """How many images a checkpoint classified rightly.

    `correct` of `images` are right, of the `available` that the data set has; `unreadable` and `unlabelled` ones, which
    have no accepted class, are counted among neither. `low` and `high` are the ends of Wilson's 95 % interval in
    percent, decimal text, if all unreadable images were wrong and if all were right. `checkpoint` is the file's
    SHA-256, `data` that of the images' ids and labels, `contents` that of their bytes. `settings` are the pipeline's
    and the model's, by name.
    """

    kind: Literal["accuracy"] = "accuracy"
    metric: str
    correct: Count
    images: Count
    available: Count
    unreadable: Count
    unlabelled: Count = 0
    low: Number
    high: Number
    checkpoint: Digest
    data: Digest
    contents: Digest | None = None
    settings: dict[str, str]

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        if self.images + self.unreadable + self.unlabelled > self.available:
            raise ValueError("more images than are available")
        if self.correct > self.images:
            raise ValueError("more images are right than there are")
        return self

    @property
    def whole(self) -> bool:
        """Whether every image of the data set that has a label was classified or could not be read."""
        return self.images + self.unreadable + self.unlabelled == self.available


class Throughput(Record):
    """Images a second of two models, measured in turns: medians over `pairs`, and the ratio with its 95 % interval.

    `hardware` is this machine's, `stated` what the paper names. Numbers are decimal text.
    """

    kind: Literal["throughput"] = "throughput"
    batch: Count
    pairs: Count
    baseline: Number
    variant: Number
    ratio: Number
    low: Number
    high: Number
    hardware: str
    stated: str
    settings: dict[str, str]


Evidence: TypeAlias = Annotated[Accuracy | Throughput, Field(discriminator="kind")]


class Judged(Record):
    """A verdict, and what a pass has to be read with."""

    verdict: Verdict

    @property
    def caveats(self) -> tuple[Caveat, ...]:
        """What a pass has to be read with; none for a check that does not pass."""
        return tuple(caveat for caveat in Caveat if self.verdict in PASSES and getattr(self, caveat, False))


class AnyCheck(Judged):
    """What a check of any kind has.

    `place` is where it stands in the paper, and `source` where in the specs; `under` names what departs from the
    default where the verdict is `reproduced_under`. `finding` is the id of the finding that covers a failing check, and
    `acknowledged` says whether the lock has it as it is. `evidence` is what runs of a checkpoint or on hardware
    measured.
    """

    id: str
    reason: str
    source: Source
    place: str | None = None
    printed: str | None = None
    under: tuple[str, ...] = ()
    hints: tuple[AnyHint, ...] = ()
    finding: str | None = None
    acknowledged: bool | None = None
    evidence: tuple[Evidence, ...] = ()

    @property
    def hint_texts(self) -> tuple[str, ...]:
        """The hints in words."""
        return tuple(map(str, self.hints))

    @model_serializer(mode="wrap")
    def _leave_out_what_is_empty(self, dump: SerializerFunctionWrapHandler) -> dict[str, object]:
        values = dump(self).items()
        return {name: value for name, value in values if value or (value != [] and name not in _FLAGS)}


class NumberCheck(AnyCheck):
    """A check of one printed number, which stands for an interval under a rounding rule.

    Numbers are decimal text in base units: parameters, not millions; percent for changes.
    """

    unit: str | None = None
    interval: tuple[Number, Number] | None = None
    measured: str | None = None
    rounding: str | None = None


class CountedCheck(NumberCheck):
    """A check of a number against what a model has.

    `gap` is the measured value minus the printed one in units of the printed last digit; `also` are other declared
    ways to measure it.
    """

    gap: Number | None = None
    reading: str | None = None
    convention: str | None = None
    also: tuple[Measurement, ...] = ()
    weak: bool = False


class CellCheck(CountedCheck):
    """Whether a printed number follows from the row's model.

    `model` is that of a row with candidates, and `identified` by what it is known. A `lead` is a number that
    its row's likely model has not, where that is too little to find it wrong: a question, which fails nothing. `power`
    counts the wrong numbers that would not have passed in its place. A number that the tool cannot count is
    `unguarded` if no other check notices that it is changed by one last digit or by ten.
    """

    kind: Literal[CheckKind.CELL] = CheckKind.CELL
    measured: Number | None = None
    model: str | None = None
    identified: Identified | None = None
    lead: bool = False
    mixed: bool = False
    fitted: bool = False
    power: Power | None = None
    unguarded: bool | None = None


class DeltaCheck(CountedCheck):
    """Whether a printed change follows: from the printed cells ("5.72 to 5.00"), or from a measured change."""

    kind: Literal[CheckKind.DELTA] = CheckKind.DELTA
    measured: Annotated[str, AfterValidator(lambda text: text if " to " in text else check_number(text))] | None = None


class ModelCount(Record):
    """What a row's model has with a change, described in words, under a reading."""

    change: str
    reading: str | None = None
    measured: Number


class MarkCheck(AnyCheck):
    """Whether a row needs the change of its recipe that its footnote mark, or the lack of one, stands for.

    `counts` are of the row's model with and without the change.
    """

    kind: Literal[CheckKind.MARK] = CheckKind.MARK
    measured: str | None = None
    counts: tuple[ModelCount, ...] = ()
    weak: bool = False


class RepeatCheck(NumberCheck):
    """Whether a number that is printed twice is the same; `repeats` is the id of the other cell."""

    kind: Literal[CheckKind.REPEAT] = CheckKind.REPEAT
    repeats: str | None = None


class ColumnCheck(AnyCheck):
    """Whether the numbers of a table stand under their own headings."""

    kind: Literal[CheckKind.COLUMN] = CheckKind.COLUMN
    measured: str | None = None


class Truth(StrEnum):
    """Whether a statement holds for all, for none, or for only some of the values that the digits allow."""

    YES = "holds"
    NO = "does not hold"
    OPEN = "open"


class RowTruth(Record):
    """The result of a claim's conditions in one row, why, and the values that it rests on.

    Of `conditions` in the row so many are `met`.
    """

    row: str
    truth: Truth
    because: str
    values: str
    met: Count = 0
    conditions: Count = 0


class ClaimCheck(AnyCheck):
    """Whether a sentence about the numbers is true of them; `statement` is its meaning, `by_row` its result by row.

    One that passes in a meaning that asks for less than its words says in `charitable` which one, or why.
    """

    kind: Literal[CheckKind.CLAIM] = CheckKind.CLAIM
    statement: str | None = None
    measured: str | None = None
    by_row: tuple[RowTruth, ...] = ()
    charitable: str | None = None
    weak: bool = False


class EquationCheck(AnyCheck):
    """Whether a statement about functions holds where it is run.

    `statement` is what is claimed in words, `printed` its literal form or `corrected` the form that holds, `examples`
    how many it was tried on, `tolerance` by how much its sides may differ, and why, where that is more than usual, and
    `counterexample` the smallest example it is false on.
    """

    kind: Literal[CheckKind.EQUATION] = CheckKind.EQUATION
    statement: str | None = None
    corrected: str | None = None
    tolerance: str | None = None
    examples: int | None = None
    counterexample: tuple[str, ...] = ()


AnyKind: TypeAlias = CellCheck | DeltaCheck | MarkCheck | RepeatCheck | ColumnCheck | ClaimCheck | EquationCheck
Check: TypeAlias = Annotated[AnyKind, Field(discriminator="kind")]
"""One verdict, and all that it rests on."""

CHECK_OF_KIND: Mapping[CheckKind, type[AnyKind]] = {one.model_fields["kind"].default: one for one in get_args(AnyKind)}


def printed_form(check: Check) -> str | None:
    """Return what is printed; for an equation that is printed wrongly, the form that holds."""
    return check.printed or (check.corrected if isinstance(check, EquationCheck) else None)
