"""The table of a comparison's operations: where saved work is saved time, and where it is not. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from imlp_audit.numbers.interval import decimal_text
from imlp_audit.records.check import Check
from imlp_audit.records.evidence import Evidence, Spent, Throughput
from imlp_audit.records.result import AuditResult

LEAST = Fraction(1, 100)  # of a model's time or work; kinds of modules with less are added up
HEADS = ("modules", "M MACs", "ms", "G MACs/s", "M MACs", "ms", "G MACs/s")


def operations(result: AuditResult) -> str:
    """Return a table for every comparison of a result: what modules of each kind do and take for one image."""
    lines = (line for check in result.checks for one in check.evidence for line in _table(check, one))
    return "".join(f"{line}\n" for line in lines)


def _table(check: Check, evidence: Evidence) -> Iterator[str]:
    if not isinstance(evidence, Throughput) or not evidence.spent:
        return
    against = evidence.settings["against"]
    eager = ", module by module and so not compiled" if evidence.settings["compiled"] == "yes" else ""
    yield ""
    yield f"{check.id} beside {against}, one image of a batch of {evidence.batch}{eager}"
    all_ = _sum("all", evidence.spent)
    shown = [one for one in evidence.spent if _matters(one, all_)]
    rest = [one for one in evidence.spent if one not in shown]
    rows = [*map(_row, shown), *([_row(_sum("others", rest))] if rest else []), _row(all_)]
    wide = max(len(row[0]) for row in rows)
    yield f"{'':{wide}}{'baseline':>33}{'variant':>33}"
    yield from (f"{row[0]:{wide}}" + "".join(f"{cell:>11}" for cell in row[1:]) for row in (HEADS, *rows))
    yield _saved(all_, evidence)


def _sum(name: str, spent: Sequence[Spent]) -> Spent:
    return Spent(
        modules=name,
        baseline_macs=sum(one.baseline_macs for one in spent),
        variant_macs=sum(one.variant_macs for one in spent),
        baseline_seconds=decimal_text(sum((Fraction(one.baseline_seconds) for one in spent), Fraction(0)), 12),
        variant_seconds=decimal_text(sum((Fraction(one.variant_seconds) for one in spent), Fraction(0)), 12),
    )


def _matters(one: Spent, whole: Spent) -> bool:
    shares = (
        (Fraction(one.baseline_macs), Fraction(whole.baseline_macs)),
        (Fraction(one.variant_macs), Fraction(whole.variant_macs)),
        (Fraction(one.baseline_seconds), Fraction(whole.baseline_seconds)),
        (Fraction(one.variant_seconds), Fraction(whole.variant_seconds)),
    )
    return any(part > 0 and part >= LEAST * total for part, total in shares)


def _row(one: Spent) -> tuple[str, ...]:
    return (
        one.modules,
        *_cells(one.baseline_macs, Fraction(one.baseline_seconds)),
        *_cells(one.variant_macs, Fraction(one.variant_seconds)),
    )


def _cells(macs: int, seconds: Fraction) -> tuple[str, str, str]:
    """Write millions of multiply-accumulates, milliseconds, and 10^9 of them a second; nothing for none."""
    rate = f"{float(macs / seconds / 10**9):.2f}" if macs and seconds else ""
    return (f"{macs / 10**6:.2f}" if macs else "", f"{float(seconds * 1000):.3f}" if seconds else "", rate)


def _saved(whole: Spent, evidence: Throughput) -> str:
    """Say how much less or more work and time the variant takes, and where the interval of the time shows neither."""
    work = f"{_changed(Fraction(whole.variant_macs, whole.baseline_macs))} work, " if whole.baseline_macs else ""
    time, least, most = (1 / Fraction(x) for x in (evidence.ratio, evidence.high, evidence.low))
    open_ = ", which shows neither" if least <= 1 <= most else ""
    return f"the variant takes {work}{_changed(time)} time (95 % {_changed(least)} to {_changed(most)}{open_})"


def _changed(share: Fraction) -> str:
    return f"{_percent(abs(1 - share))} {'less' if share <= 1 else 'more'}"


def _percent(share: Fraction) -> str:
    return f"{float(100 * share):.2f} %"
