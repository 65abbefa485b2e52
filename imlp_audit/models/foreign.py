"""A model from somebody's repository as it is: its file is imported as the repository's own scripts would import it.

This runs the code, in a process of its own. What it lacks here and never really uses is answered by `stand_ins`.
"""

from __future__ import annotations

import inspect
import re
import sys
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from functools import cache, lru_cache, partial, wraps
from importlib import import_module
from pathlib import Path
from types import ModuleType

import torch
from torch import nn

from imlp_audit.errors import BuildError
from imlp_audit.models.run_code import ArithmeticOnTheProcessor, make_module, take_maker, write_error
from imlp_audit.models.stand_ins import (
    Answers,
    StandIn,
    StandIns,
    answer_old_code,
    answer_transformers,
    answering,
    offer_removed,
    skip_loader,
)
from imlp_audit.models.values import TensorInput, merge
from imlp_audit.processes.code import locate_error
from imlp_audit.processes.streams import print_to_stderr

_MOST_IMPORTS = 60  # folders and packages that are looked for, one after the other
_LEVELS = 4  # folders above a file in which a package of its repository is looked for
_used: list[_Importer] = []
_CONFIGS = frozenset({"c", "cfg", "cfgs", "config", "configs", "args", "opt", "opts", "options", "hparams", "params"})


@dataclass(frozen=True)
class ForeignCode:
    """A class or function of a file; folders on the import path, packages to stand in for, and default arguments.

    `defaults` are a file and the name in it of a configuration, or of a function that returns one.
    """

    file: Path
    name: str
    paths: tuple[Path, ...] = ()
    stubs: tuple[str, ...] = ()
    defaults: tuple[Path, str] | None = None


def build_foreign(code: ForeignCode, arguments: Mapping[str, object]) -> tuple[nn.Module, Answers]:
    """Return the module that a class or function of a file makes, on the current default device, and what was answered.

    Raises BuildError, with the line of the repository's code that fails and what may help.
    """
    _leave_other_files(code.file.resolve())
    try:
        loaded = _load(code.file.resolve(), code.paths, code.stubs)
        maker, answers = _take(loaded.module, code.name), loaded.answers
        given = merge(_defaults(code), arguments)
        with answering(answers), ArithmeticOnTheProcessor():
            made = loaded.run(lambda: make_module(lambda: maker(**_fit_arguments(maker, given))))
    except (Exception, SystemExit) as error:  # whatever the code raises is the model's failure
        raise BuildError(f"{place_in(error, code.file)}: {write_error(error)}{_advise(error)}") from error
    if not isinstance(made, nn.Module):
        raise BuildError(f"{code.file.name}: {code.name} returns {type(made).__name__}, not a torch.nn.Module")
    return made, answers


def find_foreign(code: ForeignCode) -> Callable[..., object]:
    """Return the class or function of a file."""
    return _take(_load(code.file.resolve(), code.paths, code.stubs).module, code.name)


def _take(module: ModuleType, name: str) -> Callable[..., object]:
    """Return a class or function; of `Net.build`, what the method makes of an instance that was not initialised."""
    outer, _, method = name.partition(".")
    maker = take_maker(module, outer)
    if not method:
        return maker
    own = getattr(maker, method, None)
    if not isinstance(maker, type) or not callable(own):
        raise LookupError(f"{outer} has no method {method!r}")

    @wraps(own)
    def build(*given: object, **named: object) -> object:
        made: object = object.__new__(maker)
        if isinstance(made, nn.Module):
            nn.Module.__init__(made)
        found = getattr(made, method)(*given, **named)
        return found if isinstance(found, nn.Module) else made

    vars(build)["__signature__"] = _without_self(inspect.signature(own))
    return build


def _without_self(signature: inspect.Signature) -> inspect.Signature:
    return signature.replace(parameters=list(signature.parameters.values())[1:])


def repository(file: Path) -> Path:
    """Return the folder of the repository that a file is in, or the file's own folder."""
    for folder in list(file.resolve().parents)[: 2 * _LEVELS]:
        if (folder / ".git").exists():
            return folder
    return file.resolve().parent


def place_in(error: BaseException, file: Path) -> str:
    """Return the last line of the repository's code in an error's traceback; the file alone if there is none."""
    line = locate_error(error, repository(file), "")
    return line.removeprefix("/") if line is not None else file.name


def _advise(error: BaseException) -> str:
    """Say which flag may help."""
    text = str(error)
    if isinstance(error, TypeError) and "required" in text:
        return "; give arguments with --arg name=value or --config FILE"
    if isinstance(error, TypeError) and "unexpected keyword" in text:
        return "; of a file with more in it, take a section: --config FILE:SECTION"
    if isinstance(error, AttributeError | KeyError) and "the configuration has no" in text:
        return "; add it with --arg name=value, or take its defaults from Python: --config FILE.py:NAME"
    return ""


# Arguments


def _fit_arguments(maker: Callable[..., object], arguments: Mapping[str, object]) -> Mapping[str, object]:
    """Return the arguments by name; as one object, where that is what the maker takes: `Net(cfg)`."""
    given = {name: _make_argument(value) for name, value in arguments.items() if name != "_target_"}
    known = _parameters(maker)
    private = {name: f"_{getattr(maker, '__name__', '').lstrip('_')}{name}" for name in given if name[:2] == "__"}
    given = {private[name] if private.get(name) in known else name: value for name, value in given.items()}
    first = next(iter(known.values()), None)
    fitting = given.keys() & known.keys() or any(one.kind is one.VAR_KEYWORD for one in known.values())
    if (
        first is None
        or first.name in given
        or not given
        or not (_is_config(first) or (not fitting and first.default is first.empty))
    ):
        return given
    inside = {name: value for name, value in given.items() if name not in known}
    return {first.name: _make_config(first, inside), **{name: given[name] for name in given if name in known}}


def _is_config(parameter: inspect.Parameter) -> bool:
    return parameter.name.lower().rstrip("_").rpartition("_")[2] in _CONFIGS


def _parameters(maker: Callable[..., object]) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(maker).parameters
    except (TypeError, ValueError):
        return {}


def _make_config(parameter: inspect.Parameter, values: Mapping[str, object]) -> object:
    """Return a configuration of the class that a parameter is annotated with, if it is made of values by name."""
    kind = parameter.annotation
    if isinstance(kind, type) and (is_dataclass(kind) or hasattr(kind, "from_pretrained")):
        fields = kind.__dataclass_fields__ if is_dataclass(kind) and not hasattr(kind, "from_pretrained") else values
        return kind(**{name: value for name, value in values.items() if name in fields})
    return Config(values)


class Config(dict[str, object], Namespace):
    """A configuration whose values are its keys and its attributes, as yacs, omegaconf and argparse give them.

    `getattr(config, "a.b")` is what `a` holds as `b`.
    """

    def __init__(self, values: Mapping[str, object]) -> None:
        made = {name: _make_argument(value) for name, value in values.items()}
        dict.__init__(self, {name: _look_up(made, name, value) for name, value in made.items()})
        self.__dict__ = self  # which vars() reads

    def __getattr__(self, name: str) -> object:
        """Return a value."""
        found = _look_up(self, name, Config)
        if found is Config:
            raise AttributeError(f"the configuration has no {name!r}; it has {', '.join(self) or 'nothing'}")
        return found

    def __missing__(self, name: str) -> object:
        """Raise KeyError that says what there is."""
        raise KeyError(f"the configuration has no {name!r}; it has {', '.join(self) or 'nothing'}")

    def __deepcopy__(self, _: object) -> Config:
        """Return a copy."""
        return Config(self)

    clone = copy = lambda self: Config(self)


def _look_up(values: Mapping[str, object], name: str, default: object) -> object:
    """Return what `a` holds as `b`, for `a.b`."""
    found: object = values
    for part in name.split("."):
        found = found.get(part, default) if isinstance(found, dict) else default
    return found


def _make_argument(value: object) -> object:
    """Make what stands for an object: a tensor, a configuration, or, as for hydra, what a `_target_` makes."""
    if isinstance(value, TensorInput):
        return torch.ones(value.shape, dtype=getattr(torch, value.dtype))
    if isinstance(value, Mapping) and "_target_" in value:
        module, _, name = str(value["_target_"]).rpartition(".")
        inside = {key: _make_argument(one) for key, one in value.items() if key[:1] != "_"}
        maker = getattr(import_module(module), name)
        return partial(maker, **inside) if value.get("_partial_") else maker(**inside)
    if isinstance(value, Mapping):
        return Config(value)
    return [_make_argument(one) for one in value] if isinstance(value, list) else value


def _defaults(code: ForeignCode) -> Mapping[str, object]:
    """Return the configuration that a Python file holds under a name, or makes."""
    if code.defaults is None:
        return {}
    file, name = code.defaults
    loaded = _load(file.resolve(), code.paths, code.stubs)
    found = getattr(loaded.module, name)
    StandIn.importing = True
    try:
        return _plain(loaded.run(found) if callable(found) else found)
    finally:
        StandIn.importing = False


def _plain(found: object) -> dict[str, object]:
    if isinstance(found, tuple):  # arguments, and what else a function returns
        found = found[0]
    inside = found if isinstance(found, Mapping) else vars(found)
    return {
        str(name): _plain(value) if isinstance(value, Mapping | Namespace) else value for name, value in inside.items()
    }


# Imports


@dataclass(frozen=True)
class _Loaded:
    """A file that was imported, and what was answered for that; what is answered later is noted there too."""

    module: ModuleType
    importer: _Importer

    @property
    def answers(self) -> Answers:
        """What was answered."""
        return self.importer.finder.answers

    def run(self, call: Callable[[], object]) -> object:
        """Call something of it; again where what it imports then is missing, or only what loads weights fails."""
        for _ in range(_MOST_IMPORTS):
            try:
                return call()
            except Exception as error:
                missing = isinstance(error, ModuleNotFoundError) and self.importer.provide(error.name or "")
                if not missing and not skip_loader(error, self.answers):
                    raise
        raise ImportError(f"it imports more than {_MOST_IMPORTS} packages that are missing")


@lru_cache(maxsize=1)  # so that it runs where the file is another than before
def _leave_other_files(_: Path) -> None:
    """Let a file import its own neighbours, where those of another file had the same names."""
    _load.cache_clear()
    while _used:
        _used.pop().leave()


@cache  # a model that is changed is made many times
def _load(file: Path, paths: tuple[Path, ...], stubs: tuple[str, ...]) -> _Loaded:
    """Import a file as a script would."""
    answers = Answers()
    answer_old_code(answers)
    importer = _Importer(file, paths, StandIns(stubs, answers))
    _used.append(importer)
    StandIn.importing, sys.argv = True, [str(file)]
    sys.meta_path.insert(0, importer.finder)
    try:
        with print_to_stderr(), torch.device("cpu"):  # tensors of its modules have values
            try:
                module = importer.run()
            except Exception as error:
                _forget(importer.before, importer.root)
                module = importer.run_alone(error)
    finally:
        StandIn.importing = False
    if "transformers" in sys.modules:
        answer_transformers(stubs, answers)
    importer.add(importer.root, len(sys.path))  # for what a configuration names
    return _Loaded(module, importer)


def _forget(before: set[str], root: Path) -> None:
    """Let modules of the repository, and stand-ins, be imported again."""
    for name in set(sys.modules) - before:
        file, loader = (getattr(sys.modules[name], key, None) for key in ("__file__", "__loader__"))
        own = file and Path(file).is_relative_to(root) and "site-packages" not in Path(file).parts
        if isinstance(loader, StandIns) or (own and name.partition(".")[0] != "imlp_audit"):
            del sys.modules[name]


class _Importer:
    """Imports a file by its place in its package, with its folder and those named on the import path, as a script."""

    def __init__(self, file: Path, paths: Sequence[Path], finder: StandIns) -> None:
        self.file, self.root, self.finder = file, repository(file), finder
        self.package = file.parent
        while (self.package / "__init__.py").is_file() and self.package != self.root:
            self.package = self.package.parent
        self.before, self.added = set(sys.modules), list[str]()
        for folder in reversed((*(path.resolve() for path in paths), self.package, file.parent)):
            self.add(folder)

    def add(self, folder: Path, at: int = 0) -> None:
        """Put a folder on the import path."""
        sys.path.insert(at, str(folder))
        self.added.append(str(folder))

    def leave(self) -> None:
        """Let another file be imported as if this one had not been."""
        _forget(self.before, self.root)
        for folder in filter(sys.path.__contains__, self.added):
            sys.path.remove(folder)
        sys.meta_path.remove(self.finder)

    @property
    def name(self) -> str:
        """The name that the file is imported by."""
        return ".".join(self.file.relative_to(self.package).with_suffix("").parts).removesuffix(".__init__")

    def run(self) -> ModuleType:
        """Import it, again and again with one more thing that it lacks."""
        for _ in range(_MOST_IMPORTS):
            try:
                return import_module(self.name)
            except (ImportError, AttributeError) as error:
                if not self._helps(error):
                    raise
        raise ImportError(f"its imports lead through more than {_MOST_IMPORTS} folders and packages")

    def run_alone(self, error: Exception) -> ModuleType:
        """Import it without what the `__init__.py` of its packages run. Raises the error of before if it fails too."""
        folders = [folder for folder in self.file.parents if folder.is_relative_to(self.package)][:-1]
        if not folders:
            raise error
        before = set(sys.modules)
        for folder in reversed(folders):
            name = ".".join(folder.relative_to(self.package).parts)
            sys.modules[name] = ModuleType(name)
            sys.modules[name].__path__ = [str(folder)]
        try:
            module = self.run()
        except Exception:
            _forget(before, self.root)
            raise error from None
        self.finder.answers.note(f"{self.name} was imported without the __init__.py of its package, which fails")
        return module

    def _helps(self, error: ImportError | AttributeError) -> bool:
        """Provide what an import lacks; return whether there was anything to provide."""
        if isinstance(error, ModuleNotFoundError):
            return self.provide(error.name or "")
        if isinstance(error, AttributeError):
            return isinstance(error.obj, ModuleType) and self._restore(error.obj, error.name or "")
        if "relative import" in str(error) and self.package not in (self.root, self.file.parents[-1]):
            self.package = self.package.parent  # of a folder without __init__.py
            self.add(self.package)
            return True
        found = re.match(r"cannot import name '(\w+)' from '([\w.]+)'", str(error))
        return found is not None and self._restore(sys.modules[found[2]], found[1])

    def provide(self, name: str) -> bool:
        """Find a neighbour in a folder above; or let a stand-in be imported for a package, or one of its modules."""
        top = name.partition(".")[0]
        beside = next((above for above in self.file.parents[: _LEVELS + 1] if _has(above, top)), None)
        if beside is not None and str(beside) not in sys.path:
            shown = beside.relative_to(self.root).as_posix() if beside.is_relative_to(self.root) else str(beside)
            self.finder.answers.note(f"`{top}` was found in {shown}, as with --path {shown}")
            self.add(beside)
            return True
        known = name if beside is not None or top in sys.modules else top
        if not known or known in self.finder.names:
            return False
        self.finder.names.add(known)
        return True

    def _restore(self, library: ModuleType, name: str) -> bool:
        """Let a library have what it has no longer; the repository's own modules are what they are."""
        file = getattr(library, "__file__", None)
        if hasattr(library, name) or file is None or Path(file).is_relative_to(self.root):
            return False
        try:
            import_module(f"{library.__name__}.{name}")  # one that it no longer imports by itself
        except ImportError:
            offer_removed(library, name, self.finder.answers)
        return True


def _has(folder: Path, top: str) -> bool:
    return bool(top) and ((folder / top).is_dir() or (folder / f"{top}.py").is_file())
