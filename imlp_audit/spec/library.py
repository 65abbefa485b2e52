"""Loading papers, with those that they refer to; every problem of every file at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from imlp_audit.errors import Problem, SpecError
from imlp_audit.spec.finding import find, paper_folder, shown, spec_files
from imlp_audit.spec.loader import Paper, SpecFile, join, read_spec
from imlp_audit.spec.references import papers_referred_to
from imlp_audit.spec.rules import broken_rules


@dataclass(frozen=True)
class Selection:
    """The papers that were asked for, those they refer to, and the files that the asking was narrowed to."""

    papers: tuple[Paper, ...]
    referred: tuple[Paper, ...] = ()
    only_files: dict[str, frozenset[str]] = field(default_factory=dict)

    @property
    def known(self) -> tuple[Paper, ...]:
        """All papers that cells can be looked up in."""
        return (*self.papers, *self.referred)


def load(arguments: Sequence[str] = ()) -> Selection:
    """Load the papers that the arguments name: ids, folders or files; all papers where there are none.

    Raises SpecError with every problem of every file, or UsageError where nothing is found.
    """
    wanted = find(arguments)
    problems: list[Problem] = []
    read = [(_read(one.files, problems), one.only) for one in wanted]
    papers = tuple(paper for paper, _ in read if paper is not None)
    problems += _told_twice(papers)
    referred = _referred(papers, [path for one in wanted for path in one.files[:1]], problems)
    selection = Selection(papers, referred, {paper.id: only for paper, only in read if paper is not None})
    if not problems:
        problems += [problem for paper in selection.known for problem in broken_rules(paper, selection.known)]
    if problems:
        raise SpecError(problems)
    return selection


def _read(files: Sequence[Path], problems: list[Problem]) -> Paper | None:
    specs: list[SpecFile] = []
    for path in files:
        spec, found = read_spec(path, shown(path))
        problems += found
        specs += [spec] if spec is not None else []
    if len(specs) < len(files):
        return None
    ids = [spec.record.paper for spec in specs]
    paper, found = join(max(sorted(set(ids)), key=ids.count), specs)
    problems += found
    return paper


def _told_twice(papers: Sequence[Paper]) -> list[Problem]:
    seen: dict[str, Paper] = {}
    problems = []
    for paper in papers:
        if paper.id in seen:
            other = seen[paper.id].about.file.shown_as
            problems.append(paper.about.problem(f"the paper {paper.id!r} is described in {other} too"))
        seen.setdefault(paper.id, paper)
    return problems


def _referred(papers: Sequence[Paper], beside: Sequence[Path], problems: list[Problem]) -> tuple[Paper, ...]:
    """Load the papers that these refer to, and those that they refer to in turn."""
    known = {paper.id: paper for paper in papers}
    waiting = list(papers)
    while waiting:
        for name in sorted(set(papers_referred_to(waiting.pop())) - set(known)):
            folder = paper_folder(name, beside)
            paper = _read(spec_files(folder), problems) if folder is not None else None
            if paper is not None:
                known[name] = paper
                waiting.append(paper)
    return tuple(paper for paper in known.values() if paper not in papers)
