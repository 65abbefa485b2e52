"""Statements about functions: what was run, on what, and what came of it."""

from __future__ import annotations

from collections.abc import Iterator

from imlp_audit.explain.head import head, stands_at
from imlp_audit.explain.layout import INDENT, Lines, counted, words
from imlp_audit.records.check import Check


def equation(check: Check) -> Iterator[Lines]:
    """Yield the statement, how it was tested, and the counterexample where there is one."""
    reason = "" if check.counterexample else check.reason
    yield head(
        check.model_copy(update={"reason": reason}),
        ("claim", check.statement or ""),
        ("printed", check.printed or ""),
        ("corrected", check.corrected or ""),
        ("source", f"{check.place}; {stands_at(check.source)}"),
        ("compared", _compared(check)),
        ("rounding", check.bound or ""),
    )
    if check.counterexample:
        heading = "It is false for these numbers, the smallest that were found"
        yield [heading, *(line for told in check.counterexample for line in words(told, under=2 * INDENT))]


def _compared(check: Check) -> str:
    tried = f" on {counted(check.examples, 'example')}" if check.examples else ""
    return f"the statement, symbol by symbol, by running it{tried}; what rounding alone makes of it does not count"
