"""What is wrong with a paper's coverage, as far as the specs alone can show it."""

from __future__ import annotations

from collections.abc import Iterator

from imlp_audit.errors import Problem
from imlp_audit.numbers.forms import unsigned_keys
from imlp_audit.spec.globs import Names
from imlp_audit.spec.paper import Paper
from imlp_audit.spec.schema import Coverage
from imlp_audit.spec.tree import Located


def _without_dots(item: str) -> str:
    """Fold "Table D.1" and the slug's "Table d1" into one."""
    return item.lower().replace(".", "")


def _quoted_numbers(located: Located[Coverage], ids: Names) -> Iterator[Problem]:
    """Yield what is wrong with the quotations of numbers that can be seen without the document."""
    seen = set[str]()
    for index, entry in enumerate(located.value.numbers):
        for position, quote in enumerate(entry.near):
            if quote in seen:
                yield located.problem("this is quoted twice", "numbers", index, "near", position)
            elif not unsigned_keys(quote):
                yield located.problem("this quotes no number", "numbers", index, "near", position)
            seen.add(quote)
        there = {key for quote in entry.near for key in unsigned_keys(quote)}
        for position, text in enumerate(entry.numbers or ()):
            if not there.intersection(unsigned_keys(text)):
                yield located.problem(
                    f"{text!r} stands in none of the quotations", "numbers", index, "numbers", position
                )
        for position, glob in enumerate(entry.checks or ()):
            if not ids.matching(glob):
                yield located.problem(f"no check {glob!r}; see `imlp-audit list`", "numbers", index, "checks", position)


def broken_coverage(paper: Paper, located: Located[Coverage], ids: Names) -> Iterator[Problem]:
    """Yield the parts of a document without an entry, and what its entries name that is not there."""
    coverage = located.value
    for index, entry in enumerate(coverage.entries):
        for position, glob in enumerate(entry.checks or ()):
            if not ids.matching(glob):
                yield located.problem(f"no check {glob!r}; see `imlp-audit list`", "entries", index, "checks", position)
    yield from _quoted_numbers(located, ids)
    items = {_without_dots(entry.item) for entry in coverage.entries}
    due = [f"Equation {n}" for n in range(1, coverage.equations + 1)]
    due += [f"Figure {n}" for n in range(1, coverage.figures + 1)]
    due += [f"Table {n}" for n in range(1, coverage.tables + 1)]
    due += [f"Table {table.value.table}" for table in paper.tables]
    for item in dict.fromkeys(due):
        if _without_dots(item) not in items:
            yield located.problem(
                f"{item} has no entry: list its checks, or give out_of_scope with the reason", "entries"
            )
