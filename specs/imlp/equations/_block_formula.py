"""What an IMLP block computes, written out number by number for any of its arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod

import torch
from torch import Tensor

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, equal
from imlp_audit.equations.functions import Activation, gelu, prelu
from imlp_audit.equations.functions_norm import layer_norm
from imlp_audit.equations.rounded import Rounded, total
from imlp_audit.equations.strategies import Matrix, Vector, matrices, nonzero, numbers, plain, vectors
from imlp_audit.errors import BuildError
from imlp_audit.models.imlp import Imlp
from imlp_audit.models.reading import ConcatNorm, DepthwiseActivation, DepthwiseNorm, Presence

from ._block_cases import Block, Shapes
from ._dw_block import EPS, Norm
from ._layouts import Layout

Row = list[Rounded]


@dataclass(frozen=True)
class Filled:
    """A block, one row of numbers for each position and each token before them, and the numbers of its weights."""

    block: Block
    rows: Matrix
    weights: Mapping[str, Vector]

    def fill(self, module: Imlp, arithmetic: Arithmetic) -> None:
        """Give the package's block these numbers, and put its dropout in training if so asked."""
        arithmetic.place(module)
        for name, values in self.weights.items():
            shaped = arithmetic.tensor(values).reshape(self.block.shapes[name])
            arithmetic.put(module, name, shaped.tolist())
        for dropout in (module.drop1, module.drop2):
            dropout.train(self.block.dropping)

    def computed(self, module: Imlp, arithmetic: Arithmetic) -> Tensor:
        """Return what the package's block makes of the rows, the second of a batch of two, row by row."""
        return self.in_layout(module, arithmetic.tensor(self.rows))

    def in_layout(self, module: Imlp, rows: Tensor) -> Tensor:
        """Return what the block makes of some rows in its layout, the second of a batch of two, row by row."""
        size = self.block.size
        batch = torch.stack((rows.flip(0) + 1, rows))
        y: Tensor
        match self.block.layout:
            case Layout.TOKENS | Layout.CLASS_TOKEN:
                y = module(batch)
            case Layout.CHANNELS_LAST:
                y = module(batch.reshape(2, *size, -1))
            case Layout.CHANNELS_FIRST:
                y = module(batch.reshape(2, *size, -1).permute(0, 3, 1, 2)).permute(0, 2, 3, 1)
        return y.flatten(1, -2)[1]

    def trial(self, arithmetic: Arithmetic) -> Trial:
        """Hold the package's block, and the shapes of its weights, against its formula."""
        try:
            module = self.block.make()
            shapes = {name: tuple(weight.shape) for name, weight in module.state_dict().items()}
            if shapes != self.block.shapes:
                return Trial(False, {**self.shown(), "weights": shapes, "printed": self.block.shapes})
            self.fill(module, arithmetic)
            computed = self.computed(module, arithmetic)
        except BuildError:
            return Trial(not self.block.fits, {**self.shown(), "refused": True})
        if not self.block.fits:
            return Trial(False, {**self.shown(), "refused": False})
        return equal(computed, self.printed(arithmetic), **self.shown())

    def printed(self, arithmetic: Arithmetic) -> list[Row]:
        """Return the rows after the first layer, the channel part, the spatial part and the second layer."""
        block, (drop1, drop2) = self.block, self.block.dropped
        hidden = [
            self._channel(self._layer("fc1", arithmetic.vector(row), arithmetic), arithmetic) for row in self.rows
        ]
        if drop1:
            hidden = [[arithmetic.number(0)] * len(row) for row in hidden]
        if block.spatial:
            prefix, grid = hidden[: block.prefix], hidden[block.prefix :]
            hidden = [*prefix, *self._spatial(grid, arithmetic)]
        rows = [self._output(self._layer("fc2", row, arithmetic), arithmetic) for row in hidden]
        return [[arithmetic.number(0)] * len(row) for row in rows] if drop2 else rows

    def _layer(self, name: str, row: Row, arithmetic: Arithmetic) -> Row:
        """Return W x + b, or W x."""
        weight, width = self.weights[f"{name}.weight"], len(row)
        sums = [
            total(arithmetic.number(w) * x for w, x in zip(weight[start : start + width], row, strict=True))
            for start in range(0, len(weight), width)
        ]
        bias = self.weights.get(f"{name}.bias")
        return sums if bias is None else [y + b for y, b in zip(sums, bias, strict=True)]

    def _channel(self, t: Row, arithmetic: Arithmetic) -> Row:
        """Return the two AGeLUs and the norm behind them, or the activation alone."""
        block = self.block
        if not block.channel:
            return self._bent("act", t)
        if block.plain:
            both = self._bent("act.phi1", t) + self._bent("act.phi2", t)
        else:
            both = self._agelu("act.agelu1", t) + self._agelu("act.agelu2", t)
        if block.norm_layer is not None:
            return [x + float(len(both)) for x in both]
        match block.concat_norm:
            case ConcatNorm.NONE:
                return both
            case ConcatNorm.LAYER:
                return self._layer_norm("act.norm", both, arithmetic)
            case ConcatNorm.BATCH:
                return self._batch_norm("act.norm", both, arithmetic)

    def _spatial(self, grid: list[Row], arithmetic: Arithmetic) -> list[Row]:
        """Return the depthwise block: convolution, norm, activation, and the skip around them."""
        reading, rows = self.block.reading, list[Row]()
        for place, before in enumerate(grid):
            y = [self._convolved(grid, place, c, arithmetic) for c in range(self.block.inner)]
            if reading.depthwise_norm is DepthwiseNorm.BATCH:
                y = self._batch_norm("spatial.norm", y, arithmetic)
            match reading.depthwise_activation:
                case DepthwiseActivation.NONE:
                    pass
                case DepthwiseActivation.GELU:
                    y = [gelu(number) for number in y]
                case DepthwiseActivation.AGELU:
                    y = self._agelu("spatial.act", y)
            skipped = reading.depthwise_skip is Presence.YES
            rows.append([x + z for x, z in zip(before, y, strict=True)] if skipped else y)
        return rows

    def _convolved(self, grid: list[Row], place: int, c: int, arithmetic: Arithmetic) -> Rounded:
        (height, width), side, n = self.block.size, self.block.side, self.block.side // 2
        h, w = divmod(place, width)
        kernel = self.weights["spatial.conv.weight"][c * side**2 : (c + 1) * side**2]
        sums = total(
            arithmetic.number(kernel[(i - h + n) * side + j - w + n]) * grid[i * width + j][c]
            for i in range(max(0, h - n), min(height, h + n + 1))
            for j in range(max(0, w - n), min(width, w + n + 1))
        )
        bias = self.weights.get("spatial.conv.bias")
        return sums if bias is None else sums + bias[c]

    def _output(self, row: Row, arithmetic: Arithmetic) -> Row:
        return self._layer_norm("norm", row, arithmetic) if "norm.weight" in self.weights else row

    def _bent(self, path: str, row: Row) -> Row:
        """Return phi of each number, with the slope of PReLU that this activation has."""
        slope = self.weights.get(f"{path}.weight")
        phi: Activation = self.block.base.rounded if slope is None else partial(prelu, slope=slope[0])
        return [phi(x) for x in row]

    def _agelu(self, path: str, row: Row) -> Row:
        """Return beta phi(alpha x + gamma) + theta; one of each for the layer stands for all."""
        alpha, beta, gamma, theta = (self._of_all(f"{path}.{name}", len(row)) for name in _COEFFICIENTS)
        bent = self._bent(f"{path}.phi", [a * x + c for a, c, x in zip(alpha, gamma, row, strict=True)])
        return [b * y + d for b, d, y in zip(beta, theta, bent, strict=True)]

    def _of_all(self, name: str, width: int) -> Sequence[float]:
        values = self.weights[name]
        return values if len(values) == width else values * width

    def _layer_norm(self, path: str, row: Row, arithmetic: Arithmetic) -> Row:
        weight, bias = (arithmetic.vector(self.weights[f"{path}.{name}"]) for name in ("weight", "bias"))
        return layer_norm(row, EPS, weight, bias)

    def _batch_norm(self, path: str, row: Row, arithmetic: Arithmetic) -> Row:
        each = (self.weights[f"{path}.{name}"] for name in ("weight", "bias", "running_mean", "running_var"))
        norms = map(Norm, *each)
        return [norm.of(y, EPS, arithmetic) for norm, y in zip(norms, row, strict=True)]

    def shown(self) -> dict[str, object]:
        """Return what a counterexample shows."""
        block, reading = self.block, {f"reading.{name}": str(value) for name, value in vars(self.block.reading).items()}
        arguments = {name: value for name, value in block.arguments.items() if name != "reading"}
        sizes = {"layout": block.layout.value, "(H, W)": block.size, "C": block.width}
        return {**sizes, **arguments, **reading, "x": self.rows, **self.weights}


_COEFFICIENTS = ("alpha", "beta", "gamma", "theta")
_VARIANCES = st.sampled_from((1.0, 0.25, 2.0, 2.0**-17))


def _numbers_of(name: str) -> st.Strategy[float]:
    last = name.rpartition(".")[2]
    if last == "num_batches_tracked":
        return st.just(0.0)
    if last == "running_var":
        return _VARIANCES
    return nonzero() if last in ("weight", "alpha", "beta") else numbers()


def _fill(shapes: Shapes) -> st.Strategy[Mapping[str, Vector]]:
    drawn = st.tuples(*[vectors(prod(shape), _numbers_of(name)) for name, shape in shapes.items()])
    return drawn.map(lambda values: dict(zip(shapes, values, strict=True)))


def filled(blocks: st.Strategy[Block]) -> st.Strategy[Filled]:
    """Give blocks an input and their numbers: plain ones, of which single precision holds every product."""

    def fill(block: Block) -> st.Strategy[Filled]:
        rows = block.prefix + block.size[0] * block.size[1]
        return st.builds(Filled, st.just(block), matrices(rows, block.width), _fill(block.shapes))

    return plain(blocks.flatmap(fill))
