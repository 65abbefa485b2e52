"""Which folders of papers are trusted: their Python may be run (`processes/code.py`).

A folder is trusted by where it really lies, never by its paper's id or by the folder that we stand in: the papers of
this package, and folders of installed packages that have an entry point of the group `imlp_audit.papers`. Any other
takes the user's word, `--trust-code`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

ENTRY_POINTS = "imlp_audit.papers"
PACKAGE = Path(__file__).resolve().parent.parent


def bundled_folder() -> Path:
    """Return the folder of the papers that come with this package: the wheel's, or that of an editable install."""
    inside = PACKAGE / "_specs"
    return inside if inside.is_dir() else PACKAGE.parent / "specs"


@cache
def entry_point_folders() -> Mapping[str, tuple[Path, ...]]:
    """Return the folders of each entry point, by its name and value; nothing is imported."""
    return {f"{point.name} = {point.value}": _folders(point.value) for point in entry_points(group=ENTRY_POINTS)}


def installed_folders() -> tuple[Path, ...]:
    """Return the folders that installed packages offer as papers, or as folders of papers."""
    return tuple(dict.fromkeys(folder for folders in entry_point_folders().values() for folder in folders))


def broken_entry_points() -> tuple[str, ...]:
    """Return the entry points of installed packages, as `name = value`, that name no folder of a package."""
    return tuple(name for name, folders in entry_point_folders().items() if not folders)


def is_trusted(folder: Path) -> bool:
    """Return whether the Python in a paper's folder may be run without being asked for."""
    real = folder.resolve()
    return any(real.is_relative_to(root.resolve()) for root in (bundled_folder(), *installed_folders()))


def is_bundled(folder: Path) -> bool:
    """Return whether a paper's folder comes with this package."""
    return folder.resolve().is_relative_to(bundled_folder().resolve())


def explain_distrust(shown_as: str) -> str:
    """Say why the Python of a folder was not run."""
    return f"the Python in {shown_as} was not run, because the folder is not trusted; pass --trust-code to run it"


def _folders(module: str) -> tuple[Path, ...]:
    """Return the folders of a package by its name; a package inside another is found without importing either."""
    top, *inner = module.partition(":")[0].split(".")
    try:
        found = find_spec(top)
    except (ImportError, ValueError):  # no name of a module, or one that is half loaded
        return ()
    roots = found.submodule_search_locations if found is not None else None
    return tuple(Path(root, *inner) for root in roots or () if Path(root, *inner).is_dir())
