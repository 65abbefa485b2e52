"""What a target of a command line names: a folder, a file, a paper, or checks by an id or a glob of ids."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from imlp_audit.errors import UsageError, did_you_mean
from imlp_audit.files import MAX_SPEC_BYTES, FileError, open_regular
from imlp_audit.processes.code import bundled_folder
from imlp_audit.spec.tree import MapNode, Text, parse_tree

YAML = (".yaml", ".yml")
_INIT = "; make a spec of it: imlp-audit init {}"
_ADVICE = {  # on files of other kinds, by their endings
    **dict.fromkeys((".tex", ".csv", ".tsv", ".html", ".htm", ".md", ".pdf", ".gz", ".tgz", ".zip"), _INIT),
    **dict.fromkeys(
        (".pt", ".pth", ".bin", ".ckpt", ".safetensors", ".tar"), "; if it is a checkpoint: imlp-audit inspect {}"
    ),
    ".json": "; if it is a result of verify: imlp-audit report --from {}",
}
_OF_A_SPEC = re.compile(r"""^\ufeff?(?:\{\s*)?["']?(?:paper|about|tables?|claims)["']?\s*:""", re.MULTILINE)
_PAPER = re.compile(r"^\ufeff?paper:[ ]+([a-z0-9_\-]+)[ ]*(?:#.*)?$", re.MULTILINE)
_ABOUT = re.compile(r"^about\s*:", re.MULTILINE)
_OF_TABLES = ("columns", "marks", "repeats")
"""The kinds of checks whose ids have a table's after them: `imlp/marks/1/deit_b`."""


@dataclass(frozen=True)
class SelectedPart:
    """The files (as shown) and the ids or globs that were asked for; the whole paper where there are neither."""

    files: frozenset[str] = frozenset()
    ids: frozenset[str] = frozenset()

    @property
    def is_whole(self) -> bool:
        """Whether nothing narrows it."""
        return not (self.files or self.ids)

    def __or__(self, other: SelectedPart) -> SelectedPart:
        whole = self.is_whole or other.is_whole
        return WHOLE if whole else SelectedPart(self.files | other.files, self.ids | other.ids)

    def has(self, name: str, file: str) -> bool:
        """Return whether a check (or a row, or a system) by its id and file belongs to it."""
        return self.is_whole or file in self.files or any(names(target, name) for target in self.ids)

    def touches_row(self, row: str, file: str) -> bool:
        """Return whether a row, or a check of one of its cells, belongs to it."""
        rows = ("/".join(target.split("/")[:3]) for target in self.ids)
        return self.has(row, file) or any(fnmatchcase(row, glob) for glob in rows)


WHOLE = SelectedPart()


def names(target: str, name: str) -> bool:
    """Return whether an id or a glob names a check: the check itself, or the table, row or kind that it belongs to."""
    paper, _, rest = target.partition("/")
    # of a table or a row, not of a cell
    globs = [target, *(f"{paper}/{kind}/{rest}" for kind in _OF_TABLES if rest.count("/") < 2)]
    return any(fnmatchcase(name, pattern) for glob in globs for pattern in (glob, f"{glob}/*"))


def _is_glob(target: str) -> bool:
    return bool(set(target) & set("*?["))


def default_roots() -> list[Path]:
    """Return the folders of papers to look in: `specs` here, where it holds any, and those of this package."""
    bundled, here = bundled_folder(), Path("specs")
    return [here, bundled] if _holds_specs(here) else [bundled]


def specs_not_taken() -> tuple[Path, ...]:
    """Return the spec files in this folder, where a command without targets takes the bundled papers instead."""
    return spec_files(Path()) if default_roots() == [bundled_folder()] else ()


def paper_folders(root: Path) -> list[Path]:
    """Return the folders in a folder that hold spec files, in order."""
    return [p for p in sorted(root.iterdir()) if p.is_dir() and _has_spec(p)] if root.is_dir() else []


def paper_folder(name: str, beside: Sequence[Path] = ()) -> Path | None:
    """Return the folder of a paper by id, from beside the given files or from the default folders."""
    roots = [*dict.fromkeys(path.resolve().parent.parent for path in beside), *default_roots()]
    found = next((folder for root in roots if _is_folder(folder := root / name) and _has_spec(folder)), None)
    return Path(os.path.relpath(found)) if beside and found is not None else found


def display_path(path: Path) -> str:
    """Return how a spec's path is shown: as it was given, installed specs without their machine's path."""
    root = bundled_folder()
    inside = path.is_absolute() and path.is_relative_to(root)
    return ("specs" / path.relative_to(root) if inside else path).as_posix()


def target_of(folder: Path) -> str:
    """Return what names a paper's folder on a command line: a paper of this package by its id, others by their path."""
    root = bundled_folder()
    return folder.relative_to(root).as_posix() if folder.is_relative_to(root) else str(folder)


def spec_files(folder: Path) -> tuple[Path, ...]:
    """Return the spec files of a folder in order; YAML of other kinds is left alone."""
    return tuple(path for path in _yaml_files(folder) if _is_spec(path))


def skipped_yaml(arguments: Sequence[str]) -> list[Path]:
    """Return the YAML files of the folders that the arguments name, or of ./specs, which are no specs."""
    folders = [folder for folder in map(Path, arguments or ["specs"]) if _is_folder(folder)]
    return [path for folder in folders for path in _yaml_files(folder) if not _is_spec(path)]


def _yaml_files(folder: Path) -> list[Path]:
    return sorted(p for p in folder.iterdir() if p.suffix in YAML and not p.name.startswith("."))


def _has_spec(folder: Path) -> bool:
    return any(map(_is_spec, _yaml_files(folder)))


def _is_group(folder: Path) -> bool:
    return _is_folder(folder) and not _has_spec(folder) and bool(paper_folders(folder))


def _holds_specs(folder: Path) -> bool:
    return folder.is_dir() and (_has_spec(folder) or bool(paper_folders(folder)))


def _is_spec(path: Path) -> bool:
    """Return whether a file has a key that only specs have, also where it is not sound YAML; unreadable ones may."""
    if path.name == "findings.yaml":
        return True
    text = read_start(path)
    return text is None or _OF_A_SPEC.search(text) is not None


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # a name too long for a file's, or with a NUL in it
        return False


def _is_folder(path: Path) -> bool:
    return _is_there(path) and path.is_dir()


@dataclass(frozen=True)
class Declared:
    """The paper that a file says it is of, and whether it describes it."""

    paper: str | None
    about: bool


def declares(path: Path) -> Declared:
    """Return what a file's keys `paper` and `about` say, without judging the rest."""
    text = read_start(path) or ""
    found = _PAPER.search(text)
    if found is not None or "paper" not in text:
        return Declared(found[1] if found is not None else None, _ABOUT.search(text) is not None)
    tree, _ = parse_tree(text, path.name)  # a mapping in one line, a quoted id
    keys = {key.text: value for key, value in tree.entries} if isinstance(tree, MapNode) else {}
    paper = keys.get("paper")
    return Declared(paper.text if isinstance(paper, Text) else None, "about" in keys)


def read_start(path: Path) -> str | None:
    """Return the first part of a file, as long as a spec may be; empty where there is no file, None if unreadable."""
    if not path.is_file():
        return ""
    try:
        with open_regular(path) as file:
            return file.read(MAX_SPEC_BYTES).decode("utf-8", errors="replace")
    except (FileError, OSError):
        return None


@dataclass(frozen=True)
class Wanted:
    """The files of one paper, and the part of it that is wanted.

    `target` is what names the paper on a command line. A paper on request is left out where it is here only
    `by_chance`.
    """

    files: tuple[Path, ...]
    target: str
    part: SelectedPart = WHOLE
    by_chance: bool = False

    @property
    def paper(self) -> str:
        """The id of the paper, as most of its files give it."""
        ids = [found for path in self.files if (found := declares(path).paper) is not None]
        return max(sorted(set(ids)), key=ids.count, default="")

    def narrowed(self, rest: str) -> Wanted:
        """Return the part of the paper that is named by what follows its id."""
        return replace(self, part=SelectedPart(ids=frozenset({f"{self.paper}/{rest}"}))) if rest else self


def find(arguments: Sequence[str]) -> list[Wanted]:
    """Return the papers that the arguments name, each once; all papers where there are none. Raises UsageError."""
    wanted = [one for argument in arguments for one in _find_target(argument)]
    if not arguments:
        wanted = [replace(one, by_chance=True) for one in _papers_in(default_roots()[0])]
    merged: dict[tuple[Path, ...], Wanted] = {}
    for one in wanted:
        key = tuple(path.resolve() for path in one.files)
        earlier = merged.get(key, one)
        merged[key] = replace(earlier, part=earlier.part | one.part)
    return list(merged.values())


def split_target(target: str) -> tuple[Path | None, str]:
    """Return the specs' folder or file that a target begins with, and the rest of it: an id, or a part of one."""
    steps = target.split("/")
    for count in range(len(steps), 0, -1) if Path(target).suffix not in YAML or _is_there(Path(target)) else ():
        start = "/".join(steps[:count])
        if start and _is_there(Path(start)) and (not Path(start).is_dir() or _holds_specs(Path(start))):
            return Path(start), "/".join(steps[count:]).strip("/")
    return None, target.strip("/")


def _roots_of_groups() -> list[Path]:
    """Return the folders that may hold groups: `specs` here, also where it holds nothing else, and this package's."""
    return [*dict.fromkeys(root for root in (Path("specs"), *default_roots()) if root.is_dir())]


def whole_paper(target: str) -> str:
    """Return what of a target names a whole paper: its file or folder, or its id."""
    path, name = split_target(target)
    return name.partition("/")[0] if path is None else str(path)


def id_in(target: str, paper: str) -> str:
    """Return the id that a target stands for, if it may begin with the file or folder of the paper."""
    path, name = split_target(target)
    return name if path is None else f"{paper}/{name}"


def _find_target(argument: str) -> Iterator[Wanted]:
    path, rest = split_target(argument)
    if path is None:  # a folder of papers in the default folders, such as `atlas`
        group, _, inside = rest.partition("/")
        path = next((root / group for root in _roots_of_groups() if group and _is_group(root / group)), None)
        rest = rest if path is None else inside
    if path is None:
        near = _known_papers(default_roots()[:1]) if _is_glob(rest.partition("/")[0]) else {}
        yield from _find_id(argument, rest, near or _known_papers(default_roots()))
    elif not path.is_dir():  # reading it says so if it is not a regular file
        _refuse_other_kind(path)
        yield _around(path).narrowed(rest)
    elif (only := _one_paper(path)) is not None:
        yield only.narrowed(rest)
    elif rest:
        yield from _find_id(argument, rest, {one.paper: one for one in _papers_in(path)})
    else:
        yield from _papers_in(path)


def _find_id(argument: str, name: str, pool: Mapping[str, Wanted]) -> Iterator[Wanted]:
    """Yield the papers of an id, or those that a glob matches, narrowed to what the rest of it names."""
    paper, _, rest = name.partition("/")
    found = [one for known, one in pool.items() if fnmatchcase(known, paper)]
    if not found and _is_folder(Path(argument)):
        raise UsageError(
            f"{argument} is a folder without specs; a spec is a YAML file with the key `paper`, and "
            "`imlp-audit init` writes one from a table"
        )
    if not found:
        groups = (one for root in _roots_of_groups() for one in sorted(root.iterdir()) if _is_group(one))
        grouped = next((f"{one.name}/{name}" for one in groups if one / paper in paper_folders(one)), None)
        file = Path(argument)
        is_file = file.suffix in YAML and _is_folder(file.parent)
        files = [str(one) for one in _yaml_files(file.parent)] if is_file else []
        near = did_you_mean(argument, files) if files else did_you_mean(paper, list(pool), "papers here")
        hint = f"did you mean {grouped!r}?" if grouped is not None else near
        raise UsageError(f"{argument}: no spec file, folder or paper of that name; {hint}")
    for one in found:
        yield replace(one.narrowed(rest), target=one.paper, by_chance=_is_glob(paper))


def _one_paper(folder: Path) -> Wanted | None:
    """Return the paper that a folder is; None for a folder of papers, each a folder or a file of its own."""
    files = spec_files(folder)
    described = {found.paper for found in map(declares, files) if found.about}
    return Wanted(files, target_of(folder)) if files and len(described) < 2 else None


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
    yield from map(_around, files)


def _around(path: Path) -> Wanted:
    """Return a file, which stands for all of its paper if it describes it, with the others of the paper beside it."""
    own, siblings = declares(path), [path]
    for other in (other for other in spec_files(path.parent) if other != path):
        theirs = declares(other)  # findings that name no paper belong to any: reading them says so
        unnamed = other.name == "findings.yaml" and theirs.paper is None
        siblings += [other] if unnamed or _belongs(theirs, own) else []
    part = WHOLE if own.about else SelectedPart(files=frozenset({display_path(path)}))
    return Wanted(tuple(sorted(siblings)), str(path), part)


def _refuse_other_kind(path: Path) -> None:
    ending = path.suffix.lower()
    advice = _ADVICE.get(ending, ": a spec is a YAML file (.yaml or .yml) with the key `paper`")
    if ending not in YAML and (advice == _INIT or not _is_spec(path)):
        raise UsageError(f"{path} is not a spec{advice.format(path)}")


def _belongs(other: Declared, own: Declared) -> bool:
    """Return whether a file is of another's paper; two that describe a paper are two versions of it."""
    return own.paper is not None and other.paper == own.paper and not (other.about and own.about)
