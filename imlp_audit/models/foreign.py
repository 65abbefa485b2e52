"""A model from somebody's repository as it is: its file is imported as the repository's own scripts would import it.

This runs the code, in a process of its own. What it lacks here and never really uses is answered, and said in `notes`:
packages that are named as stubs, names that torch and numpy have removed, weights to download or to load, and CUDA.
"""

from __future__ import annotations

import collections
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from itertools import accumulate
from pathlib import Path
from types import ModuleType

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.modules import linear
from torch.overrides import TorchFunctionMode

from imlp_audit.errors import BuildError
from imlp_audit.models.run_code import ArithmeticOnTheProcessor, make_module, take_maker, write_error
from imlp_audit.processes.code import locate_error
from imlp_audit.processes.streams import print_to_stderr

_MOST_IMPORTS = 30  # folders and packages that are looked for, one after the other
_LEVELS = 4  # folders above a file in which a package of its repository is looked for
_CONFIGS = frozenset({"cfg", "config", "configs", "args", "opt", "opts", "options", "hparams", "params", "model_cfg"})
Notes = dict[str, None]
"""What was done so that the code runs, each once, in order."""


def build_foreign(
    file: Path, name: str, arguments: Mapping[str, object], *, paths: Sequence[Path], stubs: Sequence[str], notes: Notes
) -> nn.Module:
    """Return the module that a class or function of a file makes, on the current default device.

    Raises BuildError, with the line of the repository's code that fails and what may help.
    """
    try:
        with print_to_stderr():
            module, imported = _load(file.resolve(), tuple(paths), tuple(stubs))
            notes.update(imported)
            maker = take_maker(module, name)
            with ArithmeticOnTheProcessor(), _OnThisDevice(notes):
                made = make_module(lambda: maker(**_fit_arguments(maker, arguments)))
            notes.update(imported)
    except (Exception, SystemExit) as error:  # whatever the code raises is the model's failure
        raise BuildError(f"{place_in(error, file)}: {write_error(error)}{_advise(error)}") from error
    if not isinstance(made, nn.Module):
        raise BuildError(f"{file.name}: {name} returns {type(made).__name__}, not a torch.nn.Module")
    return made


@cache  # a model that is changed is made many times
def _load(file: Path, paths: tuple[Path, ...], stubs: tuple[str, ...]) -> tuple[ModuleType, Notes]:
    """Import a file, and return what was done for that; what is answered later is noted there too."""
    notes = Notes()
    _stand_in(notes)
    _Stub.importing = True
    try:
        return _import(file, repository(file), paths, stubs, notes), notes
    finally:
        _Stub.importing = False


def find_foreign(file: Path, name: str, paths: Sequence[Path], stubs: Sequence[str]) -> Callable[..., object]:
    """Return the class or function of a file."""
    return take_maker(_load(file.resolve(), tuple(paths), tuple(stubs))[0], name)


def repository(file: Path) -> Path:
    """Return the folder of the repository that a file is in, or the file's own folder."""
    for folder in list(file.resolve().parents)[: _LEVELS + 1]:
        if (folder / ".git").exists():
            return folder
    return file.resolve().parent


def place_in(error: BaseException, file: Path) -> str:
    """Return the last line of the repository's code in an error's traceback; the file alone if there is none."""
    line = locate_error(error, repository(file), "")
    return line.removeprefix("/") if line is not None else file.name


def _fit_arguments(maker: Callable[..., object], arguments: Mapping[str, object]) -> Mapping[str, object]:
    """Return the arguments by name; as one object, where that is what the maker takes: `Net(cfg)`."""
    try:
        known = list(inspect.signature(maker).parameters.values())
    except (TypeError, ValueError):
        return arguments
    first = known[0] if known else None
    if first is None or first.name in arguments or first.name.lower() not in _CONFIGS or not arguments:
        return arguments
    named = {one.name for one in known}
    return {first.name: Config(arguments), **{name: arguments[name] for name in arguments if name in named}}


class Config(dict[str, object]):
    """A configuration whose values are its keys and its attributes, as yacs, omegaconf and argparse give them."""

    def __init__(self, values: Mapping[str, object]) -> None:
        super().__init__({name: _nested(value) for name, value in values.items()})

    def __getattr__(self, name: str) -> object:
        """Return a value."""
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"the configuration has no {name!r}; it has {', '.join(self) or 'nothing'}") from None


def _nested(value: object) -> object:
    if isinstance(value, Mapping):
        return Config(value)
    return [_nested(one) for one in value] if isinstance(value, list) else value


def _import(file: Path, root: Path, paths: Sequence[Path], stubs: Sequence[str], notes: Notes) -> ModuleType:
    """Import a file by its place in its package; its folder and those named are on the import path, as for a script.

    Raises ImportError that names all packages that are missing.
    """
    file = file.resolve()
    package = file.parent
    while (package / "__init__.py").is_file() and package != root:
        package = package.parent
    sys.path[:0] = dict.fromkeys(map(str, (*(path.resolve() for path in paths), package, file.parent)))
    finder = _Missing(stubs, notes)
    sys.meta_path.insert(0, finder)
    lacking: dict[str, ModuleNotFoundError] = {}
    for _ in range(_MOST_IMPORTS):
        try:
            found = import_module(".".join(file.relative_to(package).with_suffix("").parts).removesuffix(".__init__"))
        except ModuleNotFoundError as error:
            top = (error.name or "").partition(".")[0]
            beside = next((above for above in file.parents[: _LEVELS + 1] if _has(above, top)), None) if top else None
            if beside is not None and str(beside) not in sys.path:
                notes[f"`{top}` was found in {_shown(beside, root)}, as with --path {_shown(beside, root)}"] = None
                sys.path.insert(0, str(beside))
            elif beside is None and top and top not in lacking:
                lacking[top] = error
                finder.stubs |= {top}  # to find out what else is missing
            else:
                raise
        except ImportError as error:
            if "relative import" not in str(error) or package in (root, file.parents[-1]):
                raise
            package = package.parent  # of a folder without __init__.py
            sys.path.insert(0, str(package))
        else:
            if lacking:
                break
            return found
    if lacking:
        first = next(iter(lacking.values()))
        names = ", ".join(lacking)
        flags = " ".join(f"--stub {name}" for name in lacking)
        raise ImportError(
            f"it imports {names}; install them, or of what the model does not need pass {flags}"
        ) from first
    raise ImportError(f"its imports lead through more than {_MOST_IMPORTS} folders")


def _has(folder: Path, top: str) -> bool:
    return (folder / top).is_dir() or (folder / f"{top}.py").is_file()


def _shown(folder: Path, root: Path) -> str:
    return folder.relative_to(root).as_posix() if folder.is_relative_to(root) else str(folder)


def _advise(error: BaseException) -> str:
    """Say which flag may help."""
    if isinstance(error, TypeError) and "required" in str(error):
        return "; give arguments with --arg name=value or --config FILE"
    if isinstance(error, AttributeError) and "the configuration has no" in str(error):
        return "; add it with --arg name=value"
    return ""


class _Missing(MetaPathFinder, Loader):
    """Finds packages, or modules, that are named as stubs, and one that torch has removed."""

    def __init__(self, stubs: Sequence[str], notes: Notes) -> None:
        self.stubs, self._notes = frozenset(stubs), notes

    def find_spec(self, fullname: str, path: object, target: object = None) -> ModuleSpec | None:
        """Return a spec for a module that is missing."""
        whole = accumulate(fullname.split("."), "{}.{}".format)
        known = not self.stubs.isdisjoint(whole) or fullname == "torch._six"
        return ModuleSpec(fullname, self, is_package=True) if known else None

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Return None: an ordinary module."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Fill a module: any name is a stub."""
        if module.__name__ == "torch._six":
            self._notes["torch._six is gone from torch; its names are as they were"] = None
            vars(module).update(
                string_classes=(str, bytes), int_classes=int, inf=float("inf"), container_abcs=collections.abc
            )
            return
        self._notes[f"{module.__name__} stands in for a package that is not needed (--stub)"] = None
        vars(module)["__getattr__"] = _Stub(module.__name__).__getattr__


class _Stub:
    """What stands in for a name of a missing package, and for any name in that.

    While the repository is imported it may be called, as a decorator or to set something up, and classes may be made
    of it. The model may not call it.
    """

    importing = True

    def __init__(self, path: str) -> None:
        self.__dict__["path"] = path

    def __getattr__(self, name: str) -> object:
        """Return a stub of a name in it."""
        if name.startswith("__"):
            raise AttributeError(name)
        return _Stub(f"{self.path}.{name}")

    def __setattr__(self, name: str, value: object) -> None:
        """Take a setting, which nobody reads."""

    def __call__(self, *given: object, **named: object) -> object:
        """Return what it decorates, or itself; outside of imports, refuse."""
        if not _Stub.importing:
            raise ImportError(f"the model needs {self.path}, which is missing; install it")
        return given[0] if len(given) == 1 and not named and callable(given[0]) else self

    def __mro_entries__(self, _: tuple[object, ...]) -> tuple[type, ...]:
        """Let a class be made of it, as of a module."""
        return (nn.Module,)

    def __instancecheck__(self, _: object) -> bool:
        """Say that nothing is of this class."""
        return False

    def __or__(self, _: object) -> object:
        """Return itself, for annotations."""
        return self

    __ror__ = __or__


def _stand_in(notes: Notes) -> None:
    """Answer what old code asks of today's torch and numpy, and downloads, of which nothing is read."""
    _offer(linear, {"_LinearWithBias": linear.NonDynamicallyQuantizableLinear}, notes)
    plain = {"float": float, "int": int, "bool": bool, "object": object, "complex": complex}
    _offer(np, plain, notes)
    for place, name in ((torch.hub, "load_state_dict_from_url"), (torch, "load")):
        _replace(getattr(place, name), _no_weights(f"{place.__name__}.{name}", notes))
    given = nn.Module.load_state_dict

    def load_state_dict(self: nn.Module, state_dict: Mapping[str, object], *args: object, **named: object) -> object:
        if isinstance(state_dict, _NoWeights) or not state_dict:
            return None
        return given(self, state_dict, *args, **named)  # type: ignore[arg-type]

    nn.Module.load_state_dict = load_state_dict  # type: ignore[method-assign]


class _NoWeights(dict[str, object]):
    """In place of weights that are not read; whatever is taken from it is the same."""

    def __missing__(self, _: str) -> _NoWeights:
        return self


def _no_weights(name: str, notes: Notes) -> Callable[..., _NoWeights]:
    def answer(*_: object, **__: object) -> _NoWeights:
        notes[f"{name} was asked for weights; the model keeps fresh ones"] = None
        return _NoWeights()

    return answer


def _replace(function: object, other: object) -> None:
    """Put another function in its place in every module that has imported it."""
    for module in list(sys.modules.values()):
        for name, value in list(getattr(module, "__dict__", {}).items()):
            if value is function:
                setattr(module, name, other)


def _offer(module: ModuleType, names: Mapping[str, object], notes: Notes) -> None:
    """Let a module have names that it had in older releases."""
    before = vars(module).get("__getattr__")

    def answer(name: str) -> object:
        if name in names:
            notes[f"{module.__name__}.{name} is gone from {module.__name__.partition('.')[0]}; it is as it was"] = None
            return names[name]
        if before is not None:
            return before(name)
        raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")

    vars(module)["__getattr__"] = answer


class _OnThisDevice(TorchFunctionMode):
    """Makes on the current device what code asks for on CUDA: sizes and counts are the same there."""

    def __init__(self, notes: Notes) -> None:
        super().__init__()
        self._notes = notes

    def __torch_function__(
        self,
        func: Callable[..., object],
        types: Sequence[type],
        args: tuple[object, ...] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        """Run a call without its CUDA device."""
        named = dict(kwargs or {})
        if func is Tensor.cuda:
            self._notes["CUDA was asked for; the model was counted without it"] = None
            return args[0]
        asked = [name for name, value in named.items() if _is_cuda(value)]
        if asked or any(map(_is_cuda, args[1:])):
            self._notes["CUDA was asked for; the model was counted without it"] = None
            named = {name: value for name, value in named.items() if name not in asked}
            args = (*args[:1], *(one for one in args[1:] if not _is_cuda(one)))
            if func is Tensor.to and len(args) == 1 and not named:
                return args[0]
        return func(*args, **named)


def _is_cuda(value: object) -> bool:
    if isinstance(value, torch.device):
        return value.type == "cuda"
    return isinstance(value, str) and value.partition(":")[0] == "cuda"


@contextmanager
def answering(notes: Notes) -> Iterator[None]:
    """Run the model's own forward pass with CUDA answered too, and what it prints on standard error."""
    with print_to_stderr(), _OnThisDevice(notes):
        yield
