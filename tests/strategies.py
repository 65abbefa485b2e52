"""Hypothesis strategies, small to large: numbers, intervals, printed numbers, measurements, checks."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

from hypothesis import strategies as st

from imlp_audit.checks.comparison import Measured
from imlp_audit.numbers.interval import Interval, decimal_text
from imlp_audit.numbers.parsing import parse_printed
from imlp_audit.numbers.printed import Printed, Rounding
from imlp_audit.records.check import CHECK_OF_KIND, Check, CheckKind, Measurement, Source, Verdict
from imlp_audit.records.finding import Finding, FindingKind, StaleEntry
from imlp_audit.records.result import AuditResult, AxisHead, ColumnHead, PaperHead, ReadingHead, RowHead, TableHead

END, POINT = Fraction(1, 2), Fraction(1, 8)  # ends lie on the coarse grid, members on the fine one
NEAR = Fraction(1, 10**9)


def grid(low: int, high: int) -> st.SearchStrategy[Fraction]:
    """Multiples of a half between two whole numbers, so that equal ends are common."""
    return st.integers(2 * low, 2 * high).map(lambda n: n * END)


@st.composite
def intervals(draw: st.DrawFn, low: int = -3, high: int = 3) -> Interval:
    """Intervals that hold a number at least."""
    one, other = draw(grid(low, high)), draw(grid(low, high))
    if one == other:
        return Interval.point(one)
    return Interval(min(one, other), max(one, other), draw(st.booleans()), draw(st.booleans()))


def members(interval: Interval) -> list[Fraction]:
    """Return an interval's members on the fine grid, by the definition of its ends."""
    steps = int((interval.high - interval.low) / POINT)
    inner = [interval.low + n * POINT for n in range(1, steps)]
    ends = [(interval.low, interval.low_closed), (interval.high, interval.high_closed)]
    return sorted({*inner, *(end for end, closed in ends if closed)})


def extremes(interval: Interval) -> tuple[Fraction, Fraction]:
    """Return the smallest and the largest member, or where there is none a member next to the end."""
    nudge = (interval.high - interval.low) * NEAR
    return (
        interval.low if interval.low_closed else interval.low + nudge,
        interval.high if interval.high_closed else interval.high - nudge,
    )


roundings = st.sampled_from(Rounding)
declared_roundings = st.lists(roundings, min_size=1, unique=True)


def printed_numbers(low: int, high: int, digits: int = 2, unit: str = "") -> st.SearchStrategy[Printed]:
    """Numbers printed with up to `digits` decimal places, from `low` to `high` units of the last one."""
    scaled = st.tuples(st.integers(low, high), st.integers(0, digits))
    return scaled.map(lambda drawn: parse_printed(f"{Decimal(drawn[0]).scaleb(-drawn[1]):f}", unit))


NAMES = [(reading, convention) for reading in ("a", "b") for convention in ("x", "y")]
VALUES = [Fraction(n, 100) for n in range(390, 611, 5)]  # around the ends of every rule's interval for a printed "5"


@st.composite
def measurements(draw: st.DrawFn, names: Sequence[tuple[str, str]], min_size: int = 0) -> list[Measured]:
    """Measurements under distinct readings and conventions, some of which leave out uncounted work."""
    chosen = draw(st.lists(st.sampled_from(names), min_size=min_size, unique=True))
    lacking = st.sampled_from([(), (), (), ("aten::mystery",)])
    return [Measured(draw(st.sampled_from(VALUES)), *name, draw(lacking)) for name in chosen]


texts = st.text(max_size=8)
maybe_texts = st.none() | texts
maybe = st.none() | st.booleans()
verdicts = st.sampled_from(Verdict)
some_texts = st.lists(texts, max_size=2).map(tuple)

decimals = st.builds(decimal_text, st.fractions(), st.integers(1, 12))  # numbers as records have them

Fields: TypeAlias = dict[str, st.SearchStrategy[Any]]
_common: Fields = {
    "id": texts,
    "verdict": verdicts,
    "reason": texts,
    "source": st.builds(Source, file=texts, line=st.integers(1, 9999)),
    "printed": maybe_texts,
    "under": some_texts,
    "hints": some_texts,
    "finding": maybe_texts,
    "acknowledged": maybe,
}
_number: Fields = {"unit": maybe_texts, "interval": st.none() | st.tuples(decimals, decimals), "rounding": maybe_texts}
_measurement = st.builds(Measurement, reading=maybe_texts, convention=maybe_texts, measured=decimals, verdict=verdicts)
_counted: Fields = {
    **_number,
    "measured": st.none() | decimals,
    "gap": st.none() | decimals,
    "reading": maybe_texts,
    "convention": maybe_texts,
    "also": st.lists(_measurement, max_size=2).map(tuple),
    "weak": st.booleans(),
}
_own: dict[CheckKind, Fields] = {
    CheckKind.CELL: {
        **_counted,
        "mixed": st.booleans(),
        "fitted": st.booleans(),
        "unguarded": maybe,
    },
    CheckKind.DELTA: _counted,
    CheckKind.MARK: {"measured": maybe_texts, "weak": st.booleans()},
    CheckKind.REPEAT: {**_number, "measured": maybe_texts, "repeats": maybe_texts},
    CheckKind.COLUMN: {"measured": maybe_texts},
    CheckKind.CLAIM: {"measured": maybe_texts, "statement": maybe_texts, "charitable": maybe_texts},
    CheckKind.EQUATION: {
        "statement": maybe_texts,
        "corrected": maybe_texts,
        "counterexample": some_texts,
        "examples": st.none() | st.integers(0, 9),
    },
}
checks: st.SearchStrategy[Check] = st.sampled_from(CheckKind).flatmap(
    lambda kind: st.builds(CHECK_OF_KIND[kind], **_common, **_own[kind])
)

tables = st.builds(
    TableHead,
    id=texts,
    title=texts,
    columns=st.lists(st.builds(ColumnHead, id=texts, heading=texts, unit=texts), max_size=2).map(tuple),
    rows=st.lists(st.builds(RowHead, id=texts, label=texts), max_size=2).map(tuple),
)

reading_heads = st.builds(
    ReadingHead,
    name=texts,
    axes=st.lists(st.builds(AxisHead, axis=texts, value=texts, because=texts), max_size=2).map(tuple),
)

slugs = st.from_regex(r"[a-z0-9][a-z0-9_\-]{0,5}", fullmatch=True)

papers = st.builds(
    PaperHead,
    id=slugs,
    title=texts,
    authors=texts,
    version=texts,
    url=maybe_texts,
    rounding=some_texts,
    parameters=some_texts,
    flops=some_texts,
    readings=st.lists(reading_heads, max_size=1).map(tuple),
    tables=st.lists(tables, max_size=1).map(tuple),
)

stale = st.builds(
    StaleEntry,
    check=texts,
    problem=st.sampled_from(("gone", "changed")),
    reason=texts,
    source=st.builds(Source, file=texts, line=st.integers(1, 9999)),
)


def findings_of(checks: tuple[Check, ...]) -> st.SearchStrategy[Finding]:
    """Findings that name some of the checks."""
    ids = [check.id for check in checks]
    names = (st.lists(st.sampled_from(ids), max_size=2) if ids else st.just(ids)).map(tuple)
    return st.builds(
        Finding,
        id=texts,
        paper=texts,
        title=texts,
        kind=st.sampled_from(FindingKind),
        why=texts,
        checks=names,
    )


def results_of(checks: tuple[Check, ...]) -> st.SearchStrategy[AuditResult]:
    """Results with these checks."""
    return st.builds(
        AuditResult,
        papers=st.lists(papers, max_size=2).map(tuple),
        versions=st.dictionaries(texts, texts, max_size=2),
        checks=st.just(checks),
        findings=st.lists(findings_of(checks), max_size=2).map(tuple),
        stale=st.lists(stale, max_size=2).map(tuple),
    )


results = st.lists(checks, max_size=3).map(tuple).flatmap(results_of)
