"""Where papers are looked for: folders of spec files, those of this package, and what other files are."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from imlp_audit.equations.trust import installed_folders
from imlp_audit.files import MAX_SPEC_BYTES, FileError, open_regular
from imlp_audit.processes.installed import bundled_folder
from imlp_audit.spec.parse_yaml import parse_tree
from imlp_audit.spec.tree import ListNode, MapNode, Node, Text

YAML = (".yaml", ".yml")
_TABLES = (".tex", ".csv", ".tsv", ".html", ".htm", ".md", ".pdf", ".gz", ".tgz", ".zip")
_WEIGHTS = (".pt", ".pth", ".bin", ".ckpt", ".safetensors", ".tar")
_OF_A_SPEC = re.compile(r"""^\ufeff?(?:\{\s*)?["']?(?:paper|about|tables?|claims)["']?\s*:""", re.MULTILINE)
_PAPER = re.compile(r"^\ufeff?paper:[ ]+([a-z0-9_\-]+)[ ]*(?:#.*)?$", re.MULTILINE)
_TABLE = re.compile(r"""^[ ]*(?:-[ ]+)?table:[ ]+["']?([a-z0-9_\-]+)""", re.MULTILINE)
_ABOUT = re.compile(r"^about\s*:", re.MULTILINE)


@dataclass(frozen=True)
class Declared:
    """The paper that a file says it is of, and whether it describes it."""

    paper: str | None
    about: bool


def default_roots() -> list[Path]:
    """Return the folders of papers to look in: `specs` here, where it holds any, and those of this package."""
    bundled, here = bundled_folder(), Path("specs")
    return [here, bundled] if here.is_dir() and (paper_folders(here) or _has_spec(here)) else [bundled]


def specs_not_taken() -> tuple[Path, ...]:
    """Return the spec files in this folder, where a command without targets takes the bundled papers instead."""
    return spec_files(Path()) if default_roots() == [bundled_folder()] else ()


def paper_folders(root: Path) -> list[Path]:
    """Return the folders in a folder that hold spec files, in order."""
    return [p for p in sorted(root.iterdir()) if p.is_dir() and _has_spec(p)] if root.is_dir() else []


def paper_folder(name: str, beside: Sequence[Path] = ()) -> Path | None:
    """Return the folder of a paper by id, from beside the given files or from the default folders."""
    roots = [*dict.fromkeys(path.resolve().parent.parent for path in beside), *default_roots()]
    folders = [*(root / name for root in (*roots, *installed_folders()))]
    folders += [folder for folder in installed_folders() if folder.name == name]
    found = next((folder for folder in folders if is_there(folder) and folder.is_dir() and _has_spec(folder)), None)
    return Path(os.path.relpath(found)) if beside and found is not None else found


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
    """Return the spec files of a folder in order; YAML of other kinds is left alone."""
    return tuple(path for path in _yaml_files(folder) if _is_spec(path))


def other_yaml(folder: Path) -> tuple[Path, ...]:
    """Return the YAML files of a folder that are no specs, in order."""
    return tuple(path for path in _yaml_files(folder) if not _is_spec(path))


def is_there(path: Path) -> bool:
    """Return whether a path exists."""
    try:
        return path.exists()
    except (OSError, ValueError):  # a name too long for a file's, or with a NUL in it
        return False


def explain_other_kind(path: Path) -> str | None:
    """Say what a file is that cannot be read as a spec, and what to do with it; None for YAML."""
    ending = path.suffix.lower()
    if ending in YAML or (ending not in _TABLES and _is_spec(path)):
        return None
    if ending in _TABLES:
        return f"{path} is not a spec; make a spec of it: imlp-audit init {path}"
    if ending in _WEIGHTS:
        return f"{path} is not a spec; if it is a checkpoint: imlp-audit inspect {path}"
    if ending == ".json":
        return f"{path} is not a spec; if it is a result of verify: imlp-audit report --from {path}"
    return f"{path} is not a spec: a spec is a YAML file (.yaml or .yml) with the key `paper`"


def _yaml_files(folder: Path) -> list[Path]:
    return sorted(p for p in folder.iterdir() if p.suffix in YAML and not p.name.startswith("."))


def _has_spec(folder: Path) -> bool:
    """Return whether a folder has a spec file."""
    return any(map(_is_spec, _yaml_files(folder)))


def _is_spec(path: Path) -> bool:
    """Return whether a file has a key that only specs have, also where it is not sound YAML; unreadable ones may."""
    if path.name == "findings.yaml":
        return True
    text = read_start(path)
    return text is None or _OF_A_SPEC.search(text) is not None


def declares(path: Path) -> Declared:
    """Return what a file's keys `paper` and `about` say, without judging the rest."""
    text = read_start(path) or ""
    found = _PAPER.search(text)
    if found is not None or "paper" not in text:
        return Declared(found[1] if found is not None else None, _ABOUT.search(text) is not None)
    tree, _ = parse_tree(text, path.name)  # a mapping in one line, a quoted id
    entries = _entries(tree)
    paper = entries.get("paper")
    return Declared(paper.text if isinstance(paper, Text) else None, "about" in entries)


def tables_in(path: Path) -> frozenset[str]:
    """Return what the tables of a spec file are called, without judging the rest."""
    return frozenset(_TABLE.findall(read_start(path) or ""))


def sources_in(path: Path) -> frozenset[tuple[str, str]]:
    """Return the sections and files that the tables of a spec file are from, without judging the rest."""
    tree, _ = parse_tree(read_start(path) or "", path.name)
    tables = _entries(tree).get("tables")
    every = tables.items if isinstance(tables, ListNode) else (tree,)
    places = [_entries(_entries(one).get("source")) for one in every]
    found = ((place.get("section"), place.get("file")) for place in places)
    return frozenset((at.text, file.text) for at, file in found if isinstance(at, Text) and isinstance(file, Text))


def _entries(node: Node | None) -> dict[str, Node]:
    return {key.text: value for key, value in node.entries} if isinstance(node, MapNode) else {}


def read_start(path: Path) -> str | None:
    """Return the first part of a file, as long as a spec may be; empty where there is no file, None if unreadable."""
    if not path.is_file():
        return ""
    try:
        with open_regular(path) as file:
            return file.read(MAX_SPEC_BYTES).decode("utf-8", errors="replace")
    except (FileError, OSError):
        return None
