"""What names checks by their ids: findings with the lock beside them, and coverage; and what is wrong with it."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from os.path import lexists
from pathlib import Path

from imlp_audit.claims.catalogue import BrokenClaim
from imlp_audit.errors import DocumentError, Problem, SpecError, did_you_mean
from imlp_audit.files import MAX_SPEC_BYTES, FileError, read_text
from imlp_audit.numbers.parsing import unsigned_keys
from imlp_audit.records.base import from_json
from imlp_audit.records.finding import Lock
from imlp_audit.spec.fields import Names
from imlp_audit.spec.paper import FindingsFile, Paper
from imlp_audit.spec.plan import check_ids
from imlp_audit.spec.schema import Coverage, FindingEntry
from imlp_audit.spec.tree import Located, taken_twice

MOST_WORDS = 60  # of a finding's title and its reason together


def read_findings_file(path: Path, shown_as: str, paper: str, target: str) -> FindingsFile:
    """Read the lock beside a file of findings, if there is one; `target` names the paper on a command line."""
    found = FindingsFile(path, shown_as)
    if not lexists(found.lock_path):
        return found
    name, command = found.lock_shown_as, f"`{shlex.join(['imlp-audit', 'acknowledge', target])}`"
    try:
        found = replace(found, text=read_text(found.lock_path, MAX_SPEC_BYTES).replace("\r\n", "\n"))
        lock = from_json(Lock, found.text, name, written_by=command)
    except FileError as error:
        return replace(found, problem=error.problem(name))
    except DocumentError as error:
        line = error.line or found.line_of(error.place)
        return replace(found, problem=Problem(name, line, 1, str(error).removeprefix(f"{name}: ")))
    if lock.paper != paper:
        message = f"it is the lock of {lock.paper!r}, not of {paper!r}; run {command}"
        return replace(found, problem=Problem(name, found.line_of(("paper",)), 1, message))
    return replace(found, lock=lock)


def broken_locks(papers: Sequence[Paper]) -> list[Problem]:
    """Return why locks of papers cannot be used."""
    return [problem for paper in papers if (problem := paper.findings_file.problem) is not None]


def refuse_broken_locks(papers: Sequence[Paper]) -> None:
    """Raise SpecError if a lock of a paper cannot be used."""
    if broken := broken_locks(papers):
        raise SpecError(broken)


def covered_checks(paper: Paper, ids: Collection[str]) -> dict[str, Located[FindingEntry]]:
    """Return the finding of each check that a finding covers."""
    names = Names(ids)
    return {name: entry for entry in paper.findings for glob in entry.value.checks for name in names.matching(glob)}


def long_findings(paper: Paper) -> Iterator[Problem]:
    """Yield the findings whose title and reason are too long to be read at a glance."""
    for entry in paper.findings:
        words = len(f"{entry.value.title} {entry.value.why}".split())
        if words > MOST_WORDS:
            yield entry.problem(f"title and why have {words} words together; write at most {MOST_WORDS}", "why")


def broken_check_ids(paper: Paper, known: tuple[Paper, ...]) -> Iterator[Problem]:
    """Yield every problem of what names checks by their ids; the known papers must break no other rule."""
    ids = check_ids(paper, known)
    if any(isinstance(claim, BrokenClaim) for claim in paper.equations):
        # a module that cannot be read hides the names of its claims; the check that says so stands for all of them
        ids += [name for name in _ids_referred_to(paper) if name.startswith(f"{paper.id}/equations/")]
    names = Names(ids)
    yield from taken_twice(paper.findings)
    yield from _broken_findings(paper, names)
    for cover in paper.coverage:
        yield from _broken_coverage(paper, cover, names)


def _ids_referred_to(paper: Paper) -> Iterator[str]:
    yield from (glob for entry in paper.findings for glob in entry.value.checks)
    for cover in paper.coverage:
        yield from (glob for entry in cover.value.entries for glob in entry.checks or ())
        yield from (glob for entry in cover.value.numbers for glob in entry.checks or ())


def _broken_findings(paper: Paper, ids: Names) -> Iterator[Problem]:
    claimed: dict[str, Located[FindingEntry]] = {}
    for entry in paper.findings:
        for index, glob in enumerate(entry.value.checks):
            found = ids.matching(glob)
            if glob not in ids and (glob == "*" or len(found) == len(ids) > 1):
                message = (
                    f"{glob!r} covers every check, those that pass included; name the checks that fail for this "
                    "cause: by their ids, or by a glob of a table, a row or a column"
                )
                yield entry.problem(message, "checks", index)
                continue
            if not found:
                yield entry.problem(f"no check {glob!r}; {did_you_mean(glob, ids, 'checks')}", "checks", index)
            taken = [name for name in found if claimed.get(name, entry) is not entry]
            if taken:
                other = claimed[taken[0]].value.id
                message = f"{taken[0]} is covered by the finding {other!r} already; a check has one cause"
                yield entry.problem(message, "checks", index)
            claimed |= {name: entry for name in found if name not in claimed}
        for index, name in enumerate(entry.value.evidence):
            if isinstance(name, str) and name not in ids:
                hint = f"{did_you_mean(name, ids, 'checks')} (a quote is {{quote: ..., source: ...}})"
                yield entry.problem(f"no check {name!r}; {hint}", "evidence", index)


def _broken_coverage(paper: Paper, located: Located[Coverage], ids: Names) -> Iterator[Problem]:
    coverage = located.value
    named = [("entries", index, entry.checks) for index, entry in enumerate(coverage.entries)]
    named += [("numbers", index, entry.checks) for index, entry in enumerate(coverage.numbers)]
    for key, index, globs in named:
        for position, glob in enumerate(globs or ()):
            if not ids.matching(glob):
                yield located.problem(f"no check {glob!r}; see `imlp-audit list`", key, index, "checks", position)
    yield from _quoted_numbers(located)
    items = {_without_dots(entry.item) for entry in coverage.entries}
    due = [f"Equation {n}" for n in range(1, coverage.equations + 1)]
    due += [f"Figure {n}" for n in range(1, coverage.figures + 1)]
    due += [f"Table {n}" for n in range(1, coverage.tables + 1)]
    due += [f"Table {table.value.table}" for table in paper.tables]
    for item in dict.fromkeys(due):
        if _without_dots(item) not in items:
            message = f"{item} has no entry: list its checks, or give out_of_scope with the reason"
            yield located.problem(message, "entries")


def _without_dots(item: str) -> str:
    """Fold "Table D.1" and the slug's "Table d1" into one."""
    return item.lower().replace(".", "")


def _quoted_numbers(located: Located[Coverage]) -> Iterator[Problem]:
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
                message = f"{text!r} stands in none of the quotations"
                yield located.problem(message, "numbers", index, "numbers", position)
