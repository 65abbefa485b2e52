"""Finding papers: by id among the bundled specs or those of a checkout, by folder, or by file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

from imlp_audit.errors import Problem, SpecError, UsageError
from imlp_audit.spec.loader import Paper, SpecFile, declared_paper, join, read_spec
from imlp_audit.spec.references import papers_referred_to
from imlp_audit.spec.rules import broken_rules
from imlp_audit.spec.schema import PaperFile

PACKAGE = Path(__file__).resolve().parent.parent


def default_root() -> Path:
    """Return the folder of papers used when none is named: `specs` here, else the one that was installed."""
    here = Path("specs")
    bundled = PACKAGE / "_specs"
    return here if here.is_dir() else bundled if bundled.is_dir() else PACKAGE.parent / "specs"


def shown(path: Path) -> str:
    """Return how a spec's path is shown: as it was given, and the installed specs without their machine's path."""
    for root in (PACKAGE / "_specs", PACKAGE.parent / "specs"):
        if path.is_absolute() and path.is_relative_to(root):
            return (Path("specs") / path.relative_to(root)).as_posix()
    return path.as_posix()


@dataclass(frozen=True)
class Wanted:
    """A paper's folder or lone file, and the files whose checks alone are wanted (all where empty)."""

    files: tuple[Path, ...]
    only: frozenset[str] = frozenset()


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


def spec_files(folder: Path) -> tuple[Path, ...]:
    """Return the YAML files of a folder in order."""
    return tuple(sorted(p for p in folder.iterdir() if p.suffix in (".yaml", ".yml") and not p.name.startswith(".")))


def load(arguments: Sequence[str] = ()) -> Selection:
    """Load the papers that the arguments name: ids, folders or files; all papers where there are none.

    Raises SpecError with every problem of every file, or UsageError where nothing is found.
    """
    wanted = [w for argument in arguments for w in _find(argument)] or _papers_in(default_root())
    merged: dict[tuple[Path, ...], frozenset[str]] = {}
    for one in wanted:
        earlier = merged.get(one.files)
        whole = earlier is not None and not (earlier and one.only)
        merged[one.files] = frozenset() if whole else one.only | (earlier or frozenset())
    problems: list[Problem] = []
    papers = [_read(files, problems) for files in merged]
    loaded = [paper for paper in papers if paper is not None]
    problems += _told_twice(loaded)
    referred = _referred(loaded, [files[0].parent.parent for files in merged], problems)
    if not problems:
        problems += [p for paper in loaded for p in broken_rules(paper, [*loaded, *referred])]
    if problems:
        raise SpecError(problems)
    only = {paper.id: only for paper, only in zip(papers, merged.values(), strict=True) if paper is not None}
    return Selection(tuple(loaded), tuple(referred), only)


def _find(argument: str) -> list[Wanted]:
    path = Path(argument)
    if path.is_dir():
        return [Wanted(spec_files(path))] if spec_files(path) else _papers_in(path)
    if path.is_file():
        return [_around(path)]
    folder = default_root() / argument
    if folder.is_dir():
        return [Wanted(spec_files(folder))]
    known = sorted(p.name for p in default_root().iterdir() if p.is_dir()) if default_root().is_dir() else []
    near = get_close_matches(argument, known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"papers here: {', '.join(known) or 'none'}"
    raise UsageError(f"{argument}: no spec file, folder or paper of that name; {hint}")


def _papers_in(root: Path) -> list[Wanted]:
    folders = [p for p in sorted(root.iterdir()) if p.is_dir() and spec_files(p)] if root.is_dir() else []
    if not folders:
        raise UsageError(f"{shown(root)}: no paper's folder with .yaml files in it")
    return [Wanted(spec_files(folder)) for folder in folders]


def _around(path: Path) -> Wanted:
    """Return a file with the siblings of its paper; a file that describes the paper stands for all of it."""
    spec, _ = read_spec(path, shown(path))
    record = spec.record if spec is not None else None
    describes = isinstance(record, PaperFile) and record.about is not None
    if isinstance(record, PaperFile) and describes and record.tables:
        return Wanted((path,))
    paper = declared_paper(path)
    siblings = tuple(p for p in spec_files(path.parent) if p == path or declared_paper(p) == paper)
    return Wanted(siblings or (path,), frozenset() if describes else frozenset({shown(path)}))


def _read(files: tuple[Path, ...], problems: list[Problem]) -> Paper | None:
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


def _referred(papers: Sequence[Paper], roots: Iterable[Path], problems: list[Problem]) -> list[Paper]:
    """Load the papers that cells of these refer to, from beside them or from the default folder."""
    missing = sorted({name for paper in papers for name in papers_referred_to(paper)} - {p.id for p in papers})
    found = []
    for name in missing:
        folders = [root / name for root in (*roots, default_root()) if (root / name).is_dir()]
        paper = _read(spec_files(folders[0]), problems) if folders else None
        found += [paper] if paper is not None else []
    return found
