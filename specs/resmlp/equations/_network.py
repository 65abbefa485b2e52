"""A whole network as the package builds it, small enough to be calculated by hand: its weights and its images."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Any, TypeAlias

from torch import nn

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.draw import Strategy
from imlp_audit.models.blocks import Communication, Nonlinearity, Norm, Pooling
from imlp_audit.models.host import BuildRequest
from imlp_audit.models.hosts import ResMlp
from imlp_audit.models.reading import Presence, ResMlpForm, ResMlpReading

Nested: TypeAlias = "float | list[Nested]"
Shapes: TypeAlias = Iterator[tuple[str, tuple[int, ...]]]

CLASS_LAYERS = 2  # "this consists of two layers"
_WEIGHTS = tuple(sign * eighths / 8 for eighths in range(1, 9) for sign in (1, -1))


@dataclass(frozen=True)
class Network:
    """What a recipe and a reading say of a network, and the seed of its weights and of a batch of two images.

    `expansion` is that of the communication MLP; `grid` is how many patches there are down and across.
    """

    form: ResMlpForm = ResMlpForm.EQUATIONS
    pooling: Pooling = Pooling.AVERAGE
    norm: Norm = Norm.AFF
    nonlinearity: Nonlinearity = Nonlinearity.GELU
    communication: Communication = Communication.LINEAR
    expansion: float | None = None
    scales_stay: bool = False
    grid: tuple[int, int] = (2, 3)
    patch: int = 1
    layers: int = 2
    width: int = 2
    classes: int = 2
    seed: int = 0

    @property
    def size(self) -> tuple[int, int]:
        """The images' height and width."""
        return self.grid[0] * self.patch, self.grid[1] * self.patch

    @property
    def patches(self) -> int:
        """How many patches there are."""
        return self.grid[0] * self.grid[1]

    @property
    def bias(self) -> bool:
        """Whether A, B and C have biases: in Algorithm 1."""
        return self.form is ResMlpForm.ALGORITHM

    @property
    def one_sublayer(self) -> bool:
        """Whether nothing is left of the sublayer that exchanges information between patches."""
        return self.communication is Communication.NONE and not self.scales_stay

    def fresh(self) -> nn.Module:
        """Return the package's network as it starts."""
        host = ResMlp(
            layers=self.layers,
            width=self.width,
            patch=self.patch,
            norm=self.norm,
            pooling=self.pooling,
            communication=self.communication,
            expansion=self.expansion,
            nonlinearity=self.nonlinearity,
        )
        reading = ResMlpReading(self.form, Presence.YES if self.scales_stay else Presence.NO)
        return host.build(BuildRequest(image=self.size, classes=self.classes, reading=reading))

    def module(self, arithmetic: Arithmetic) -> nn.Module:
        """Return the package's network with the case's weights: it must have these, in these shapes, and no others."""
        module = arithmetic.place(self.fresh())
        arithmetic.load(module, self.weights())
        return module

    def shapes(self) -> Shapes:
        """Yield the names and the shapes of the weights."""
        return _shapes(self)

    def exchange(self) -> Shapes:
        """Yield the weights of what exchanges information between patches."""
        return _communication(self)

    def aggregate(self) -> Shapes:
        """Yield the weights of what makes one token of all."""
        return linear("aggregate", (1, 1 + self.patches))

    def weights(self) -> dict[str, Nested]:
        """Return the weights by their names."""
        random = Random(self.seed)
        drawn = {name: filled(shape, random) for name, shape in self.shapes()}
        return {name: _positive(weight) if name.endswith("running_var") else weight for name, weight in drawn.items()}

    def direction(self) -> dict[str, Nested]:
        """Return a direction in which all weights move."""
        return replace(self, seed=self.seed + 1000).weights()

    def images(self) -> Nested:
        """Return two images of three colours."""
        return filled((2, 3, *self.size), Random(-1 - self.seed))

    def shown(self) -> dict[str, object]:
        """Return what a counterexample shows: what is not as in the simplest network, and the weights' seed."""
        simplest = vars(type(self)())
        return {name: value for name, value in vars(self).items() if value != simplest[name] or name == "seed"}


def filled(shape: tuple[int, ...], random: Random) -> Nested:
    if not shape:
        return random.choice(_WEIGHTS)
    return [filled(shape[1:], random) for _ in range(shape[0])]


def _positive(values: Nested) -> Nested:
    return [_positive(value) for value in values] if isinstance(values, list) else abs(values)


def networks(**choices: Strategy[Any]) -> Strategy[Network]:
    """Networks whose parts are drawn by their names; the others are the simplest."""
    return st.builds(Network, **choices)


def _shapes(net: Network) -> Shapes:
    yield "stem.proj.weight", (net.width, 3, net.patch, net.patch)
    yield "stem.proj.bias", (net.width,)
    for layer in range(net.layers):
        yield from below(f"blocks.{layer}", _bag(net) if net.one_sublayer else _layer(net))
    if net.pooling is Pooling.CLASS_MLP:
        yield "pool.token", (net.width,)
        for layer in range(CLASS_LAYERS):
            yield from below(f"pool.layers.{layer}", _class_layer(net))
    if net.form is ResMlpForm.ALGORITHM:
        last = "pool.0" if net.pooling is Pooling.AVERAGE else f"pool.layers.{CLASS_LAYERS}"
        yield from below(last, _norm(net))
    yield "head.weight", (net.classes, net.width)
    yield "head.bias", (net.classes,)


def below(prefix: str, parts: Shapes) -> Shapes:
    """Yield the weights of a part."""
    return ((f"{prefix}.{name}", shape) for name, shape in parts)


def _layer(net: Network) -> Shapes:
    yield from below("pre1", _norm(net))
    yield from below("across_patches", net.exchange())
    yield from below("post1", _post(net))
    yield from below("pre2", _norm(net))
    yield from below("across_channels", _mlp(net.width, 4, bias=net.bias))
    yield from below("post2", _post(net))


def _bag(net: Network) -> Shapes:
    yield from below("pre", _norm(net))
    yield from below("across_channels", _mlp(net.width, 4, bias=net.bias))
    yield from below("post", _post(net))


def _class_layer(net: Network) -> Shapes:
    yield from below("pre1", _norm(net))
    yield from net.aggregate()
    yield "post1.alpha", (net.width,)
    yield from below("pre2", _norm(net))
    yield from below("mlp", _mlp(net.width, 4, bias=True))
    yield "post2.alpha", (net.width,)


def _communication(net: Network) -> Shapes:
    width = net.width
    match net.communication:
        case Communication.LINEAR:
            yield from linear("a", (net.patches, net.patches), bias=net.bias)
        case Communication.MLP:
            expansion = 4 if net.expansion is None else net.expansion
            yield from below("mlp", _mlp(net.patches, expansion, bias=net.bias))
        case Communication.CONV:
            yield from linear("convolutions.0", (width, width, 3, 3), bias=net.bias)
        case Communication.DEPTHWISE | Communication.SEPARABLE:
            yield from linear("convolutions.0", (width, 1, 3, 3), bias=net.bias)
    if net.communication is Communication.SEPARABLE:
        yield from linear("convolutions.1", (width, width, 1, 1), bias=net.bias)


def _mlp(width: int, expansion: float, *, bias: bool) -> Shapes:
    hidden = int(expansion * width)
    yield from linear("b", (hidden, width), bias=bias)
    yield from linear("c", (width, hidden), bias=bias)


def linear(name: str, shape: tuple[int, ...], *, bias: bool = True) -> Shapes:
    """Yield a matrix, and its bias if it has one."""
    yield f"{name}.weight", shape
    if bias:
        yield f"{name}.bias", shape[:1]


def _post(net: Network) -> Shapes:
    yield "alpha", (net.width,)
    if net.form is ResMlpForm.EQUATIONS:
        yield "beta", (net.width,)


def _norm(net: Network) -> Shapes:
    names = {
        Norm.AFF: ("alpha", "beta"),
        Norm.LAYER: ("weight", "bias"),
        Norm.BATCH: ("weight", "bias", "running_mean", "running_var"),
        Norm.L2: (),
    }
    yield from ((name, (net.width,)) for name in names[net.norm])
    if net.norm is Norm.BATCH:
        yield "num_batches_tracked", ()
