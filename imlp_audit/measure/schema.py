"""From torch's calling convention to a Call: arguments under their schema's names, tensors as shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torch import Tensor
from torch._ops import OpOverload

from imlp_audit.measure.call import Argument, Call, Shape


def call_of(func: OpOverload, args: Sequence[object], kwargs: Mapping[str, object], result: object) -> Call:
    """The call that produced `result`; arguments left out have their defaults."""
    parameters = func._schema.arguments
    given = {parameter.name: value for parameter, value in zip(parameters, args, strict=False)} | dict(kwargs)
    arguments = {p.name: _argument(given.get(p.name, p.default_value)) for p in parameters}
    return Call(func._schema.name, arguments, tuple(output_shapes(result)))


def output_shapes(result: object) -> list[Shape]:
    """Shapes of all tensors in a result, in order."""
    if isinstance(result, Tensor):
        return [Shape(result.shape)]
    if isinstance(result, tuple | list):
        return [shape for item in result for shape in output_shapes(item)]
    return []


def _argument(value: object) -> Argument:
    if isinstance(value, Tensor):
        return Shape(value.shape)
    if isinstance(value, tuple | list):
        return tuple(_argument(item) for item in value)
    return value if value is None or isinstance(value, int | float | str) else str(value)
