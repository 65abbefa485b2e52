"""Importing somebody's Python file: `count` and specs find its neighbours as the scripts beside it do.

For `count` whatever is missing gets a stand-in, which is said. For a spec, whose verdicts nobody reads notes of, only
the packages that it names as `stubs` do, and its neighbours lie in its own folder.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, lru_cache
from importlib import import_module
from importlib.util import find_spec
from itertools import takewhile
from pathlib import Path
from traceback import walk_tb
from types import ModuleType

import torch

from imlp_audit.models.stand_ins import (
    StandIn,
    StandIns,
    answer_old_code,
    answer_transformers,
    answering,
    offer_removed,
    skip_loader,
)
from imlp_audit.processes.code import load_module

_MOST_IMPORTS = 60  # folders and packages that are looked for, one after the other
_LEVELS = 4  # folders above a file in which a package of its repository is looked for
_used: list[Importer] = []


def repository(file: Path) -> Path:
    """Return the folder of the repository that a file is in; without one, its outermost package or own folder."""
    folders = list(file.resolve().parents)[: 2 * _LEVELS]
    packages = takewhile(lambda folder: (folder / "__init__.py").is_file(), folders)
    cloned = (folder for folder in folders if (folder / ".git").exists())
    return next(cloned, [folders[0], *packages][-1])


@lru_cache(maxsize=1)  # so that it runs where the place is another than before
def leave_others(_: Path) -> None:
    """Let the code of a place import its own neighbours, where those of another place had the same names."""
    import_file.cache_clear()
    import_below.cache_clear()
    while _used:
        _used.pop().leave()


@cache  # a model that is changed is made many times
def import_file(file: Path, paths: tuple[Path, ...], stubs: tuple[str, ...], argv: tuple[str, ...]) -> Importer:
    """Import a file as a script would that is given some words, whatever it lacks."""
    sys.argv = [str(file), *argv]
    return _import(_RepositoryImporter(file, paths, stubs))


@cache
def import_below(folder: Path, file: str, paths: tuple[str, ...], stubs: tuple[str, ...]) -> Importer:
    """Import a file of a spec's folder, with its neighbours in that folder and the folders that are named."""
    return _import(Importer(folder.resolve(), folder.resolve() / file, tuple(folder / one for one in paths), stubs))


def _import(importer: Importer) -> Importer:
    _used.append(importer)
    StandIn.importing = True
    try:
        # on the processor, tensors of its modules have values
        with answering(importer.answers), torch.device("cpu"), importer.on_path():
            importer.module = importer.load()
            return importer
    finally:
        StandIn.importing = False


class Importer:
    """Imports a file of a spec as a module of its folder's own package; nothing is guessed.

    While it, or something of it, is run, the folders between the file and the spec and those named are on the path.
    What is answered for it, and later for what it makes, is noted in `answers`. If its import fails, `module` has what
    it defines before that.
    """

    module: ModuleType
    failure: BaseException | None = None

    def __init__(self, root: Path, file: Path, paths: tuple[Path, ...], stubs: tuple[str, ...]) -> None:
        self.root, self.file, self.finder = root, file.resolve(), StandIns(stubs)
        self.answers = self.finder.answers
        self.folders = [one for one in self.file.parents if one.is_relative_to(root)] + [one.resolve() for one in paths]
        self.before = set(sys.modules)
        sys.meta_path.insert(0, self.finder)

    @contextmanager
    def on_path(self) -> Iterator[None]:
        """Have the folders on the import path."""
        added = [str(folder) for folder in self.folders]
        sys.path[:0] = added
        try:
            yield
        finally:
            for folder in filter(sys.path.__contains__, added):
                sys.path.remove(folder)

    def leave(self) -> None:
        """Let another file be imported as if this one had not been."""
        self.forget(self.before)
        sys.meta_path.remove(self.finder)

    def forget(self, before: set[str]) -> None:
        """Let modules of the repository, and stand-ins, be imported again."""
        for name in set(sys.modules) - before:
            file, loader = (getattr(sys.modules[name], key, None) for key in ("__file__", "__loader__"))
            own = file and Path(file).is_relative_to(self.root) and "site-packages" not in Path(file).parts
            if isinstance(loader, StandIns) or (own and name.partition(".")[0] != "imlp_audit"):
                del sys.modules[name]

    def load(self) -> ModuleType:
        """Import it."""
        return load_module(self.root, ".".join(self.file.relative_to(self.root).with_suffix("").parts))

    def run(self, call: Callable[[], object]) -> object:
        """Call something of it; again where what it imports then is missing, or only what loads weights fails."""
        for _ in range(_MOST_IMPORTS):
            try:
                with self.on_path():
                    return call()
            except Exception as error:
                missing = isinstance(error, ModuleNotFoundError) and self.provide(error.name or "")
                if not missing and not skip_loader(error, self.answers):
                    raise
        raise ImportError(f"it imports more than {_MOST_IMPORTS} packages that are missing")

    def provide(self, _name: str) -> bool:
        """Provide a package that is missing; return whether there was a way to."""
        return False


class _RepositoryImporter(Importer):
    """Imports a file by its place in its package, as a script beside it would, and provides what it lacks."""

    def __init__(self, file: Path, paths: tuple[Path, ...], stubs: tuple[str, ...]) -> None:
        super().__init__(repository(file), file, paths, (*stubs, "torch.utils.cpp_extension"))  # which nothing builds
        self.package = file.parent
        while (self.package / "__init__.py").is_file() and not (self.package / ".git").exists():
            self.package = self.package.parent
        text, folders = file.read_text(encoding="utf-8", errors="replace"), file.parents[: _LEVELS + 1]
        names = {folder: ".".join(file.parent.relative_to(folder).parts) for folder in folders}
        for folder, name in names.items():  # by which the file itself imports its neighbours, through folders of none
            if folder.is_relative_to(self.root) and "." in name and f"from {name}." in text:
                self.package = folder
        self.added = list[str]()
        for folder in reversed((self.package, file.parent, *(path.resolve() for path in paths))):
            self.add(folder)

    @contextmanager
    def on_path(self) -> Iterator[None]:
        """Leave the folders on the import path, until another file is imported: a forward pass imports too."""
        yield

    def add(self, folder: Path, at: int = 0) -> None:
        """Put a folder on the import path."""
        sys.path.insert(at, str(folder))
        self.added.append(str(folder))

    def leave(self) -> None:
        """Let another file be imported as if this one had not been."""
        super().leave()
        for folder in filter(sys.path.__contains__, self.added):
            sys.path.remove(folder)

    @property
    def name(self) -> str:
        """The name that the file is imported by."""
        return ".".join(self.file.relative_to(self.package).with_suffix("").parts).removesuffix(".__init__")

    def load(self) -> ModuleType:
        """Import it; without the `__init__.py` of its packages if that fails."""
        answer_old_code(self.answers)
        sys.dont_write_bytecode = True  # Python would take it for that of an edited file of the same size and second
        try:
            module = self.run_again()
        except (Exception, SystemExit) as error:
            self.forget(self.before)
            module = self.run_alone(error)
        if hasattr(sys.modules.get("transformers"), "PretrainedConfig"):  # and not an old one of the repository's own
            answer_transformers(self.finder.names, self.answers)
        top = self.name.partition(".")[0]
        if {"mmengine.registry", f"{top}.registry"} <= sys.modules.keys():  # whose users name their package
            sys.modules["mmengine.registry"].init_default_scope(top)
        elif "mmengine.registry" in sys.modules:  # an old package, which registers what it imports
            sys.modules["mmengine.registry.registry"].MODULE2PACKAGE.clear()
        self.add(self.root, len(sys.path))  # for what a configuration names
        return module

    def run_again(self) -> ModuleType:
        """Import it, again and again with one more thing that it lacks; anew if its package was left by an error."""
        before = set(sys.modules)
        for _ in range(_MOST_IMPORTS):
            try:
                module = import_module(self.name)
                if self.name.rpartition(".")[0] in ("", *sys.modules):
                    return module
                self.forget(before)
            except Exception as error:
                if not self._helps(error):
                    raise
        raise ImportError(f"its imports lead through more than {_MOST_IMPORTS} folders and packages")

    def run_alone(self, error: BaseException) -> ModuleType:
        """Import it without each `__init__.py` of its packages that fails; at last, take what it has defined."""
        first, before, bare = error, set(sys.modules), list[Path]()
        whole = [folder for folder in self.file.parents if folder.is_relative_to(self.package)][:-1]
        while whole:
            files = [Path(frame.f_code.co_filename) for frame, _ in walk_tb(error.__traceback__)]
            failing = [one.parent for one in files if one.name == "__init__.py" and one.parent in whole]
            bare.append([whole[-1], *failing][-1])
            whole.remove(bare[-1])
            for folder in bare:
                name = ".".join(folder.relative_to(self.package).parts)
                sys.modules[name] = ModuleType(name)
                sys.modules[name].__path__ = [str(folder)]
            try:
                module = self.run_again()
            except (Exception, SystemExit) as again:
                self.forget(before)
                error = again
            else:
                names = " and ".join(folder.relative_to(self.package).as_posix() for folder in bare)
                self.answers.note(f"{self.name} was imported without the __init__.py of {names}, where it fails")
                return module
        return self.take_begun(error, first)

    def take_begun(self, error: BaseException, first: BaseException) -> ModuleType:
        """Return what the file had defined when an error ended it. Raises the first error if it had not begun."""
        for frame, _ in walk_tb(error.__traceback__):
            if frame.f_code.co_name == "<module>" and frame.f_globals.get("__name__") == self.name:
                self.failure, module = first, ModuleType(self.name)
                vars(module).update(frame.f_globals)
                sys.modules[self.name] = module
                return module
        raise first from None

    def _helps(self, error: Exception) -> bool:
        """Provide what an import lacks; return whether there was anything to provide."""
        if skip_loader(error, self.answers):
            return True
        if isinstance(error, ModuleNotFoundError):
            return self.provide(error.name or "")
        registry = getattr(sys.modules.get("mmengine.registry"), "Registry", None)
        if registry is not None and "is already registered" in str(error):  # when it was imported before
            register, registry._register_module = registry._register_module, _register_again
            return register is not _register_again
        if isinstance(error, AttributeError):
            return isinstance(error.obj, ModuleType) and self._restore(error.obj, error.name or "")
        if isinstance(error, NameError):  # of a name whose import failed, which the code passed over
            *_, (frame, _) = walk_tb(error.__traceback__)
            name, package = error.name or "", frame.f_globals.get("__package__")
            is_installed = not name or name in sys.modules or find_spec(name) is not None
            return self._stand_in(f"{package}.{name}") | (not is_installed and self._stand_in(name))
        if "relative import" in str(error) and self.package not in (self.root, self.file.parents[-1]):
            self.package = self.package.parent  # of a folder without __init__.py
            self.add(self.package)
            return True
        found = re.match(r"cannot import name '(\w+)' from (?:partially initialized module )?'([\w.]+)'", str(error))
        if found is None or not isinstance(error, ImportError):
            return False
        whole, library = f"{found[2]}.{found[1]}", sys.modules.get(found[2])
        begun = (str(error.path),) if str(error.path).endswith("__init__.py") else ()  # of a package that has failed
        if any(Path(one).is_relative_to(self.root) for one in getattr(library, "__path__", begun)):
            return self._stand_in(whole)  # for a module that the repository has to build
        return library is not None and self._restore(library, found[1])

    def provide(self, name: str) -> bool:
        """Find a neighbour in a folder above; or let a stand-in be imported for a package, or one of its modules."""
        top = name.partition(".")[0]
        above = (*self.file.parents[: _LEVELS + 1], self.root)
        package = next((one for one in above if (one / top).is_dir()), None)
        if top != name and package is not None and not hasattr(sys.modules.get(top), "__path__"):
            self.package = package  # which a file of its name hides
            sys.modules.pop(top, None)
            sys.path[:] = [one for one in sys.path if one != str(self.file.parent)]
            self.add(package)
            return True
        below = {one.parents[1] for levels in ("*", "*/*") for one in self.root.glob(f"{levels}/{top}/__init__.py")}
        beside = next((one for one in above if _has(one, top)), below.pop() if len(below) == 1 else None)
        if beside is not None and str(beside) not in sys.path:
            shown = beside.relative_to(self.root).as_posix() if beside.is_relative_to(self.root) else str(beside)
            self.answers.note(f"`{top}` was found in {shown}, as with --path {shown}")
            self.add(beside)
            return True
        known = name if beside is not None or top in sys.modules else top
        return bool(known) and self._stand_in(known)

    def _stand_in(self, name: str) -> bool:
        """Let a stand-in be imported; return whether none was before."""
        if name in self.finder.names:
            return False
        self.finder.names.add(name)
        return True

    def _restore(self, library: ModuleType, name: str) -> bool:
        """Let a library have what it has no longer; the repository's own modules are what they are."""
        file = getattr(library, "__file__", None)
        if hasattr(library, name) or file is None or Path(file).is_relative_to(self.root):
            return False
        try:
            import_module(f"{library.__name__}.{name}")  # one that it no longer imports by itself
        except ImportError:
            offer_removed(library, name, self.answers)
        return True


def _register_again(registry: object, module: type, module_name: str | None = None, force: bool = True) -> None:
    """Register a class in one of mmengine's registries, in place of the one that has its name."""
    names = [module_name] if isinstance(module_name, str) else module_name or [module.__name__]
    vars(registry)["_module_dict"].update(dict.fromkeys(names, module))


def _has(folder: Path, top: str) -> bool:
    return bool(top) and ((folder / top).is_dir() or (folder / f"{top}.py").is_file())
