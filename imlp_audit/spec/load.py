"""Loading papers, with those that they refer to, and selecting checks; every problem of every file at once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path

from imlp_audit.cache.store import digest_of, fingerprint_folder
from imlp_audit.claims.catalogue import ClaimText
from imlp_audit.errors import Problem, SpecError, UsageError, did_you_mean
from imlp_audit.files import MAX_SPEC_BYTES, FileError, read_bytes
from imlp_audit.numbers.words import list_some
from imlp_audit.processes.code import is_bundled
from imlp_audit.spec import targets
from imlp_audit.spec.findings import broken_check_ids
from imlp_audit.spec.paper import Paper, models_of
from imlp_audit.spec.plan import EquationPlan, Plan, plan, plan_repeats
from imlp_audit.spec.reader import PaperReader
from imlp_audit.spec.rules import broken_rules
from imlp_audit.spec.tree import MAX_PROBLEMS


@dataclass(frozen=True)
class Selection:
    """The papers that were asked for, those they refer to, and which parts of them were asked for, if not all.

    `referring` are papers of the same folder that print numbers of those that were asked for again. `skipped` is YAML
    of other kinds.
    """

    papers: tuple[Paper, ...]
    referred: tuple[Paper, ...] = ()
    parts: dict[str, targets.SelectedPart] = field(default_factory=dict)
    referring: tuple[Paper, ...] = ()
    skipped: tuple[str, ...] = ()

    def part(self, paper: str) -> targets.SelectedPart:
        """Return which part of a paper was asked for."""
        return self.parts.get(paper, targets.WHOLE)

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

    With `trust_code` the Python beside any spec may be run, and not only what is trusted. Raises UsageError where
    nothing is found, and SpecError with all problems of how files are written; if there are none, of what their parts
    refer to; and then of what names checks.
    """
    reader = PaperReader(trust_code)
    selection = _select(targets.find(arguments), reader)
    broken = reader.problems or _broken(broken_rules, selection) or _broken(broken_check_ids, selection)
    if broken:
        raise SpecError(broken)
    return replace(selection, skipped=tuple(map(targets.display_path, targets.skipped_yaml(arguments))))


def _broken(rules: Callable[[Paper, tuple[Paper, ...]], Iterable[Problem]], selection: Selection) -> list[Problem]:
    return [one for paper in selection.known for one in islice(rules(paper, selection.known), MAX_PROBLEMS)]


def _select(wanted: Sequence[targets.Wanted], reader: PaperReader) -> Selection:
    read = [(reader.read(one.files, one.target), one) for one in wanted]
    papers = tuple(p for p, one in read if p is not None and not (one.by_chance and p.about.value.on_request))
    reader.problems += _described_twice(papers)
    referred = _load_referred(papers, [path for one in wanted for path in one.files[:1]], reader)
    parts = {paper.id: one.part for paper, one in read if paper in papers}
    return Selection(papers, referred, parts, tuple(_load_referring(papers, reader.trust_code)))


def _described_twice(papers: Sequence[Paper]) -> list[Problem]:
    first = {paper.id: paper for paper in reversed(papers)}
    others = [(paper, first[paper.id].about.file.shown_as) for paper in papers if paper is not first[paper.id]]
    return [one.about.problem(f"the paper {one.id!r} is also described in {other}") for one, other in others]


def _load_referred(papers: Sequence[Paper], beside: Sequence[Path], reader: PaperReader) -> tuple[Paper, ...]:
    known = {paper.id: paper for paper in papers}
    waiting = list(papers)
    while waiting:
        for name in sorted(set(papers_referred_to(waiting.pop())) - set(known)):
            folder = targets.paper_folder(name, beside)
            paper = reader.read(targets.spec_files(folder), targets.target_of(folder)) if folder is not None else None
            if paper is not None:
                known[name] = paper
                waiting.append(paper)
    return tuple(paper for paper in known.values() if paper not in papers)


def _load_referring(papers: Sequence[Paper], trust_code: bool) -> Iterator[Paper]:
    """Yield the papers of the same folder that print rows of these again; a broken one has no say."""
    ids = {paper.id for paper in papers}
    folders = {paper.folder.parent.resolve() for paper in papers if paper.folder is not None}
    for root in {root.resolve(): root for root in targets.default_roots()}.values():
        siblings = targets.paper_folders(root) if root.resolve() in folders else []
        for folder in (one for one in siblings if one.name not in ids and _may_repeat(one, ids)):
            reader = PaperReader(trust_code)
            paper = reader.read(targets.spec_files(folder), targets.target_of(folder), whole=False)
            if paper is not None and not reader.problems and paper.id not in ids:
                yield paper


def _may_repeat(folder: Path, ids: Collection[str]) -> bool:
    """Return whether a folder's files may name rows of these papers as repeated, without parsing them."""
    texts = [targets.read_start(path) or "" for path in targets.spec_files(folder)]
    return any(f"{name}/" in text for text in texts if "repeats:" in text for name in ids)


def select_checks(
    selection: Selection, only: Sequence[str] = (), skip: Sequence[str] = (), *, solving: bool = False
) -> list[Plan]:
    """Return the checks of the selected papers in order: of the files asked for, and by globs of their ids.

    Statements about functions that need a solver are among them with `solving` alone. Raises UsageError where none
    is left.
    """
    every = list(_plans_of(selection))
    _refuse_unknown(selection, every)
    plans = [
        check
        for check in every
        if (not only or any(fnmatchcase(check.id, glob) for glob in only))
        and not any(fnmatchcase(check.id, glob) for glob in skip)
        and (solving or not needs_solver(check))
    ]
    if not plans:
        asked = "".join([*(f" --only {glob}" for glob in only), *(f" --skip {glob}" for glob in skip)])
        if not every:
            files = list_some([paper.about.file.shown_as for paper in selection.papers], 3)
            raise UsageError(f"there is nothing to check in {files}: write a table, a claim or an equation")
        whole = "; a glob must match the whole id, as '*/params' does" if only else ""
        listed = "`imlp-audit list` prints the ids"
        raise UsageError(f"no check is selected{' by' if asked else ''}{asked}{whole}; {listed}")
    return plans


def select_equations(selection: Selection, patterns: Sequence[str] = ()) -> list[Plan]:
    """Return the checks of statements about functions: all of them, or those whose id or name a pattern matches.

    Raises UsageError for a pattern that matches none.
    """
    plans = [check for check in _plans_of(selection) if isinstance(check, EquationPlan)]
    _refuse_unknown(selection, plans, equations=True)
    for pattern in patterns:
        if not any(_matches(plan, pattern) for plan in plans):
            names = [plan.id if "/" in pattern else plan.claim.name for plan in plans]
            raise UsageError(f"no claim matches {pattern!r}; {did_you_mean(pattern, names, 'claims')}")
    return [plan for plan in plans if not patterns or any(_matches(plan, pattern) for pattern in patterns)]


def _refuse_unknown(selection: Selection, plans: Sequence[Plan], *, equations: bool = False) -> None:
    """Raise UsageError for a target that names no check of a paper, or none of its `equations`."""
    for paper in selection.papers:
        for target in sorted(selection.part(paper.id).ids):
            if not any(targets.names(target, check.id) for check in plans):
                known = [c for c in plan(paper, selection.known) if isinstance(c, EquationPlan) or not equations]
                near = list(dict.fromkeys("/".join(c.id.split("/")[: target.count("/") + 1]) for c in known))
                raise UsageError(f"no {'claim' if equations else 'check'} {target!r}; {did_you_mean(target, near)}")


def needs_solver(check: Plan) -> bool:
    """Return whether a check is of a statement that only a solver can test."""
    return isinstance(check, EquationPlan) and isinstance(check.claim, ClaimText) and check.claim.needs is not None


def _matches(plan: EquationPlan, pattern: str) -> bool:
    return fnmatchcase(plan.id, pattern) or fnmatchcase(plan.claim.name, pattern)


def papers_referred_to(paper: Paper) -> Iterator[str]:
    """Yield the ids of the papers that this one's rows, equations and claims name."""
    for row in paper.rows:
        yield from (ref.split("/")[0] for ref in (row.row.repeats, row.table.value.repeats) if ref)
    yield from (entry.value.same_as.split("/")[0] for entry in paper.shared)
    for claim in paper.claims:
        yield from (ref.split("/")[0] for ref in claim.value.ids_named)


def _plans_of(selection: Selection) -> Iterator[Plan]:
    """Yield the checks of the parts that were asked for, and those of other papers that print their numbers again."""
    for paper in selection.papers:
        part = selection.part(paper.id)
        yield from (check for check in plan(paper, selection.known) if part.has(check.id, check.source.file))
    for other in selection.repeating:
        for repeat in plan_repeats(other, selection.papers):
            row = repeat.other.row
            if selection.part(row.paper.id).has(row.id, row.table.source().file):
                yield repeat


def digest_selection(selection: Selection, *asked: object) -> str | None:
    """Return a digest of the files of all papers that a result may depend on, and of what is asked of them.

    None where code from outside has a say, or a file cannot be read: what that depends on is not known.
    """
    papers = (*selection.papers, *selection.repeating)
    if any(map(_has_code_from_outside, papers)):
        return None
    parts = {paper.id: selection.part(paper.id) for paper in selection.papers}
    chosen = [f"{name} {sorted(part.files)} {sorted(part.ids)}" for name, part in parts.items()]
    try:
        return digest_of([*map(repr, asked), *chosen, *(part for paper in papers for part in _contents(paper))])
    except FileError:
        return None


def _has_code_from_outside(paper: Paper) -> bool:
    folders = {claim.code.folder for claim in paper.equations if isinstance(claim, ClaimText)}
    return any(recipe.code_folders is None for recipe, _ in models_of(paper)) or not all(map(is_bundled, folders))


def _contents(paper: Paper) -> Iterator[str | bytes]:
    lock = paper.findings_file.lock_path
    for path, shown_as in paper.files:
        yield shown_as
        yield read_bytes(path, MAX_SPEC_BYTES)
    yield read_bytes(lock, MAX_SPEC_BYTES) if lock.is_file() else b""
    folders = {folder for recipe, _ in models_of(paper) for folder in recipe.code_folders or ()}
    if paper.folder is not None:
        folders.add(paper.code or paper.folder)
    yield from map(fingerprint_folder, sorted(folders))
