"""Modules that a user's Python makes. This is the one place where a model's code from outside is run."""

from __future__ import annotations

import hashlib
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from torch import nn

from imlp_audit.errors import BuildError, UntrustedError, did_you_mean
from imlp_audit.models.hosts.python import PythonModule
from imlp_audit.models.nets.inputs import make_module, set_input, set_inputs, tensors_in
from imlp_audit.models.own_block import OwnBlock
from imlp_audit.models.values import TensorInput

_LONGEST = 300  # characters of an error's message
_WITHOUT_VALUES = ("called on meta tensors", "register_meta function")
"""What torch says where a tensor without values is asked for them. NotImplementedError is a RuntimeError."""


def build_python(host: PythonModule) -> nn.Module:
    """Run the code of a host and return its module, on the current default device.

    Raises UntrustedError where the code may not be run, and BuildError, with file and line, where it fails.
    """
    if host.folder is None:
        raise UntrustedError(
            f"the model in {host.file} was not built, because its code is not trusted; pass --trust-code"
        )
    try:
        with print_to_stderr():
            maker = find_maker(host.folder, host)
            model = make_module(lambda: maker(**host.arguments))
    except Exception as error:  # whatever the code raises is the model's failure
        raise BuildError(describe_error(host, error)) from error
    if not isinstance(model, nn.Module):
        raise BuildError(f"{host.file}: {host.name} returns {type(model).__name__}, not a torch.nn.Module")
    run = _runner(model)
    if host.inputs is not None:
        set_inputs(model, host.inputs, run)
    elif host.tokens is not None:
        set_input(model, TensorInput(shape=[host.tokens], dtype="int64"), run)
    else:
        set_input(model, TensorInput(shape=[*(host.input or ())]), run)
    return model


def _runner(model: nn.Module) -> Callable[..., object]:
    """Return a function that runs a model, whose output must hold a tensor; what it prints goes to stderr."""
    own = vars(model).get("forward")

    def run(itself: nn.Module, *inputs: object, **named: object) -> object:
        with print_to_stderr():
            found = own(*inputs, **named) if own is not None else type(itself).forward(itself, *inputs, **named)
        if next(tensors_in(found), None) is None:
            raise TypeError(f"forward of {type(itself).__name__} returns {type(found).__name__}, without a tensor")
        return found

    return run


@contextmanager
def print_to_stderr() -> Iterator[None]:
    """Send what is printed to standard error, also what other processes and C code print."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def describe_error(host: PythonModule | OwnBlock, error: BaseException) -> str:
    """Return what the code of a host raised, and where in its file."""
    where = host.file if host.folder is None else _place(error, (host.folder / host.file).resolve(), host.file)
    return f"{where}: {write_error(error)}"


def write_error(error: BaseException) -> str:
    """Write an error of somebody else's code on a line that is not too long."""
    try:
        text = " ".join(str(error).split())
    except Exception:  # an error that fails when it is asked for its message
        text = "(without a message)"
    text = "".join(sign if sign.isprintable() else "?" for sign in text)
    text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
    kind = type(error).__name__
    if isinstance(error, RuntimeError) and any(word in text for word in _WITHOUT_VALUES):
        return f"the work depends on the values that the model reads, so it cannot be counted ({kind}: {text})"
    return f"{kind}: {text}"


def find_maker(folder: Path, host: PythonModule | OwnBlock) -> Callable[..., object]:
    """Run a file and return its class or function of the host's name. Raises LookupError, or what the file raises."""
    module = _load((folder / host.file).resolve())
    maker = getattr(module, host.name, None)
    if callable(maker):
        return maker  # type: ignore[no-any-return]
    own = [name for name, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__]
    raise LookupError(f"it defines no {host.name!r}; {did_you_mean(host.name, own, 'it has')}")


def _load(path: Path) -> ModuleType:
    """Import a file under a name of its own; the same file with the same text gives the same module."""
    source = path.read_bytes()
    name = f"imlp_audit_model_{hashlib.sha256(str(path).encode() + source).hexdigest()[:12]}"
    if name not in sys.modules:
        spec = spec_from_file_location(name, path)
        if spec is None or spec.loader is None:
            raise ImportError(f"{path.name} is not a Python file")
        module = module_from_spec(spec)
        sys.modules[name] = module  # dataclasses look their module up there
        try:
            exec(compile(source, path, "exec"), module.__dict__)  # bytecode beside the file could be of an older text
        except BaseException:
            del sys.modules[name]
            raise
    return sys.modules[name]


def _place(error: BaseException, path: Path, shown_as: str) -> str:
    """Return the last line of the file in an error's traceback; the file alone if there is none."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename) == path]
    if isinstance(error, SyntaxError) and error.filename == str(path):
        lines.append(error.lineno)
    return f"{shown_as}:{lines[-1]}" if lines else shown_as
