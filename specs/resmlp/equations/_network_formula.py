"""What the parts of a network compute as they are printed, in rounded numbers. Patches are the rows of a matrix X."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from imlp_audit.equations.functions import Activation, gelu, hard_swish, relu, silu
from imlp_audit.equations.matrix import RoundedMatrix, add
from imlp_audit.equations.rounded import Rounded, total
from imlp_audit.models.blocks import Communication, Nonlinearity, Norm
from imlp_audit.models.reading import ResMlpForm

from ._network import Network
from ._network_norms import Batch, batch_norm, mean, over_channels, running, settle, unit_length
from ._network_weights import Column, Weights, affine, scale

ACTIVATIONS: Mapping[Nonlinearity, Activation] = {
    Nonlinearity.GELU: gelu,
    Nonlinearity.SILU: silu,
    Nonlinearity.HARD_SWISH: hard_swish,
    Nonlinearity.RELU: relu,
}


@dataclass(frozen=True)
class Formula:
    """The printed formulas, for the parts that a network has."""

    net: Network
    training: bool = False

    def embedded(self, batch: Batch, _: Weights) -> Batch:
        """Return what enters the first layer: the projected patches."""
        return batch

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
        """Update the class token, the first row, by one token made of all rows and then by an MLP of it alone."""
        normal, aggregate = self.normal(batch, weights.below("pre1")), self.aggregate(weights.below("aggregate"))
        first = scale(weights.below("post1"))
        tokens = [RoundedMatrix([add(x[0], first(aggregate(read)))]) for x, read in zip(batch, normal, strict=True)]
        tokens = self.residual(tokens, self.mlp(weights.below("mlp")), weights, "pre2", "post2")
        return [RoundedMatrix([token[0], *x[1:]]) for token, x in zip(tokens, batch, strict=True)]

    def aggregate(self, weights: Weights) -> Callable[[RoundedMatrix], Column]:
        """One linear layer of all tokens, for each channel."""
        linear = affine(weights)
        return lambda x: [linear(channel)[0] for channel in x.T]

    def normal(self, batch: Batch, weights: Weights) -> Batch:
        """Apply what stands before a sublayer to each row: Aff, or what stands in its place."""
        match self.net.norm:
            case Norm.AFF:
                return [x.map_rows(scale(weights)) for x in batch]
            case Norm.LAYER:
                return [x.map_rows(over_channels(weights)) for x in batch]
            case Norm.L2:
                return [x.map_rows(unit_length) for x in batch]
            case Norm.BATCH:
                return batch_norm(batch, weights) if self.training else [x.map_rows(running(weights)) for x in batch]
