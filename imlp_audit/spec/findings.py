"""`findings.yaml`, and the lock beside it: reading both, and what is wrong with them."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from os.path import lexists
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Self, TypeAlias

from pydantic import Discriminator, Field, Tag, model_validator

from imlp_audit.errors import DocumentError, Problem, SpecError, did_you_mean
from imlp_audit.files import MAX_SPEC_BYTES, FileError, read_text
from imlp_audit.records.base import Record
from imlp_audit.records.check import Source
from imlp_audit.records.document import from_json
from imlp_audit.records.finding import KIND_OF_SEVERITY, FindingKind, Quote
from imlp_audit.records.lock import Lock
from imlp_audit.spec.fields import MAPPING, TEXT, Sentence, Slug, text_or_mapping
from imlp_audit.spec.globs import Names
from imlp_audit.spec.tree import Located

if TYPE_CHECKING:
    from imlp_audit.spec.library import Selection
    from imlp_audit.spec.paper import Paper


EvidenceEntry: TypeAlias = Annotated[
    Annotated[Sentence, Tag(TEXT)] | Annotated[Quote, Tag(MAPPING)], Discriminator(text_or_mapping)
]
"""The id of a check, of any verdict, or what a source prints."""

MOST_WORDS = 60  # of a title and its reason together


class FindingEntry(Record):
    """What is wrong or unclear in a paper: the failing checks that it covers (ids or globs), the evidence it rests on.

    An entry with an empty title is a draft, which acknowledges nothing.
    """

    id: Slug
    title: str
    kind: FindingKind
    why: Sentence
    checks: Annotated[tuple[str, ...], Field(min_length=1)] = ()
    evidence: Annotated[tuple[EvidenceEntry, ...], Field(min_length=1)] = ()

    @model_validator(mode="before")
    @classmethod
    def _has_no_severity(cls, written: object) -> object:
        if isinstance(written, Mapping) and "severity" in written:
            old = written["severity"]
            kind = KIND_OF_SEVERITY.get(old) if isinstance(old, str) else None
            new = f"`kind: {kind}`" if kind else f"`kind:` and one of {', '.join(FindingKind)}"
            raise ValueError(f"findings have kinds in place of severities: write {new}, not `severity: {old}`")
        return written

    @model_validator(mode="after")
    def _rests_on_something(self) -> Self:
        if not (self.checks or self.evidence):
            raise ValueError("name the failing checks that it covers (`checks`), or the `evidence` that it rests on")
        return self

    @property
    def draft(self) -> bool:
        """Whether a person still has to give it a title."""
        return not self.title.strip()


@dataclass(frozen=True)
class FindingsFile:
    """The file that holds a paper's findings, or would hold them, and the lock beside it.

    `problem` says why the lock cannot be used. `lines` are the lines of its entries by check or finding.
    """

    path: Path
    shown_as: str
    lock: Lock | None = None
    problem: Problem | None = None
    lines: Mapping[str, int] = field(default_factory=dict)

    @property
    def lock_path(self) -> Path:
        """The lock of `findings.yaml` is `findings.lock`."""
        return self.path.with_suffix(".lock")

    @property
    def lock_shown_as(self) -> str:
        """The lock's name as messages show it."""
        return str(Path(self.shown_as).with_suffix(".lock").as_posix())

    def source_of(self, entry: str) -> Source:
        """Return the place in the lock of a check, or of a finding's evidence."""
        return Source(file=self.lock_shown_as, line=self.lines.get(entry, 1))


def read_findings_file(path: Path, shown_as: str, paper: str, target: str) -> FindingsFile:
    """Read the lock beside a file of findings, if there is one; `target` names the paper on a command line."""
    found = FindingsFile(path, shown_as)
    if not lexists(found.lock_path):
        return found
    name, command = found.lock_shown_as, f"`{shlex.join(['imlp-audit', 'acknowledge', target])}`"
    try:
        text = read_text(found.lock_path, MAX_SPEC_BYTES).replace("\r\n", "\n")
        lock = from_json(Lock, text, name, written_by=command)
    except FileError as error:
        return FindingsFile(path, shown_as, problem=error.problem(name))
    except DocumentError as error:
        line = error.line or _find_line(text, error.place)
        return FindingsFile(path, shown_as, problem=Problem(name, line, 1, str(error).removeprefix(f"{name}: ")))
    if lock.paper != paper:
        message = f"it is the lock of {lock.paper!r}, not of {paper!r}; run {command}"
        return FindingsFile(path, shown_as, problem=Problem(name, _find_line(text, ("paper",)), 1, message))
    return FindingsFile(path, shown_as, lock, lines=_lines_of(text))


def _lines_of(text: str) -> dict[str, int]:
    """Return the line of each entry of a lock; of a check that has two, the first."""
    named = ((re.match(r'^ +"(.+)": \{$', line), at) for at, line in enumerate(text.split("\n"), 1))
    return {found[1]: at for found, at in reversed([*named]) if found}


def _find_line(text: str, place: Sequence[str | int]) -> int:
    """Return the line of a value in JSON as we write it, or of what should hold it."""
    lines = text.split("\n")
    found = 0
    for key in place:
        line = _find_key(lines, key, found)
        if line is None:
            break
        found = line
    return found + 1


def _find_key(lines: Sequence[str], key: str | int, holder: int) -> int | None:
    """Return the line of a key, before the lines are indented as little as the one of what holds the key."""
    inside = takewhile(lambda at: _indent(lines[at]) > _indent(lines[holder]), range(holder + 1, len(lines)))
    return next((at for at in inside if lines[at].lstrip().startswith(f"{json.dumps(key)}:")), None)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def broken_locks(selection: Selection) -> list[Problem]:
    """Return why locks of the selected papers cannot be used."""
    problems = (paper.findings_file.problem for paper in selection.papers)
    return [problem for problem in problems if problem is not None]


def refuse_broken_locks(selection: Selection) -> None:
    """Raise SpecError if the lock of a selected paper cannot be used."""
    if broken := broken_locks(selection):
        raise SpecError(broken)


def covered_checks(paper: Paper, ids: Collection[str]) -> dict[str, Located[FindingEntry]]:
    """Return the finding of each check that a finding covers, drafts included."""
    names = Names(ids)
    return {name: entry for entry in paper.findings for glob in entry.value.checks for name in names.matching(glob)}


def broken_findings(paper: Paper, ids: Names) -> Iterator[Problem]:
    """Yield findings that name checks that do not exist, and checks that two findings claim."""
    claimed: dict[str, Located[FindingEntry]] = {}
    for entry in paper.findings:
        for index, glob in enumerate(entry.value.checks):
            found = ids.matching(glob)
            if glob not in ids and (glob == "*" or len(found) == len(ids) > 1):
                message = f"{glob!r} covers every check, those that pass included; name the checks that fail for this"
                yield entry.problem(
                    f"{message} cause: by their ids, or by a glob of a table, a row or a column", "checks", index
                )
                continue
            if not found:
                hint = did_you_mean(glob, ids, "checks")
                yield entry.problem(f"no check {glob!r}; {hint}", "checks", index)
            taken = [name for name in found if claimed.get(name, entry) is not entry]
            if taken:
                other = claimed[taken[0]].value.id
                message = f"{taken[0]} is covered by the finding {other!r} already; a check has one cause"
                yield entry.problem(message, "checks", index)
            claimed |= {name: entry for name in found if name not in claimed}
        for index, name in enumerate(entry.value.evidence):
            if isinstance(name, str) and name not in ids:
                hint = did_you_mean(name, ids, "checks")
                yield entry.problem(
                    f"no check {name!r}; {hint} (a quote is {{quote: ..., source: ...}})", "evidence", index
                )


def long_findings(paper: Paper) -> Iterator[Problem]:
    """Yield the titled findings whose title and reason are too long to be read at a glance."""
    for entry in paper.findings:
        words = len(f"{entry.value.title} {entry.value.why}".split())
        if words > MOST_WORDS and not entry.value.draft:
            yield entry.problem(f"title and why have {words} words together; write at most {MOST_WORDS}", "why")
