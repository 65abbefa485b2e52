"""Modules that a user's Python makes. This is the one place where a model's code from outside is run."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from importlib.metadata import EntryPoint

from torch import nn

from imlp_audit.errors import BuildError, UntrustedError, did_you_mean
from imlp_audit.models.hosts.python import ENTRY_POINTS, PythonModule
from imlp_audit.models.nets.inputs import make_module, set_input, set_inputs, tensors_in
from imlp_audit.models.own_block import OwnBlock
from imlp_audit.models.values import TensorInput
from imlp_audit.processes.code import load, load_module, locate_error, offered
from imlp_audit.processes.streams import print_to_stderr
from imlp_audit.processes.workers import StoppedError

_LONGEST = 300  # characters of an error's message
_WITHOUT_VALUES = ("called on meta tensors", "register_meta function", "out of meta tensor", "convert meta device type")
"""What torch says where a tensor without values is asked for them. NotImplementedError is a RuntimeError."""
_SENTENCE, _CLAUSE = re.compile(r"(?<=[.!?]) "), re.compile(r"[.,;!] ")


def build_python(host: PythonModule) -> nn.Module:
    """Run the code of a host and return its module, on the current default device.

    Raises UntrustedError where the code may not be run, and BuildError, with file and line, where it fails.
    """
    if not host.may_run:
        raise UntrustedError(
            f"the model in {host.file} was not built, because its code is not trusted; pass --trust-code"
        )
    try:
        with print_to_stderr():
            maker = find_maker(host)
            model = make_module(lambda: maker(**host.arguments))
    except (Exception, SystemExit) as error:  # whatever the code raises is the model's failure
        raise BuildError(describe_error(host, error)) from error
    if not isinstance(model, nn.Module):
        raise BuildError(f"{host.place}: {host.kin()} returns {type(model).__name__}, not a torch.nn.Module")
    run = _runner(model, host.output)
    if host.inputs is not None:
        set_inputs(model, host.inputs, run)
    elif host.tokens is not None:
        set_input(model, TensorInput(shape=[host.tokens], dtype="int64"), run)
    else:
        set_input(model, TensorInput(shape=[*(host.input or ())]), run)
    return model


def _runner(model: nn.Module, shape: Sequence[int] | None) -> Callable[..., object]:
    """Return a function that runs a model, whose output must hold a tensor of the shape if one is given, without batch.

    What it prints goes to standard error.
    """
    own = vars(model).get("forward")

    def run(itself: nn.Module, *inputs: object, **named: object) -> object:
        with print_to_stderr():
            found = own(*inputs, **named) if own is not None else type(itself).forward(itself, *inputs, **named)
        first = next(tensors_in(found), None)
        if first is None:
            raise TypeError(f"forward of {type(itself).__name__} returns {type(found).__name__}, without a tensor")
        if shape is not None and [*first.shape[1:]] != [*shape]:
            returned = f"returns {[*first.shape]} with the batch first"
            raise TypeError(f"forward of {type(itself).__name__} {returned}, but its output is stated as {[*shape]}")
        return found

    return run


def describe_error(host: PythonModule | OwnBlock, error: BaseException) -> str:
    """Return what the code of a host raised, and where."""
    return f"{_place(error, host)}: {write_error(error)}{_hint(error, host)}"


def write_error(error: BaseException) -> str:
    """Write an error of somebody else's code on a line that is not too long: its first sentences, or words."""
    if isinstance(error, StoppedError):
        return str(error)
    try:
        text = " ".join(str(error).split())
    except Exception:  # an error that fails when it is asked for its message
        text = "(without a message)"
    text = "".join(sign if sign.isprintable() else "?" for sign in text)
    kind = type(error).__name__
    if isinstance(error, RuntimeError | TypeError) and any(word in text for word in _WITHOUT_VALUES):
        cause = f"{kind}: {_cut(_CLAUSE.split(text)[0])}"
        return f"the work depends on the values that the model reads, so it cannot be counted ({cause})"
    if isinstance(error, SystemExit):
        return f"its code ended the process ({kind}: {_cut(text)})"
    return f"{kind}: {_cut(text)}"


def _cut(text: str) -> str:
    """Return a text; of a long one the first sentences, or the first words where its first sentence is too long."""
    if len(text) <= _LONGEST:
        return text
    sentences = [one.start() for one in _SENTENCE.finditer(text) if one.start() <= _LONGEST]
    if sentences:
        return text[: sentences[-1]]
    words = text[:_LONGEST].rpartition(" ")[0]
    return f"{words or text[:_LONGEST]}..."


def find_maker(host: PythonModule | OwnBlock) -> Callable[..., object]:
    """Import the code of a host and return the class or function that makes the module."""
    if isinstance(host, PythonModule) and host.entry_point is not None:
        maker = load(_installed(host.entry_point))
        if not callable(maker):
            raise TypeError(f"it is a {type(maker).__name__}, not a class or function")
        return maker
    assert host.folder is not None
    assert host.file is not None
    assert host.name is not None
    module = load_module(host.folder, host.file.removesuffix(".py").replace("/", "."))
    maker = getattr(module, host.name, None)
    if callable(maker):
        return maker  # type: ignore[no-any-return]
    own = [name for name, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__]
    raise LookupError(f"it defines no {host.name!r}; {did_you_mean(host.name, own, 'it has')}")


def _installed(name: str) -> EntryPoint:
    points = {point.name: point for point in offered(ENTRY_POINTS)}
    if name not in points:
        known = did_you_mean(name, points, "there are") if points else "there is none"
        raise LookupError(f"no installed package has it in the group {ENTRY_POINTS!r}; {known}")
    return points[name]


def _place(error: BaseException, host: PythonModule | OwnBlock) -> str:
    """Return the last line of the host's folder in an error's traceback; the file alone if there is none."""
    if host.folder is None or host.file is None:
        return host.place
    line = locate_error(error, host.folder.resolve(), "")
    return line.removeprefix("/") if line is not None else host.file


def passes_through(host: PythonModule | OwnBlock, error: BaseException) -> bool:
    """Return whether an error comes from the Python in a folder from outside, or from what it called."""
    return host.folder is not None and locate_error(error, host.folder.resolve(), "") is not None


def _hint(error: BaseException, host: PythonModule | OwnBlock) -> str:
    """Say how a file imports another that lies beside it, where it tried in the way of a script."""
    if not isinstance(error, ModuleNotFoundError) or error.name is None or host.folder is None or host.file is None:
        return ""
    top = error.name.partition(".")[0]
    beside = (host.folder / host.file).parent / top
    if not beside.is_dir() and not beside.with_suffix(".py").is_file():
        return ""
    return f"; {top} lies beside the file, so import it relatively: from .{error.name} import ..."
