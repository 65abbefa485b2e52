"""What a shell completes: papers, then the parts of one, then the ids of one part.

A key press waits for it, so the specs are neither validated nor planned: only the files of one paper are read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


def complete_target(incomplete: str) -> list[str]:
    """Return what a word can be completed to; where there is nothing, the shell completes file names."""
    folders = _folders()
    paper, slash, rest = incomplete.partition("/")
    if not slash:
        names: Iterator[str] = iter(folders)
    elif paper not in folders:
        names = iter(())
    elif "/" not in rest:
        names = _parts(paper, folders[paper])
    else:
        names = _ids(paper, rest.partition("/")[0], folders[paper])
    return [name for name in dict.fromkeys(names) if name.startswith(incomplete)]


def _folders() -> dict[str, Path]:
    """Return the folders of the papers that are here or in this package, by id."""
    from imlp_audit.spec.targets import default_roots, paper_folders

    return {folder.name: folder for root in reversed(default_roots()) for folder in paper_folders(root)}


def _files(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield what the spec files of a folder hold; of one with mistakes, what can be read."""
    from imlp_audit.spec.parse_yaml import read_tree
    from imlp_audit.spec.targets import spec_files
    from imlp_audit.spec.tree import plain

    for path in spec_files(folder):
        tree, _ = read_tree(path, path.name)
        held = plain(tree) if tree is not None else None
        if isinstance(held, dict):
            yield held


def _tables(folder: Path) -> Iterator[dict[str, Any]]:
    for file in _files(folder):
        yield from _entries([file] if "table" in file else file.get("tables"))


def _entries(value: object) -> list[dict[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _parts(paper: str, folder: Path) -> Iterator[str]:
    yield from (f"{paper}/{table.get('table')}" for table in _tables(folder))
    yield from (f"{paper}/claims" for file in _files(folder) if file.get("claims"))
    if (folder / "equations").is_dir():
        yield f"{paper}/equations"


def _ids(paper: str, part: str, folder: Path) -> Iterator[str]:
    if part == "claims":
        for file in _files(folder):
            yield from (f"{paper}/claims/{claim.get('id')}" for claim in _entries(file.get("claims")))
    elif part == "equations":
        from imlp_audit.equations.catalogue import read_claims

        yield from (claim.id for claim in read_claims(paper, folder, folder.name))
        for file in _files(folder):
            yield from (f"{paper}/equations/{one.get('id')}" for one in _entries(file.get("equations")))
    for table in _tables(folder):
        for row in _entries(table.get("rows")) if table.get("table") == part else []:
            for key, ending in (("printed", ""), ("delta", ".delta")):
                columns = row.get(key)
                names = columns if isinstance(columns, dict) else ()
                yield from (f"{paper}/{part}/{row.get('id')}/{name}{ending}" for name in names)
