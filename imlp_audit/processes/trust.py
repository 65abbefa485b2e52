"""Which Python of papers is trusted and may be run (`processes/code.py`): by its content, or by where it lies.

Trusted are the papers of this package. A folder elsewhere whose Python equals that of the installed paper of its name
is a copy of it, and the installed Python runs in its place. Any other takes the user's word, `--trust-code`. A
paper's id or the folder that we stand in is never enough.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from imlp_audit.files import FileError, read_bytes
from imlp_audit.processes.code import bundled_folder, is_bundled

_MOST_FILES = 10_000  # that a folder may hold to be compared


def trusted_folder(folder: Path) -> Path | None:
    """Return the folder whose Python runs for a paper's folder: itself, or the installed paper's if that is equal.

    None where it is not trusted.
    """
    if is_bundled(folder):
        return folder.resolve()
    installed = _installed_paper(folder)
    return installed if installed is not None and _find_difference(folder, installed) is None else None


def explain_distrust(folder: Path, shown_as: str) -> str:
    """Say why the Python of a folder was not run, and how to go on."""
    why = name_difference(folder) or "the folder is not trusted"
    return f"the Python in {shown_as} was not run, because {why}; pass --trust-code to run it"


def name_difference(folder: Path) -> str | None:
    """Say in which file a folder's Python differs from the installed paper of its name; None where there is none."""
    installed = _installed_paper(folder)
    return _find_difference(folder, installed) if installed is not None else None


def _installed_paper(folder: Path) -> Path | None:
    installed = bundled_folder() / folder.resolve().name
    return installed if installed.is_dir() else None


def _find_difference(folder: Path, installed: Path) -> str | None:
    try:
        ours, theirs = (dict(_python_in(one)) for one in (folder, installed))
        for name in sorted({*ours, *theirs}):
            shown = os.fsencode(name).decode("utf-8", "backslashreplace")
            if name not in theirs:
                return f"{shown} is not part of the installed paper"
            if name not in ours:
                return f"{shown} of the installed paper is missing"
            if not _holds(ours[name], theirs[name].read_bytes()):
                return f"{shown} differs from the installed one"
    except OSError as error:
        return f"it cannot be compared with the installed one ({error.strerror or error})"
    return None


def _python_in(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the Python files below a folder, by their names in it, and links to folders, which are not followed."""
    waiting, seen = [folder], 0
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                seen += 1
                if seen > _MOST_FILES:
                    raise OSError(f"more than {_MOST_FILES} files")
                path = Path(entry.path)
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(path)
                elif entry.name.endswith(".py") or (entry.is_symlink() and path.is_dir()):
                    yield path.relative_to(folder).as_posix(), path


def _holds(path: Path, data: bytes) -> bool:
    """Return whether a path is a regular file, not a link, that holds this."""
    try:
        return read_bytes(path, len(data), links=False) == data
    except FileError:
        return False
