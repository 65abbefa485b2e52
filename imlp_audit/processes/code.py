"""Running Python from outside: that of a folder which its caller has asked to trust."""

from __future__ import annotations

import hashlib
import site
import sys
import sysconfig
import traceback
from importlib import import_module
from pathlib import Path
from types import ModuleType

PACKAGE = Path(__file__).resolve().parent.parent


def bundled_folder() -> Path:
    """Return the folder of the papers that come with this package: the wheel's, or that of an editable install."""
    inside = PACKAGE / "_specs"
    return inside if inside.is_dir() else PACKAGE.parent / "specs"


def is_bundled(folder: Path) -> bool:
    """Return whether a paper's folder comes with this package. One of a group does not: its code may be a clone."""
    return folder.resolve().parent == bundled_folder().resolve()


def is_installed_place(path: Path) -> bool:
    """Return whether a file lies where packages are installed, so that nobody edits it."""
    real = path.resolve()
    return any(real.is_relative_to(root) for root in (PACKAGE / "_specs", *own_sites()))


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


def own_sites() -> tuple[Path, ...]:
    """Return the folders that packages are installed into for this interpreter."""
    found = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    found += [site.getusersitepackages()] if site.ENABLE_USER_SITE else []
    return tuple(dict.fromkeys(Path(one).resolve() for one in found))
