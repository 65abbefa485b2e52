"""Loading papers, with those that they refer to; every problem of every file at once."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path

from imlp_audit.equations.catalogue import AnyClaim, ClaimText, read_claims
from imlp_audit.equations.door import is_trusted
from imlp_audit.errors import Problem, SpecError, UsageError, did_you_mean
from imlp_audit.spec.findings import read_findings_file
from imlp_audit.spec.paper import Paper, SpecFile, join, read_spec
from imlp_audit.spec.plan import EquationPlan, Plan, plan, plan_repeats
from imlp_audit.spec.references import rows_of
from imlp_audit.spec.rules import broken_check_ids, broken_rules
from imlp_audit.spec.schema import PaperFile
from imlp_audit.spec.targets import (
    default_roots,
    display_path,
    find,
    paper_folder,
    paper_folders,
    spec_files,
    target_of,
)


@dataclass(frozen=True)
class Selection:
    """The papers that were asked for, those they refer to, and the files that were asked for, if only some.

    `referring` are papers of the same folder that print numbers of those that were asked for again.
    """

    papers: tuple[Paper, ...]
    referred: tuple[Paper, ...] = ()
    only_files: dict[str, frozenset[str]] = field(default_factory=dict)
    referring: tuple[Paper, ...] = ()

    @property
    def known(self) -> tuple[Paper, ...]:
        """All papers that cells can be looked up in."""
        return (*self.papers, *self.referred)

    @property
    def repeating(self) -> tuple[Paper, ...]:
        """The papers that were not asked for, but may print again what those print that were."""
        known = {paper.id for paper in self.known}
        return (*self.referred, *(paper for paper in self.referring if paper.id not in known))


def load(arguments: Sequence[str] = (), *, trust_code: bool = False) -> Selection:
    """Load the papers that the arguments name: ids, folders or files; all but those on request where there are none.

    With `trust_code` the Python beside any spec may build its models, and not only that of trusted folders. Raises
    SpecError with every problem of every file, or UsageError where nothing is found.
    """
    wanted = find(arguments)
    problems: list[Problem] = []
    read = [(_read(one.files, one.target, problems, trust_code=trust_code), one.only) for one in wanted]
    papers = tuple(p for p, _ in read if p is not None and (arguments or not p.about.value.on_request))
    problems += _described_twice(papers)
    referred = _load_referred(papers, [path for one in wanted for path in one.files[:1]], problems)
    only_files = {paper.id: only for paper, only in read if paper in papers}
    selection = Selection(papers, referred, only_files, tuple(_load_referring(papers)))
    for rules in (broken_rules, broken_check_ids):
        if not problems:
            problems = [problem for paper in selection.known for problem in rules(paper, selection.known)]
    if problems:
        raise SpecError(problems)
    return selection


def _read(
    files: Sequence[Path], target: str, problems: list[Problem], *, whole: bool = True, trust_code: bool = False
) -> Paper | None:
    """Return a paper and, with `whole`, what else its folder holds; None where there are problems, which are added.

    `target` names the paper on a command line.
    """
    specs: list[SpecFile] = []
    for path in files:
        spec, found = read_spec(path, display_path(path), trusted=trust_code or is_trusted(path.parent))
        problems += found
        specs += [spec] if spec is not None else []
    if len(specs) < len(files):
        return None
    ids = [spec.record.paper for spec in specs]
    name = max(sorted(set(ids)), key=ids.count)
    folder = _own_folder(files)
    holder = next((path for path, spec in zip(files, specs, strict=True) if _has_findings(spec)), None)
    path = holder or (folder / "findings.yaml" if folder else _describing_file(files, specs))
    paper, found = join(name, specs, read_findings_file(path, display_path(path), name, target))
    problems += found
    if paper is None:
        return None
    paper = replace(paper, files=tuple((path, display_path(path)) for path in files))
    if folder is None or not whole:
        return paper
    return replace(paper, folder=folder, equations=read_claims(paper.id, folder, display_path(folder)))


def _own_folder(files: Sequence[Path]) -> Path | None:
    """Return the folder of a paper's files; None where it shares the folder with other specs."""
    (folder, *others) = {path.parent for path in files}
    return None if others or set(spec_files(folder)) != set(files) else folder


def _has_findings(spec: SpecFile) -> bool:
    return isinstance(spec.record, PaperFile) and bool(spec.record.findings)


def _describing_file(files: Sequence[Path], specs: Sequence[SpecFile]) -> Path:
    """Return the file that describes the paper; the first where none does, which is a problem of its own."""
    described = (
        path
        for path, spec in zip(files, specs, strict=True)
        if isinstance(spec.record, PaperFile) and spec.record.about is not None
    )
    return next(described, files[0])


def _described_twice(papers: Sequence[Paper]) -> list[Problem]:
    seen: dict[str, Paper] = {}
    problems = []
    for paper in papers:
        if paper.id in seen:
            other = seen[paper.id].about.file.shown_as
            problems.append(paper.about.problem(f"the paper {paper.id!r} is also described in {other}"))
        seen.setdefault(paper.id, paper)
    return problems


def _load_referred(papers: Sequence[Paper], beside: Sequence[Path], problems: list[Problem]) -> tuple[Paper, ...]:
    """Load the papers that these refer to, and those that they refer to in turn."""
    known = {paper.id: paper for paper in papers}
    waiting = list(papers)
    while waiting:
        for name in sorted(set(papers_referred_to(waiting.pop())) - set(known)):
            folder = paper_folder(name, beside)
            paper = _read(spec_files(folder), target_of(folder), problems) if folder is not None else None
            if paper is not None:
                known[name] = paper
                waiting.append(paper)
    return tuple(paper for paper in known.values() if paper not in papers)


def _load_referring(papers: Sequence[Paper]) -> Iterator[Paper]:
    """Yield the papers of the same folder that print rows of these again; a broken one has no say."""
    ids = {paper.id for paper in papers}
    folders = {paper.folder.parent.resolve() for paper in papers if paper.folder is not None}
    for root in default_roots():
        siblings = paper_folders(root) if root.resolve() in folders else []
        for folder in (one for one in siblings if one.name not in ids and _may_repeat(one, ids)):
            paper = _read(spec_files(folder), target_of(folder), [], whole=False)
            if paper is not None and paper.id not in ids:
                yield paper


def _may_repeat(folder: Path, ids: Collection[str]) -> bool:
    """Return whether a folder's files may name rows of these papers as repeated, without parsing them."""
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in spec_files(folder)]
    return any(f"{name}/" in text for text in texts if "repeats:" in text for name in ids)


def select_checks(
    selection: Selection, only: Sequence[str] = (), skip: Sequence[str] = (), *, solving: bool = False
) -> list[Plan]:
    """Return the checks of the selected papers in order: of the files asked for, and by globs of their ids.

    Statements about functions that need a solver are among them with `solving` alone. Raises UsageError where none
    is left.
    """
    plans = [
        check
        for check in _plans_of(selection)
        if (not only or any(fnmatchcase(check.id, glob) for glob in only))
        and not any(fnmatchcase(check.id, glob) for glob in skip)
        and (solving or not (isinstance(check, EquationPlan) and _needs_solver(check.claim)))
    ]
    if not plans:
        asked = "".join([*(f" --only {glob}" for glob in only), *(f" --skip {glob}" for glob in skip)])
        raise UsageError(f"no check is selected{' by' if asked else ''}{asked}; `imlp-audit list` prints their ids")
    return plans


def select_equations(selection: Selection, patterns: Sequence[str] = ()) -> list[Plan]:
    """Return the checks of statements about functions: all of them, or those whose id or name a pattern matches.

    Raises UsageError for a pattern that matches none.
    """
    plans = [check for check in _plans_of(selection) if isinstance(check, EquationPlan)]
    for pattern in patterns:
        if not any(_matches(plan, pattern) for plan in plans):
            names = [plan.id if "/" in pattern else plan.claim.name for plan in plans]
            raise UsageError(f"no claim matches {pattern!r}; {did_you_mean(pattern, names, 'claims')}")
    return [plan for plan in plans if not patterns or any(_matches(plan, pattern) for pattern in patterns)]


def _needs_solver(claim: AnyClaim) -> bool:
    return isinstance(claim, ClaimText) and claim.needs is not None


def _matches(plan: EquationPlan, pattern: str) -> bool:
    return fnmatchcase(plan.id, pattern) or fnmatchcase(plan.claim.name, pattern)


def papers_referred_to(paper: Paper) -> Iterator[str]:
    """Yield the ids of the papers that this one's rows, equations and claims name."""
    for row in rows_of(paper):
        yield from (ref.split("/")[0] for ref in (row.row.repeats, row.table.value.repeats) if ref)
    yield from (entry.value.same_as.split("/")[0] for entry in paper.shared)
    for claim in paper.claims:
        yield from (ref.split("/")[0] for ref in claim.value.ids_named)


def _plans_of(selection: Selection) -> Iterator[Plan]:
    """Yield the checks of the selected papers, and of the files that the selection was narrowed to.

    Where another paper prints a number of theirs again, that is checked too, under the other paper's id.
    """
    for paper in selection.papers:
        only = selection.only_files.get(paper.id)
        for check in plan(paper, selection.known):
            if not only or check.source.file in only:
                yield check
    for other in selection.repeating:
        for repeat in plan_repeats(other, selection.papers):
            only = selection.only_files.get(repeat.other.row.paper.id)
            if not only or repeat.other.row.table.source().file in only:
                yield repeat
