"""Blocks of a user's own in place of MLPs. Their code is run here and nowhere else."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import MethodType

from timm.layers import Mlp, SwiGLU
from torch import Tensor, nn

from imlp_audit.errors import BuildError, UntrustedError
from imlp_audit.models.declared_axes import AxisValue
from imlp_audit.models.nets.inputs import make_module
from imlp_audit.models.nets.python import describe_error, find_maker
from imlp_audit.models.own_axes import BlockReading
from imlp_audit.models.own_block import OwnBlock
from imlp_audit.models.reading import AnyReading
from imlp_audit.processes.streams import print_to_stderr

_USE_CONV = "use_conv"


def make_block(block: OwnBlock, path: str, mlp: Mlp, reading: AnyReading | None) -> nn.Module:
    """Call the class of a block for one MLP of a host, on the current default device.

    It gets `in_features`, `hidden_features` and `out_features` of the MLP, and `use_conv` where it takes that; then its
    answers in the reading, and the spec's arguments, which win. Raises UntrustedError where its code may not be run,
    and BuildError, with file and line, where it fails.
    """
    if not block.may_run:
        raise UntrustedError(
            f"the block in {block.file} was not built, because its code is not trusted; pass --trust-code"
        )
    answers = block.answers(reading if isinstance(reading, BlockReading) else None)
    try:
        with print_to_stderr():
            maker = find_maker(block)
            given = {**_sizes(maker, block, path, mlp), **answers, **block.arguments}
            made = make_module(lambda: maker(**given))
    except BuildError:
        raise
    except Exception as error:  # whatever the code raises is the model's failure
        raise BuildError(describe_error(block, error)) from error
    if not isinstance(made, nn.Module):
        raise BuildError(f"{block.file}: {block.name} returns {type(made).__name__}, not a torch.nn.Module")
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
    own, out = vars(made).get("forward"), mlp.fc2.weight.shape[0]
    channels = 1 if isinstance(_first_layer(mlp), nn.Conv2d) else -1

    def checked(itself: nn.Module, x: Tensor, *rest: object, **named: object) -> Tensor:
        with print_to_stderr():
            y = own(x, *rest, **named) if own is not None else type(itself).forward(itself, x, *rest, **named)
        shape = list(x.shape)
        shape[channels] = out
        if not isinstance(y, Tensor) or list(y.shape) != shape:
            what = list(y.shape) if isinstance(y, Tensor) else type(y).__name__
            raise BuildError(f"{block.file}: {block.name} returns {what} at {path}, but its host needs {shape}")
        return y

    made.forward = MethodType(checked, made)  # a method of the instance, so that a copy of the block runs itself
