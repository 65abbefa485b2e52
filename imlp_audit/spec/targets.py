"""What a target of a command line names: a folder, a file, a paper, or checks by an id or a glob of ids."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path

from imlp_audit.equations.trust import installed_folders
from imlp_audit.errors import UsageError, did_you_mean
from imlp_audit.numbers.words import list_some
from imlp_audit.spec.folders import (
    YAML,
    Declared,
    declares,
    default_roots,
    display_path,
    explain_other_kind,
    is_there,
    other_yaml,
    paper_folders,
    spec_files,
    target_of,
)
from imlp_audit.spec.part import WHOLE, SelectedPart, is_glob

_LISTED = 3  # files that a message names


@dataclass(frozen=True)
class Wanted:
    """The files of one paper, and the part of it that is wanted.

    `target` is what names the paper on a command line. `file` is the one that was named, if one was: problems of those
    beside it do not stop it. A paper on request is left out where it is here only `by_chance`.
    """

    files: tuple[Path, ...]
    target: str
    part: SelectedPart = WHOLE
    file: Path | None = None
    by_chance: bool = False

    @property
    def paper(self) -> str:
        """The id of the paper, as most of its files give it."""
        ids = [declares(path).paper or "" for path in ([self.file] if self.file is not None else self.files)]
        return max(sorted(set(ids)), key=ids.count)

    @property
    def beside(self) -> tuple[Path, ...]:
        """The files that are here only since they lie beside the one that was named."""
        return tuple(path for path in self.files if self.file is not None and path != self.file)

    def without(self, files: Collection[str]) -> Wanted:
        """Return what is wanted without some files, as they are shown, that lie beside the one that was named."""
        return replace(self, files=tuple(p for p in self.files if p not in self.beside or display_path(p) not in files))


def find(arguments: Sequence[str]) -> list[Wanted]:
    """Return the papers that the arguments name, each once; all papers where there are none. Raises UsageError."""
    wanted = [one for argument in arguments for one in _find_target(argument)]
    if not arguments:
        wanted = [replace(one, by_chance=True) for one in _papers_in(default_roots()[0])]
    merged: dict[tuple[Path, ...], Wanted] = {}
    for one in wanted:
        key = tuple(path.resolve() for path in one.files)
        earlier = merged.get(key, one)
        merged[key] = replace(earlier, part=earlier.part | one.part, file=earlier.file and one.file)
    return list(merged.values())


def skipped_yaml(arguments: Sequence[str]) -> list[Path]:
    """Return the YAML files of the folders that the arguments name, or of ./specs, which are no specs."""
    folders = [Path(argument) for argument in arguments or ["specs"]]
    return [path for folder in folders if is_there(folder) and folder.is_dir() for path in other_yaml(folder)]


def split_target(target: str) -> tuple[Path | None, str]:
    """Return the specs' folder or file that a target begins with, and the rest of it: an id, or a part of one."""
    steps = target.split("/")
    for count in range(len(steps), 0, -1) if Path(target).suffix not in YAML or is_there(Path(target)) else ():
        start = "/".join(steps[:count])
        if start and is_there(Path(start)) and (not Path(start).is_dir() or _holds_specs(Path(start))):
            return Path(start), "/".join(steps[count:]).strip("/")
    return None, target.strip("/")


def whole_paper(target: str) -> str:
    """Return what of a target names a whole paper: its file or folder, or its id."""
    path, name = split_target(target)
    return name.partition("/")[0] if path is None else str(path)


def id_in(target: str, paper: str) -> str:
    """Return the id that a target stands for, if it may begin with the file or folder of the paper."""
    path, name = split_target(target)
    return name if path is None else f"{paper}/{name}"


def _holds_specs(folder: Path) -> bool:
    return bool(folder.is_dir() and (spec_files(folder) or paper_folders(folder)))


def _find_target(argument: str) -> Iterator[Wanted]:
    path, rest = split_target(argument)
    if path is None:
        near = _known_papers(default_roots()[:1]) if is_glob(rest.partition("/")[0]) else {}
        yield from _find_id(argument, rest, near or _known_papers((*default_roots(), *installed_folders())))
    elif not path.is_dir():  # reading it says so if it is not a regular file
        if (other := explain_other_kind(path)) is not None:
            raise UsageError(other)
        _refuse_without_about(path)
        yield _narrow(_around(path), rest)
    elif (only := _one_paper(path)) is not None:
        yield _narrow(only, rest)
    elif rest:
        yield from _find_id(argument, rest, {one.paper: one for one in _papers_in(path)})
    else:
        yield from _papers_in(path)


def _refuse_folder_without_specs(argument: str) -> None:
    """Raise UsageError for a folder; it is asked where a target names no paper."""
    if is_there(Path(argument)) and Path(argument).is_dir():
        raise UsageError(
            f"{argument} is a folder without specs; a spec is a YAML file with the key `paper`, and "
            "`imlp-audit init` writes one from a table"
        )


def _one_paper(folder: Path) -> Wanted | None:
    """Return the paper that a folder is; None for a folder of papers, each a folder or a file of its own."""
    files = spec_files(folder)
    described = {found.paper for found in map(declares, files) if found.about}
    return Wanted(files, target_of(folder)) if files and len(described) < 2 else None


def _file_hint(path: Path) -> str | None:
    """Name the YAML file beside one that is not there, whose name is the nearest: ok.yaml for ok.yml."""
    if path.suffix not in YAML or not is_there(path.parent) or not path.parent.is_dir():
        return None
    names = {one.stem: one.name for one in path.parent.iterdir() if one.suffix in YAML}
    near = get_close_matches(path.stem, names, n=1)  # the ending aside, which is that of all
    return f"did you mean {str(path.with_name(names[near[0]]))!r}?" if near else None


def _find_id(argument: str, name: str, pool: Mapping[str, Wanted]) -> Iterator[Wanted]:
    """Yield the papers of an id, or those that a glob matches, narrowed to what the rest of it names."""
    paper, _, rest = name.partition("/")
    found = [one for known, one in pool.items() if fnmatchcase(known, paper)]
    if not found:
        _refuse_folder_without_specs(argument)
        hint = _file_hint(Path(argument)) or did_you_mean(paper, list(pool), "papers here")
        raise UsageError(f"{argument}: no spec file, folder or paper of that name; {hint}")
    for one in found:
        yield replace(_narrow(one, rest), target=one.paper, by_chance=is_glob(paper))


def _narrow(wanted: Wanted, rest: str) -> Wanted:
    """Return the part of a paper that is named by what follows its id."""
    return replace(wanted, part=SelectedPart(ids=frozenset({f"{wanted.paper}/{rest}"}))) if rest else wanted


def _known_papers(roots: Sequence[Path]) -> dict[str, Wanted]:
    """Return the papers of this folder and of others, by id and by folder; the first of a name counts."""
    known: dict[str, Wanted] = {}
    for folder in (Path(), *(folder for root in roots for folder in (*paper_folders(root), root))):
        one = _one_paper(folder)
        for paper in [one] if one is not None else map(_around, spec_files(folder)):
            known.setdefault(paper.paper, paper)
            known.setdefault(folder.name, paper)
    return {name: paper for name, paper in known.items() if name}


def _papers_in(root: Path) -> Iterator[Wanted]:
    folders, files = paper_folders(root), spec_files(root)
    if not folders and not files:
        raise UsageError(f"{display_path(root)}: no paper's folder with .yaml files in it")
    yield from (Wanted(spec_files(folder), target_of(folder)) for folder in folders)
    yield from (_around(path) for path in files)


def _around(path: Path) -> Wanted:
    """Return a file, with the others of its paper beside it.

    A file that describes the paper stands for all of it; any other only for its own checks.
    """
    own = declares(path)
    beside = [other for other in spec_files(path.parent) if other != path]
    siblings = [other for other in beside if _belongs(declares(other), own) or _is_unnamed(other)]
    part = WHOLE if own.about else SelectedPart(files=frozenset({display_path(path)}))
    return Wanted(tuple(sorted([path, *siblings])), str(path), part, path)


def _refuse_without_about(path: Path) -> None:
    """Raise UsageError for a file that does not describe its paper where several files beside it do."""
    own = declares(path)
    found = [(other.name, declares(other)) for other in spec_files(path.parent) if other != path]
    about = [name for name, other in found if other.about and _belongs(other, own)]
    if not own.about and len(about) > 1:
        raise UsageError(
            f"{display_path(path)} has no key 'about', and more than one file beside it describes {own.paper} "
            f"({list_some(about, _LISTED)}): give it its own, or move it to the one that it belongs to"
        )


def _belongs(other: Declared, own: Declared) -> bool:
    """Return whether a file is of another's paper; two that describe a paper are two versions of it."""
    return own.paper is not None and other.paper == own.paper and not (other.about and own.about)


def _is_unnamed(path: Path) -> bool:
    """Return whether a file is findings of a paper that it does not name; reading it says so."""
    return path.name == "findings.yaml" and declares(path).paper is None
