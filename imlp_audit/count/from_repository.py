"""A model from somebody's repository as it is: its file is imported as the repository's own scripts would import it.

This runs the code, in a process of its own. What it lacks here and never really uses is answered by `stand_ins`.
"""

from __future__ import annotations

import inspect
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name
from types import ModuleType

import torch
from torch import nn

from imlp_audit.count.request import MOST_BYTES, ModelRequest
from imlp_audit.errors import BuildError, did_you_mean
from imlp_audit.files import read_text
from imlp_audit.models.host import TensorInput
from imlp_audit.models.importing import Importer, import_file, leave_others, repository
from imlp_audit.models.recipe_changes import merge
from imlp_audit.models.run_code import check_module, locate, make_module, noting, take_maker, write_error
from imlp_audit.models.stand_ins import Answers, StandIn, answering
from imlp_audit.models.torch_modes import ArithmeticOnTheProcessor
from imlp_audit.processes.limits import TimeIsUp

_CONFIGS = frozenset({"c", "cfg", "cfgs", "config", "configs", "args", "opt", "opts", "options", "hparams", "params"})


def build_foreign(request: ModelRequest, file: Path) -> tuple[nn.Module, Answers]:
    """Return the module that a class or function of a file makes, on the current default device, and what was answered.

    Raises BuildError, with the line of the repository's code that fails and what may help.
    """
    leave_others(file.resolve())
    try:
        loaded = _load(request, file, request.name)
        maker, answers = take_maker(loaded.module, request.name), loaded.answers
        given = merge(read_defaults(request, answers.note), request.arguments)
        with answering(answers), ArithmeticOnTheProcessor():
            made = loaded.run(lambda: make_module(lambda: maker(**_fit_arguments(maker, given, request.arguments))))
    except TimeIsUp:
        raise
    except BaseException as error:  # whatever the code raises is the model's failure, KeyboardInterrupt too
        raise BuildError(f"{place_in(error, file)}: {write_error(error)}{_advise(error)}") from error
    return check_module(file.name, request.name, made), answers


def _load(request: ModelRequest, file: Path, name: str) -> Importer:
    """Import a file for a name that it defines, even if it fails after that."""
    loaded = import_file(file.resolve(), request.paths, request.stubs, request.argv)
    error = loaded.failure
    if error is not None and not hasattr(loaded.module, name.partition(".")[0]):
        raise error
    if error is not None:
        why = f"{place_in(error, file)}: {write_error(error)}"
        loaded.answers.note(f"the file fails after it has defined {name}, which was taken ({why})")
    return loaded


def place_in(error: BaseException, file: Path) -> str:
    """Return the last line of the repository's code in an error's traceback; the file alone if there is none."""
    return locate(error, repository(file), file.name)


def find_foreign(request: ModelRequest, file: Path) -> Callable[..., object]:
    """Return the class or function of a file."""
    return take_maker(_load(request, file, request.name).module, request.name)


def _advise(error: BaseException) -> str:
    text = str(error)
    if notes := getattr(error, "__notes__", ()):
        return f"; {notes[0]}"
    if isinstance(error, SystemExit):
        return "; if it reads the command line, give what it asks for: --argv WORDS"
    if isinstance(error, TypeError) and "required" in text:
        return "; give arguments with --arg name=value or --config FILE"
    if isinstance(error, TypeError) and "unexpected keyword" in text:
        return "; leave it out, or pass only the section with the model's arguments: --config FILE:SECTION"
    if isinstance(error, AttributeError | KeyError) and "the configuration has no" in text:
        return "; add it with --arg name=value, or take its defaults from Python: --config FILE.py:NAME"
    return ""


# Arguments


def _fit_arguments(
    maker: Callable[..., object], arguments: Mapping[str, object], asked: Mapping[str, object]
) -> Mapping[str, object]:
    """Return the arguments by name; as one object, where that is what the maker takes: `Net(cfg)`.

    What is `asked` for goes to a parameter of its name too; what only a configuration in Python has, if that needs it.
    """
    given = {name: _make_argument(value) for name, value in arguments.items() if name != "_target_"}
    known = parameters_of(maker)
    private = {name: f"_{getattr(maker, '__name__', '').lstrip('_')}{name}" for name in given if name[:2] == "__"}
    given = {private[name] if private.get(name) in known else name: value for name, value in given.items()}
    first = next(iter(known.values()), None)
    if first is None or not _is_config(first):  # `type: Net` says what is made
        given = {
            name: value for name, value in given.items() if name in known or value != getattr(maker, "__name__", maker)
        }
    if first is None or first.name in given or not given:
        return given
    fitting = given.keys() & known.keys() or any(one.kind is one.VAR_KEYWORD for one in known.values())
    needed = first.default is first.empty
    if not (_is_config(first) and (needed or first.default is None or not fitting)) and (fitting or not needed):
        return given
    apart = [name for name in given.keys() & known.keys() if name in asked or known[name].default is first.empty]
    kind = getattr(maker, "config_class", None) or first.annotation  # transformers' models name it
    return {first.name: _make_config(kind, given), **{name: given[name] for name in apart}}


def _is_config(parameter: inspect.Parameter) -> bool:
    return parameter.name.lower().rstrip("_").rpartition("_")[2] in _CONFIGS


def parameters_of(maker: Callable[..., object]) -> Mapping[str, inspect.Parameter]:
    """Return the signature of a class or function, as far as it is known."""
    try:
        return inspect.signature(maker).parameters
    except (TypeError, ValueError):
        return {}


def _make_config(kind: object, values: Mapping[str, object]) -> object:
    """Return a configuration of a class, if that is made of values by name."""
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
        found = _look_up(self, name, self.get(name.replace("_", "-"), Config))  # as argparse names its flags
        if found is Config:
            raise AttributeError(f"the configuration has no {name!r}; it has {', '.join(self) or 'nothing'}")
        return found

    def __missing__(self, name: str) -> object:
        raise KeyError(f"the configuration has no {name!r}; it has {', '.join(self) or 'nothing'}")

    def __deepcopy__(self, _: object) -> Config:
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
        with noting(f"the argument's `_target_: {value['_target_']}` fails; install it, or correct --arg or --config"):
            inside = {key: _make_argument(one) for key, one in value.items() if key[:1] != "_"}
            maker = resolve_name(str(value["_target_"]))
            if isinstance(maker, StandIn | ModuleType):  # stand-ins are modules too
                raise LookupError(f"{value['_target_']} is not installed, or is a module")
            if not callable(maker):
                return maker
            return partial(maker, **inside) if value.get("_partial_") else maker(**inside)
    if isinstance(value, Mapping):
        return Config(value)
    return [_make_argument(one) for one in value] if isinstance(value, list) else value


def read_defaults(request: ModelRequest, note: Callable[[str], None]) -> Mapping[str, object]:
    """Return the configuration that a Python file holds under a name, or makes; without a name, all values in it."""
    if request.defaults is None:
        return {}
    file, name = request.defaults
    if "_base_" in read_text(file, MOST_BYTES):  # of mmengine, which knows how configurations inherit
        try:
            values = import_module("mmengine").Config.fromfile(file).to_dict()
            return _plain(values[name] if name else values)
        except Exception as error:  # as of a package that is not installed
            note(f"what {file.name} inherits was not read ({write_error(error)}); give what it needs with --arg")
    loaded = _load(request, file, name)
    found = vars(loaded.module).get(name) if name else _data_of(loaded.module)
    if found is None:
        raise LookupError(f"{file.name} defines no {name!r}; {did_you_mean(name, _data_of(loaded.module), 'it has')}")
    StandIn.importing = True
    try:
        return _plain(loaded.run(found) if callable(found) else found)
    finally:
        StandIn.importing = False


def _data_of(holder: object) -> dict[str, object]:
    """Return the values of a module or class by name, without functions, classes and modules."""
    every = vars(holder).items()
    return {key: one for key, one in every if key[:1] != "_" and not callable(one) and not isinstance(one, ModuleType)}


def _plain(found: object) -> dict[str, object]:
    if isinstance(found, tuple):  # arguments, and what else a function returns
        found = found._asdict() if hasattr(found, "_asdict") else found[0]
    if not isinstance(found, Mapping) and not hasattr(found, "__dict__"):
        raise LookupError(f"a {type(found).__name__} holds no arguments by name; take a mapping, or what makes one")
    inside = found if isinstance(found, Mapping) else vars(found) or _data_of(type(found))
    for parser in (found, *inside.values()):
        if isinstance(parser, ArgumentParser):
            inside = {action.dest: action.default for action in parser._actions if action.dest != "help"}
    return {
        str(name): _plain(value) if isinstance(value, Mapping | Namespace) else value for name, value in inside.items()
    }
