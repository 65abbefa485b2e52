"""Running Python from outside: that of a folder which its caller has asked to trust, or of installed packages.

Whoever installs a package trusts its code. Nobody has installed what lies in the current folder or on PYTHONPATH, so
only distributions count whose metadata lies in this interpreter's own site-packages.
"""

from __future__ import annotations

import hashlib
import json
import site
import sys
import sysconfig
import traceback
from collections.abc import Iterator
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import Distribution, EntryPoint, distributions
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote, urlsplit

PACKAGE = Path(__file__).resolve().parent.parent


def bundled_folder() -> Path:
    """Return the folder of the papers that come with this package: the wheel's, or that of an editable install."""
    inside = PACKAGE / "_specs"
    return inside if inside.is_dir() else PACKAGE.parent / "specs"


def is_bundled(folder: Path) -> bool:
    """Return whether a paper's folder comes with this package."""
    return folder.resolve().is_relative_to(bundled_folder().resolve())


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


def offered(group: str) -> tuple[EntryPoint, ...]:
    """Return the entry points of a group that installed packages offer; nothing is imported."""
    installed = distributions(path=[*map(str, own_sites())])
    return tuple(point for one in installed for point in one.entry_points if point.group == group)


def find_package(point: EntryPoint) -> ModuleSpec | None:
    """Find the package of an entry point where its distribution was installed, without importing it.

    None where it is not there, such as for one of the same name in the current folder. The code of an editable install
    lies in the folder that its distribution records.
    """
    top = _top(point)
    found = PathFinder.find_spec(top, [*map(str, own_sites())]) if top.isidentifier() else None
    home = _editable_folder(point.dist) if found is None and point.dist is not None else None
    if home is not None and top.isidentifier():
        found = _find_imported(top)
        found = found if all(place.is_relative_to(home) for place in _places(found)) else None
    return found


def load(point: EntryPoint) -> object:
    """Import what an entry point names. Raises ImportError where Python would import another package of its name."""
    package, imported = find_package(point), _find_imported(_top(point))
    if package is None or {*_places(package)} != {*_places(imported)}:
        shown = ", ".join(map(str, _places(imported))) or "nothing"
        raise ImportError(f"Python would import {_top(point)} from {shown}, which is not where it was installed")
    return point.load()


def _top(point: EntryPoint) -> str:
    return point.value.partition(":")[0].strip().partition(".")[0]


def _find_imported(top: str) -> ModuleSpec | None:
    try:
        return find_spec(top)
    except (ImportError, ValueError):  # one that is half loaded
        return None


def _places(found: ModuleSpec | None) -> Iterator[Path]:
    """Yield the folders of a package, or the file of a module."""
    if found is not None:
        places = found.submodule_search_locations or ([found.origin] if found.origin else [])
        yield from (Path(place).resolve() for place in places)


def _editable_folder(installed: Distribution) -> Path | None:
    """Return the folder that pip recorded for a distribution that was installed with `-e`."""
    try:
        source = json.loads(installed.read_text("direct_url.json") or "{}")
        editable = source.get("dir_info", {}).get("editable", False)
        return Path(unquote(urlsplit(source["url"]).path)).resolve() if editable else None
    except (ValueError, AttributeError, KeyError, TypeError):  # not as pip writes it
        return None
