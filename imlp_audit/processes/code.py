"""Running Python from outside, of folders that are trusted: by their content, or by where they lie.

Trusted are the papers of this package. A folder elsewhere whose Python equals that of the installed paper of its name
is a copy of it, and the installed Python runs in its place. Any other takes the user's word, `--trust-code`. A
paper's id or the folder that we stand in is never enough.
"""

from __future__ import annotations

import hashlib
import os
import site
import sys
import sysconfig
import traceback
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

from imlp_audit.files import FileError, read_bytes

PACKAGE = Path(__file__).resolve().parent.parent
_MOST_FILES = 10_000  # that a folder may hold to be compared


def bundled_folder() -> Path:
    """Return the folder of the papers that come with this package: the wheel's, or that of an editable install."""
    inside = PACKAGE / "_specs"
    return inside if inside.is_dir() else PACKAGE.parent / "specs"


def is_bundled(folder: Path) -> bool:
    """Return whether a paper's folder comes with this package. One of a group does not: its code may be a clone."""
    return folder.resolve().parent == bundled_folder().resolve()


def is_installed_place(path: Path) -> bool:
    """Return whether a file lies where packages are installed, so that nobody edits it."""
    sites: list[str | Path] = [PACKAGE / "_specs", sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    sites += [site.getusersitepackages()] if site.ENABLE_USER_SITE else []
    return any(path.resolve().is_relative_to(Path(root).resolve()) for root in sites)


def load_module(folder: Path, name: str) -> ModuleType:
    """Import a module of a folder, such as `models` or `claims.sec3_mlp`.

    The folder becomes a package of a name of its own, so that its modules import each other relatively, and no other
    way. What its code raises is raised. No bytecode is kept: Python would take it for that of an edited file, if the
    edit left its size and falls into the same second.
    """
    module, before = f"{_package(folder.resolve())}.{name}", sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    try:
        return import_module(module)
    finally:
        sys.dont_write_bytecode = before


def locate_error(error: BaseException, folder: Path, shown_as: str) -> str | None:
    """Return the last line of a folder's own Python in an error's traceback; None if there is none."""
    frames = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError) and error.filename is not None:
        frames.append((error.filename, error.lineno))
    own = [(Path(name).resolve(), line) for name, line in frames if Path(name).resolve().is_relative_to(folder)]
    if not own:
        return None
    path, line = own[-1]
    return f"{shown_as}/{path.relative_to(folder).as_posix()}:{line}"


def _package(folder: Path) -> str:
    """Return the name of a folder's package, which is made when it is first asked for."""
    name = f"imlp_audit_folder_{hashlib.sha256(str(folder).encode()).hexdigest()[:12]}"
    if name not in sys.modules:
        package = ModuleType(name, f"The Python in {folder}.")
        package.__path__ = [str(folder)]
        sys.modules[name] = package
    return name


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
