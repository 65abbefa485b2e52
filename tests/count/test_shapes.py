"""Results by arithmetic are those of torch's own shape functions, on sizes down to 0 and 1, or there are none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch._ops import OpOverload

from imlp_audit.count.dispatch import RULES, result_by_arithmetic

ATEN = torch.ops.aten
Arguments = tuple[tuple[object, ...], Mapping[str, object]]
Given = tuple[OpOverload, Callable[[Random], Arguments]]


def tensor(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.empty(shape, dtype=dtype, device="meta")


def shape_of(random: Random, least: int, most: int = 5) -> list[int]:
    return [random.choice((0, 1, 1, 2, 3, 7)) for _ in range(random.randint(least, most))]


def optional(random: Random, *shape: int) -> Tensor | None:
    return random.choice((None, tensor(*shape)))


def linear(random: Random) -> Arguments:
    *batch, width = shape_of(random, 1)
    out = random.choice((0, 1, 5))
    return (tensor(*batch, width), tensor(out, width), optional(random, out)), {}


def conv2d(random: Random) -> Arguments:
    groups, inputs, outputs = (random.choice((1, 1, 2, 3)) for _ in range(3))
    kernel = random.choice(((1, 1), (3, 3), (1, 5)))
    x = tensor(random.randint(1, 2), groups * inputs, random.randint(1, 9), random.randint(1, 9))
    sizes = [random.choice(([1], [2], [1, 3], [3, 2])) for _ in range(3)]
    stride, padding, dilation = sizes[0], random.choice((sizes[1], [0], [0, 1])), random.choice(([1], sizes[2]))
    given = stride, padding, dilation, groups
    weight, bias = tensor(groups * outputs, inputs, *kernel), optional(random, groups * outputs)
    return (x, weight, bias, *given[: 4 if groups > 1 else random.randint(0, 4)]), {}


def layer_norm(random: Random) -> Arguments:
    shape = shape_of(random, 1)
    own = shape[random.randrange(len(shape)) :]
    return (tensor(*shape), own, optional(random, *own), optional(random, *own), 1e-5), {}


def batch_norm(random: Random) -> Arguments:
    shape = [random.randint(1, 3), random.randint(1, 4), *(random.randint(1, 4) for _ in range(random.randint(0, 3)))]
    channels, training = shape[1], random.random() < 0.3
    statistics = tensor(channels), tensor(channels)
    affine = optional(random, channels), optional(random, channels)
    return (tensor(*shape), *affine, *statistics, training, 0.1, 1e-5, False), {}


def activation(random: Random) -> Arguments:
    return (tensor(*shape_of(random, 0)),), {}


def elementwise(random: Random) -> Arguments:
    shape = shape_of(random, 0)
    other = [random.choice((1, extent)) for extent in shape][random.randint(0, len(shape)) :]
    first, second = random.sample((tensor(*shape), tensor(*other)), 2)
    return (first, second if random.random() < 0.7 else random.choice((2, 0.5, True))), {}


GIVEN: Mapping[str, Given] = {
    "aten::linear": (ATEN.linear.default, linear),
    "aten::conv2d": (ATEN.conv2d.default, conv2d),
    "aten::layer_norm": (ATEN.layer_norm.default, layer_norm),
    "aten::batch_norm": (ATEN.batch_norm.default, batch_norm),
    "aten::gelu": (ATEN.gelu.default, activation),
    "aten::relu": (ATEN.relu.default, activation),
    "aten::silu": (ATEN.silu.default, activation),
    "aten::sigmoid": (ATEN.sigmoid.default, activation),
    "aten::tanh": (ATEN.tanh.default, activation),
    "aten::add": (ATEN.add.Tensor, elementwise),
    "aten::sub": (ATEN.sub.Tensor, elementwise),
    "aten::mul": (ATEN.mul.Tensor, elementwise),
    "aten::div": (ATEN.div.Tensor, elementwise),
}


def layout(value: object) -> tuple[object, ...]:
    assert isinstance(value, Tensor)
    return tuple(value.shape), value.stride(), value.dtype, value.device


@pytest.mark.parametrize("name", RULES)
def test_results_are_those_of_torch(name: str) -> None:
    func, draw = GIVEN[name]
    random, decided = Random(name), 0
    for _ in range(200):
        args, kwargs = draw(random)
        with torch.inference_mode():
            found = result_by_arithmetic(func, args, kwargs)
            if found is not None:
                decided += 1
                assert layout(found) == layout(func(*args, **kwargs)), args
    assert decided > 50


X = tensor(2, 3, 4)
IMAGES = tensor(2, 3, 8, 8)


@pytest.mark.parametrize(
    ("func", "args"),
    [
        (ATEN.linear.default, (X, tensor(5, 3))),
        (ATEN.linear.default, (X, tensor(5, 4), tensor(4))),
        (ATEN.conv2d.default, (IMAGES, tensor(5, 2, 3, 3))),
        (ATEN.layer_norm.default, (X, [3], None, None, 1e-5)),
        (ATEN.layer_norm.default, (X, [4], tensor(3), None, 1e-5)),
        (ATEN.batch_norm.default, (X, tensor(4), None, tensor(3), tensor(3), False, 0.1, 1e-5, False)),
        (ATEN.add.Tensor, (X, tensor(3, 3))),
    ],
)
def test_arguments_that_do_not_fit_are_left_to_torch(func: OpOverload, args: tuple[object, ...]) -> None:
    assert result_by_arithmetic(func, args, {}) is None
    with torch.inference_mode(), pytest.raises((RuntimeError, ValueError)):
        func(*args)


@pytest.mark.parametrize(
    ("func", "args", "kwargs"),
    [
        (ATEN.conv2d.default, (IMAGES, tensor(4, 1, 1, 1), None, [1], [0], [1], 3), {}),
        (ATEN.conv2d.default, (IMAGES, tensor(5, 3, 9, 9)), {}),
        (ATEN.conv2d.default, (IMAGES, tensor(5, 3, 3, 3), tensor(3)), {}),
        (ATEN.conv2d.default, (IMAGES.mT, tensor(5, 3, 3, 3)), {}),
        (ATEN.conv2d.default, (IMAGES[0], tensor(5, 3, 3, 3)), {}),
        (ATEN.conv2d.padding, (IMAGES, tensor(5, 3, 3, 3), None, [1], "same"), {}),
        (ATEN.gelu.default, (X.mT,), {}),
        (ATEN.add.Tensor, (X, X.double()), {}),
        (ATEN.add.Tensor, (X.long(), 0.5), {}),
        (ATEN.mul.Tensor, (X, 1j), {}),
        (ATEN.mul.Tensor, (X, torch.tensor(2.0)), {}),
        (ATEN.add.out, (X, X), {"out": tensor(2, 3, 4)}),
        (ATEN.batch_norm.default, (X, None, None, tensor(3), tensor(3), True, 0.1, 1e-5, False), {}),
    ],
)
def test_unusual_arguments_are_left_to_torch(
    func: OpOverload, args: tuple[object, ...], kwargs: Mapping[str, object]
) -> None:
    assert result_by_arithmetic(func, args, kwargs) is None


@given(sizes=st.lists(st.integers(1, 4), min_size=5, max_size=5), side=st.sampled_from([1, 3]), depthwise=st.booleans())
def test_a_convolution_stores_its_images_as_on_the_processor(sizes: list[int], side: int, depthwise: bool) -> None:
    """Torch's meta device does not: a linear layer that follows then adds its bias apart, which ptflops leaves out."""
    batch, channels, out, *image = sizes
    images = torch.zeros(batch, *image, channels).movedim(-1, 1)
    weight = torch.zeros((channels, 1, side, side) if depthwise else (out, channels, side, side))
    rest: tuple[object, ...] = (None, [1, 1], [side // 2] * 2, [1, 1], channels if depthwise else 1)
    ours = result_by_arithmetic(ATEN.conv2d.default, (images.to("meta"), weight.to("meta"), *rest), {})
    real = ATEN.conv2d.default(images, weight, *rest)
    assert ours is not None
    assert (ours.shape, ours.is_contiguous()) == (real.shape, real.is_contiguous())
