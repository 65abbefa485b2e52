"""Finding the files of papers: by id among the bundled specs or those of ./specs, by folder, or by file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from imlp_audit.equations.door import bundled_folder, installed_folders
from imlp_audit.errors import UsageError, did_you_mean
from imlp_audit.spec.paper import declared_paper, read_spec
from imlp_audit.spec.schema import PaperFile


@dataclass(frozen=True)
class Wanted:
    """The files of one paper, and those of them (as shown) whose checks alone are wanted; all where empty.

    `target` is what names the paper on a command line.
    """

    files: tuple[Path, ...]
    target: str
    only: frozenset[str] = frozenset()


def default_roots() -> list[Path]:
    """Return the folders of papers to look in: `specs` here, where it holds any, and those of this package."""
    bundled, here = bundled_folder(), Path("specs")
    return [here, bundled] if here.is_dir() and (paper_folders(here) or spec_files(here)) else [bundled]


def bundled_papers() -> dict[str, str]:
    """Return the folders of the package's own papers by id, whatever the current folder holds."""
    return {folder.name: str(folder) for folder in paper_folders(bundled_folder())}


def paper_folders(root: Path) -> list[Path]:
    """Return the folders in a folder that hold spec files, in order."""
    return [p for p in sorted(root.iterdir()) if p.is_dir() and spec_files(p)] if root.is_dir() else []


def display_path(path: Path) -> str:
    """Return how a spec's path is shown: as it was given, installed specs without their machine's path."""
    for root, name in ((bundled_folder(), "specs"), *((folder, folder.name) for folder in installed_folders())):
        if path.is_absolute() and path.is_relative_to(root):
            return (Path(name) / path.relative_to(root)).as_posix()
    return path.as_posix()


def target_of(folder: Path) -> str:
    """Return what names a paper's folder on a command line: a paper of this package by its id, others by their path."""
    return folder.name if folder.parent == bundled_folder() else str(folder)


def spec_files(folder: Path) -> tuple[Path, ...]:
    """Return the YAML files of a folder in order."""
    return tuple(sorted(p for p in folder.iterdir() if p.suffix in (".yaml", ".yml") and not p.name.startswith(".")))


def find(arguments: Sequence[str]) -> list[Wanted]:
    """Return the papers that the arguments name, each once; all papers where there are none. Raises UsageError."""
    wanted = [w for argument in arguments for w in _find_target(argument)] or list(_papers_in(default_roots()[0]))
    merged: dict[tuple[Path, ...], Wanted] = {}
    for one in wanted:
        key = tuple(path.resolve() for path in one.files)
        earlier = merged.get(key, one)
        whole = not (earlier.only and one.only)
        merged[key] = replace(earlier, only=frozenset() if whole else earlier.only | one.only)
    return list(merged.values())


def paper_folder(name: str, beside: Sequence[Path] = ()) -> Path | None:
    """Return the folder of a paper by id, from beside the given files or from the default folders."""
    roots = [*dict.fromkeys(path.resolve().parent.parent for path in beside), *default_roots()]
    folders = [*(root / name for root in (*roots, *installed_folders()))]
    folders += [folder for folder in installed_folders() if folder.name == name]
    found = next((folder for folder in folders if _is_there(folder) and folder.is_dir() and spec_files(folder)), None)
    return Path(os.path.relpath(found)) if beside and found is not None else found


def _find_target(argument: str) -> Iterator[Wanted]:
    path = Path(argument)
    if _is_there(path) and path.is_dir():
        yield from [Wanted(spec_files(path), argument)] if spec_files(path) else _papers_in(path)
    elif _is_there(path) and path.is_file():
        yield _around(path)
    else:
        folder, files = paper_folder(argument), _single_files()
        if folder is None and argument in files:
            yield replace(_around(files[argument]), target=argument)
            return
        if folder is None:
            known = dict.fromkeys([*files, *(f.name for root in default_roots() for f in paper_folders(root))])
            hint = did_you_mean(argument, list(known), "papers here")
            raise UsageError(f"{argument}: no spec file, folder or paper of that name; {hint}")
        yield Wanted(spec_files(folder), argument)


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # a name too long for a file's
        return False


def _papers_in(root: Path) -> Iterator[Wanted]:
    folders, files = paper_folders(root), spec_files(root)
    if not folders and not files:
        raise UsageError(f"{display_path(root)}: no paper's folder with .yaml files in it")
    yield from (Wanted(spec_files(folder), target_of(folder)) for folder in folders)
    yield from (_around(path) for path in files)


def _single_files() -> dict[str, Path]:
    """Return the files in ./specs itself by the paper they are of."""
    here = default_roots()[0]
    return {paper: path for path in spec_files(here) if (paper := declared_paper(path)) is not None}


def _is_unnamed(path: Path) -> bool:
    """Return whether a file is findings of a paper that it does not name; reading it says so."""
    return path.name == "findings.yaml" and declared_paper(path) is None


def _around(path: Path) -> Wanted:
    """Return a file with the siblings of its paper; a file that describes the paper stands for all of it."""
    spec, _ = read_spec(path, display_path(path))
    describes = spec is not None and isinstance(spec.record, PaperFile) and spec.record.about is not None
    paper = declared_paper(path)
    siblings = tuple(p for p in spec_files(path.parent) if p == path or declared_paper(p) == paper or _is_unnamed(p))
    return Wanted(siblings or (path,), str(path), frozenset() if describes else frozenset({display_path(path)}))
