"""What the parts of a network compute as they are printed, in rounded numbers. Patches are the rows of a matrix X.

LayerNorm's epsilon is CaiT's, 1e-6, and BatchNorm's the usual 1e-5: the text names none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.functions import Activation, gelu, hard_swish, relu, silu
from imlp_audit.equations.functions_norm import layer_norm
from imlp_audit.equations.matrix import RoundedMatrix, add, dot
from imlp_audit.equations.rounded import Rounded, total
from imlp_audit.models.hosts.resmlp import Communication, Nonlinearity, Norm
from imlp_audit.models.reading import ResMlpForm

from ._network import Nested, Network

Column = list[Rounded]
Batch = list[RoundedMatrix]  # of each image, the patches by the channels
Map = Callable[[Column], Column]

ACTIVATIONS: Mapping[Nonlinearity, Activation] = {
    Nonlinearity.GELU: gelu,
    Nonlinearity.SILU: silu,
    Nonlinearity.HARD_SWISH: hard_swish,
    Nonlinearity.RELU: relu,
}


@dataclass(frozen=True)
class Weights:
    """The weights below a name; each is a matrix with a row for each output."""

    values: Mapping[str, RoundedMatrix]
    name: str = ""

    @staticmethod
    def of(values: Mapping[str, Nested], arithmetic: Arithmetic) -> Weights:
        """Return weights as exact numbers."""
        return Weights({name: arithmetic.matrix([_flat(row) for row in _rows(each)]) for name, each in values.items()})

    def below(self, name: str) -> Weights:
        """Return those of a part."""
        return replace(self, name=f"{self.name}{name}.")

    def has(self, name: str) -> bool:
        """Whether there is one of this name."""
        return f"{self.name}{name}" in self.values

    def matrix(self, name: str) -> RoundedMatrix:
        """Return one of them."""
        return self.values[f"{self.name}{name}"]

    def vector(self, name: str) -> Column:
        """Return its numbers, output by output."""
        return [number for row in self.matrix(name) for number in row]


def _rows(values: Nested) -> list[Nested]:
    return values if isinstance(values, list) else [values]


def _flat(values: Nested) -> list[float]:
    return [number for value in values for number in _flat(value)] if isinstance(values, list) else [values]


def affine(weights: Weights, name: str = "") -> Map:
    """Return the map W x + b, or W x where there is no b."""
    below = weights.below(name) if name else weights
    matrix, bias = below.matrix("weight"), below.vector("bias") if below.has("bias") else None
    return lambda x: matrix @ x if bias is None else add(matrix @ x, bias)


@dataclass(frozen=True)
class Formula:
    """The printed formulas, for the parts that a network has."""

    net: Network
    training: bool = False

    def layer(self, batch: Batch, weights: Weights) -> Batch:
        """Apply Eq. 2, unless nothing exchanges information between patches, and then Eq. 3."""
        if self.net.one_sublayer:
            return self.residual(batch, self.mlp(weights.below("across_channels")), weights, "pre", "post")
        exchange = self.communication(weights.below("across_patches"))
        batch = self.residual(batch, exchange, weights, "pre1", "post1")
        return self.residual(batch, self.mlp(weights.below("across_channels")), weights, "pre2", "post2")

    def residual(
        self, batch: Batch, part: Callable[[RoundedMatrix], RoundedMatrix], weights: Weights, pre: str, post: str
    ) -> Batch:
        """X + post(part(pre(X)))."""
        normal, scaled = self.normal(batch, weights.below(pre)), scale(weights.below(post))
        return [(x + part(read).map_rows(scaled)).map(settle) for x, read in zip(batch, normal, strict=True)]

    def mlp(self, weights: Weights) -> Callable[[RoundedMatrix], RoundedMatrix]:
        """C GELU(B x + b) + c of each row."""
        first, last, activation = affine(weights, "b"), affine(weights, "c"), ACTIVATIONS[self.net.nonlinearity]
        return lambda x: x.map_rows(lambda row: last([activation(number) for number in first(row)]))

    def communication(self, weights: Weights) -> Callable[[RoundedMatrix], RoundedMatrix]:
        """Return what exchanges information between patches."""
        match self.net.communication:
            case Communication.LINEAR:
                return lambda x: x.T.map_rows(affine(weights, "a")).T
            case Communication.MLP:
                mlp = self.mlp(weights.below("mlp"))
                return lambda x: mlp(x.T).T
            case Communication.NONE:
                return lambda x: x
            case Communication.CONV | Communication.DEPTHWISE:
                return self.convolution(weights.below("convolutions.0"))
            case Communication.SEPARABLE:
                depthwise = self.convolution(weights.below("convolutions.0"))
                return lambda x: depthwise(x).map_rows(affine(weights, "convolutions.1"))

    def convolution(self, weights: Weights) -> Callable[[RoundedMatrix], RoundedMatrix]:
        """For each patch, the sum over its 3 x 3 neighbours: of all channels, or of its own, of a kernel for each."""
        (height, width), kernels = self.net.grid, weights.matrix("weight")
        bias = weights.vector("bias") if weights.has("bias") else None
        around = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1)]

        def at(x: RoundedMatrix, h: int, w: int, channel: int) -> Rounded:
            kernel = kernels[channel]
            sources = range(self.net.width) if len(kernel) == 9 * self.net.width else [channel]
            summed = total(
                x[(h + i) * width + w + j][source] * kernel[9 * place + 3 * (i + 1) + j + 1]
                for place, source in enumerate(sources)
                for i, j in around
                if 0 <= h + i < height and 0 <= w + j < width
            )
            return summed if bias is None else summed + bias[channel]

        return lambda x: RoundedMatrix(
            [at(x, h, w, channel) for channel in range(len(kernels))] for h in range(height) for w in range(width)
        )

    def average(self, batch: Batch, weights: Weights) -> Batch:
        """Return the mean of the patches; of Algorithm 1, with Aff before it."""
        if self.net.form is ResMlpForm.ALGORITHM:
            batch = self.normal(batch, weights.below("0"))
        return [RoundedMatrix([[mean(channel) for channel in x.T]]) for x in batch]

    def class_layer(self, batch: Batch, weights: Weights) -> Batch:
        """Update the class token, the first row, by a linear layer of all rows and then by an MLP of it alone."""
        normal, aggregate = self.normal(batch, weights.below("pre1")), affine(weights, "aggregate")
        first = scale(weights.below("post1"))
        tokens = [
            RoundedMatrix([add(x[0], first([aggregate(channel)[0] for channel in read.T]))])
            for x, read in zip(batch, normal, strict=True)
        ]
        tokens = self.residual(tokens, self.mlp(weights.below("mlp")), weights, "pre2", "post2")
        return [RoundedMatrix([token[0], *x[1:]]) for token, x in zip(tokens, batch, strict=True)]

    def normal(self, batch: Batch, weights: Weights) -> Batch:
        """Apply what stands before a sublayer to each row: Aff, or what stands in its place."""
        match self.net.norm:
            case Norm.AFF:
                return [x.map_rows(scale(weights)) for x in batch]
            case Norm.LAYER:
                weight, bias = weights.vector("weight"), weights.vector("bias")
                return [x.map_rows(lambda row: layer_norm(row, 1e-6, weight, bias)).map(settle) for x in batch]
            case Norm.L2:
                return [x.map_rows(unit_length) for x in batch]
            case Norm.BATCH:
                return batch_norm(batch, weights) if self.training else [x.map_rows(running(weights)) for x in batch]


def scale(weights: Weights) -> Map:
    """Diag(alpha) x + beta, or Diag(alpha) x where there is no beta."""
    alpha, beta = weights.vector("alpha"), weights.vector("beta") if weights.has("beta") else None

    def scaled(x: Column) -> Column:
        scaled = [a * number for a, number in zip(alpha, x, strict=True)]
        return scaled if beta is None else add(scaled, beta)

    return scaled


def settle(number: Rounded) -> Rounded:
    """Take a number's whole error for one that came in, so that bounds on what follows grow less."""
    return number.through(itself, 1.0, 0.0)


def itself(x: float) -> float:
    """Return the number."""
    return x


def mean(numbers: Sequence[Rounded]) -> Rounded:
    """Return the mean; a sum, a rounded 1 / n and a product."""
    return rounded(1 / len(numbers), 1, numbers[0].unit) * total(numbers)


def rounded(value: float, steps: int, unit: float) -> Rounded:
    """Return a number that was rounded so often."""
    return Rounded(value, abs(value), steps, 0.0, unit)


def unit_length(x: Column) -> Column:
    """x / ||x||_2."""
    norm = dot(x, x).square_root()
    least = norm.value - norm.error
    reciprocal = norm.through(lambda value: 1 / value, 1 / least**2, 4 * norm.unit / least)
    return [number * reciprocal for number in x]


def batch_norm(batch: Batch, weights: Weights) -> Batch:
    """Normalise each channel over all patches of all images."""
    weight, bias = weights.vector("weight"), weights.vector("bias")
    channels = list(zip(*(row for x in batch for row in x), strict=True))
    normal = [[n * w + b for n in layer_norm(x, 1e-5)] for x, w, b in zip(channels, weight, bias, strict=True)]
    rows, patches = list(zip(*normal, strict=True)), len(batch[0])
    return [RoundedMatrix(rows[start : start + patches]) for start in range(0, len(rows), patches)]


def running(weights: Weights) -> Map:
    """Normalise each channel by its running mean and variance: twelve roundings of the root's reciprocal."""
    mean, weight, bias = weights.vector("running_mean"), weights.vector("weight"), weights.vector("bias")
    roots = [rounded(1 / sqrt(n.value + 1e-5), 12, n.unit) for n in weights.vector("running_var")]
    return lambda x: [
        (number - m) * root * w + b for number, m, root, w, b in zip(x, mean, roots, weight, bias, strict=True)
    ]
