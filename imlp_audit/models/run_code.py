"""Modules that somebody's own Python makes: the one place where a model's code from outside is run."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import fields, is_dataclass
from functools import partial
from pathlib import Path
from types import MethodType, ModuleType

import torch
from timm.layers import Mlp, SwiGLU
from torch import Tensor, nn

from imlp_audit.errors import BuildError, UntrustedError, did_you_mean
from imlp_audit.models.host import TensorInput
from imlp_audit.models.importing import import_below, leave_others
from imlp_audit.models.own import AxisValue, OwnBlock, OwnCode, PythonModule
from imlp_audit.models.readings import AnyReading, BlockReading
from imlp_audit.models.torch_modes import current_device
from imlp_audit.processes.code import locate_error
from imlp_audit.processes.streams import print_to_stderr
from imlp_audit.processes.workers import StoppedError


def make_module(maker: Callable[[], object]) -> object:
    """Call a maker; one that computes with the numbers of tensors cannot do it on the meta device."""
    device = current_device()
    try:
        model = maker()
    except (RuntimeError, TypeError) as error:
        if device.type != "meta" or (isinstance(error, TypeError) and not reads_values(error)):
            raise
        with torch.device("cpu"):
            model = maker()
    if isinstance(model, nn.Module) and any(one.device != device for one in (*model.parameters(), *model.buffers())):
        return _move(model, device)
    return model


def _move(model: nn.Module, device: torch.device) -> nn.Module:
    """Move a model; `to` alone would make two parameters of one that two modules share."""
    names: dict[nn.Parameter, list[str]] = {}
    for name, parameter in model.named_parameters(remove_duplicate=False):
        names.setdefault(parameter, []).append(name)
    model.to(device)
    for first, *others in names.values():
        for place, _, name in (other.rpartition(".") for other in others):
            setattr(model.get_submodule(place), name, model.get_parameter(first))
    return model


def tensors_in(value: object) -> Iterator[Tensor]:
    """Yield the tensors that a model's output holds."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, Mapping | tuple | list):
        for one in value.values() if isinstance(value, Mapping) else value:
            yield from tensors_in(one)
    elif is_dataclass(value) and not isinstance(value, type):
        yield from tensors_in([getattr(value, field.name) for field in fields(value)])


def set_inputs(model: nn.Module, inputs: TensorInput | Mapping[str, TensorInput], run: Callable[..., object]) -> None:
    """Let a model be run on one tensor, or on those of its named arguments, one after the other, as counters run it."""

    def forward(self: nn.Module, *tensors: Tensor) -> object:
        if isinstance(inputs, TensorInput):
            return run(self, *tensors)
        return run(self, **dict(zip(inputs, tensors, strict=True)))

    def example_inputs(_self: nn.Module, batch: int) -> tuple[Tensor, ...]:
        every = [inputs] if isinstance(inputs, TensorInput) else inputs.values()
        return tuple(_example(one, batch) for one in every)

    # methods of the instance, so that a copy of the model runs itself
    model.forward = MethodType(forward, model)
    model.example_inputs = MethodType(example_inputs, model)  # type: ignore[assignment]


def _example(given: TensorInput, batch: int) -> Tensor:
    """Return zeros, or true for truth values."""
    fill = given.dtype == "bool"
    return torch.full((batch, *given.shape), fill, dtype=getattr(torch, given.dtype))


_LONGEST = 300  # characters of an error's message
_WITHOUT_VALUES = re.compile("(?i)meta tensor|meta device|device[ =]meta|register_meta|to be on the same device")
"""What torch says where a tensor without values is asked for them. NotImplementedError is a RuntimeError."""
_CLAUSE = re.compile(r"[.,;!] ")


def build_python(host: PythonModule) -> nn.Module:
    """Run the code of a host and return its module, on the current default device.

    Raises UntrustedError where the code may not be run, and BuildError, with file and line, where it fails.
    """
    with _placing_errors(host) as folder:
        loaded = import_below(folder, host.file, host.path, host.stubs)
        loaded.answers.left_out.clear()
        maker = take_maker(loaded.module, host.name)
        model = loaded.run(lambda: make_module(lambda: maker(**host.arguments)))
        if loaded.answers.left_out:
            names = ", ".join(loaded.answers.left_out)
            raise TypeError(f"the model has instances of {names}, so this cannot be one of its stubs")
    model = check_module(host.file, host.name, model)
    one = TensorInput(shape=[*(host.input or ())])
    if host.tokens is not None:
        one = TensorInput(shape=[host.tokens], dtype="int64")
    set_inputs(model, one if host.inputs is None else host.inputs, _runner(model))
    return model


@contextmanager
def _placing_errors(code: OwnCode) -> Iterator[Path]:
    """Yield the folder of code that is run. Raises BuildError, with a place, for what it raises; UntrustedError."""
    if code.folder is None:
        what = "model" if isinstance(code, PythonModule) else "block"
        raise UntrustedError(
            f"the {what} in {code.file} was not built, because its code is not trusted; pass --trust-code"
        )
    leave_others(code.folder)
    try:
        with print_to_stderr():
            yield code.folder
    except (Exception, SystemExit) as error:  # whatever the code raises is the model's failure
        raise BuildError(describe_error(code, error)) from error


def check_module(file: str, name: str, made: object) -> nn.Module:
    """Return what code has made. Raises BuildError if it is not a module."""
    if isinstance(made, nn.Module):
        return made
    raise BuildError(f"{file}: {name} returns {type(made).__name__}, not a torch.nn.Module; name what makes a model")


def _own_forward(model: nn.Module) -> Callable[..., object]:
    """Return what runs a model, or a copy of it, as its code does; what it prints goes to standard error."""
    own = vars(model).get("forward")

    def run(itself: nn.Module, *inputs: object, **named: object) -> object:
        with print_to_stderr():
            return own(*inputs, **named) if own is not None else type(itself).forward(itself, *inputs, **named)

    return run


def _runner(model: nn.Module) -> Callable[..., object]:
    """Return a function that runs a model, whose output must hold a tensor."""
    forward = _own_forward(model)

    def run(itself: nn.Module, *inputs: object, **named: object) -> object:
        found = forward(itself, *inputs, **named)
        if next(tensors_in(found), None) is None:
            raise TypeError(f"forward of {type(itself).__name__} returns {type(found).__name__}, without a tensor")
        return found

    return run


def describe_error(code: OwnCode, error: BaseException) -> str:
    """Return what code raised, and where; of a package that is missing, what a spec may say."""
    place = code.file if code.folder is None else locate(error, code.folder, code.file)
    hint = ""
    if isinstance(error, ModuleNotFoundError) and isinstance(code, PythonModule):
        missing = (error.name or "").partition(".")[0]
        hint = f"; install it, or if the model does not need it: stubs: [{missing}]"
    return f"{place}: {write_error(error)}{hint}"


def locate(error: BaseException, folder: Path, otherwise: str) -> str:
    """Return the last line of a folder's code in an error's traceback."""
    line = locate_error(error, folder.resolve(), "")
    return line.removeprefix("/") if line is not None else otherwise


def write_error(error: BaseException) -> str:
    """Write an error of somebody else's code on a line that is not too long."""
    if isinstance(error, StoppedError):
        return str(error)
    try:
        text = " ".join(str(error).split())
    except Exception:  # an error that fails when it is asked for its message
        text = "(without a message)"
    text = "".join(sign if sign.isprintable() else "?" for sign in text)
    text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
    kind = type(error).__name__
    if reads_values(error):
        text = _CLAUSE.split(text)[0]
        return f"the work depends on the values that the model reads, so it cannot be counted ({kind}: {text})"
    if isinstance(error, SystemExit):
        return f"its code ended the process ({kind}: {text})"
    return f"{kind}: {text}" if text else kind


def reads_values(error: BaseException) -> bool:
    """Return whether code failed because it asked a tensor without values for them."""
    return isinstance(error, RuntimeError | TypeError) and _WITHOUT_VALUES.search(str(error)) is not None


def take_maker(module: ModuleType, name: str) -> Callable[..., object]:
    """Return the class or function of a module, or of a class in it. Raises LookupError with the nearest name.

    A method is of an instance that is made without arguments. An error of that has a note of what to do.
    """
    inside: object = module
    maker = inside
    for part in name.split("."):
        inside = maker
        if isinstance(maker, type) and inspect.isfunction(inspect.getattr_static(maker, part, None)):
            with noting(f"{name} is called of an instance made without arguments; write a function that makes it"):
                maker = maker()
        maker = getattr(maker, part, None)
        if maker is None:
            break
    if isinstance(maker, nn.Module):  # made when the module was imported
        return partial(deepcopy, maker)
    if callable(maker):
        return maker
    known = getattr(inside, "__dict__", {}).items()
    own = [one for one, value in known if getattr(value, "__module__", None) == module.__name__]
    raise LookupError(f"it defines no {name!r}; {did_you_mean(part, own, 'it has')}")


@contextmanager
def noting(advice: str) -> Iterator[None]:
    """Add what to do to an error of code that is run."""
    try:
        yield
    except Exception as error:
        error.add_note(advice)
        raise


_USE_CONV = "use_conv"


def make_block(block: OwnBlock, path: str, mlp: Mlp, reading: AnyReading | None) -> nn.Module:
    """Call the class of a block for one MLP of a host, on the current default device.

    It gets `in_features`, `hidden_features` and `out_features` of the MLP, and `use_conv` where it takes that; then its
    answers in the reading, and the spec's arguments, which win. Raises UntrustedError where its code may not be run,
    and BuildError, with file and line, where it fails.
    """
    answers = block.answers(reading if isinstance(reading, BlockReading) else None)
    with _placing_errors(block) as folder:
        maker = take_maker(import_below(folder, block.file, (), ()).module, block.name)
    given = {**_sizes(maker, block, path, mlp), **answers, **block.arguments}
    with _placing_errors(block):
        made = make_module(lambda: maker(**given))
    made = check_module(block.file, block.name, made)
    _check_what_it_returns(block, made, path, mlp)
    return made.train(mlp.training)


def _first_layer(mlp: Mlp) -> nn.Linear | nn.Conv2d:
    """Return an MLP's first layer; SwiGLU has two of one size."""
    first: nn.Linear | nn.Conv2d = mlp.fc1_g if isinstance(mlp, SwiGLU) else mlp.fc1
    return first


def _sizes(maker: Callable[..., object], block: OwnBlock, path: str, mlp: Mlp) -> Mapping[str, AxisValue]:
    """Return the sizes of the MLP that the signature of the class takes."""
    first = _first_layer(mlp)
    hidden, width = first.weight.shape[:2]
    sizes = {"in_features": width, "hidden_features": hidden, "out_features": mlp.fc2.weight.shape[0]}
    of_maps = isinstance(first, nn.Conv2d)
    known = inspect.signature(maker).parameters
    takes_any = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in known.values())
    if of_maps and not takes_any and _USE_CONV not in known:
        raise BuildError(
            f"{block.file}: the MLP at {path} works on feature maps, (batch, channels, height, width); "
            f"let {block.name} take {_USE_CONV}, which is true there"
        )
    told = {**sizes, **({_USE_CONV: of_maps} if of_maps or _USE_CONV in known else {})}
    return {name: value for name, value in told.items() if takes_any or name in known}


def _check_what_it_returns(block: OwnBlock, made: nn.Module, path: str, mlp: Mlp) -> None:
    """Let a block's forward pass fail where its output has another shape than the MLP's; a sum would hide that."""
    forward, out = _own_forward(made), mlp.fc2.weight.shape[0]
    channels = 1 if isinstance(_first_layer(mlp), nn.Conv2d) else -1

    def checked(itself: nn.Module, x: Tensor, *rest: object, **named: object) -> Tensor:
        y = forward(itself, x, *rest, **named)
        shape = list(x.shape)
        shape[channels] = out
        if not isinstance(y, Tensor) or list(y.shape) != shape:
            what = list(y.shape) if isinstance(y, Tensor) else type(y).__name__
            raise BuildError(f"{block.file}: {block.name} returns {what} at {path}, but its host needs {shape}")
        return y

    made.forward = MethodType(checked, made)  # a method of the instance, so that a copy of the block runs itself
