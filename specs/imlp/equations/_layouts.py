"""The whole IMLP of Fig. 4 (b) on a small grid, in every layout that a host may have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import product

import torch
from torch import Tensor

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.functions import gelu
from imlp_audit.equations.matrix import RoundedMatrix
from imlp_audit.equations.rounded import Rounded, total
from imlp_audit.equations.strategies import Matrix, Vector, matrices, nonzero, vectors
from imlp_audit.models.imlp import Imlp
from imlp_audit.models.reading import PRINTED

from ._agelu import Coefficients, coefficients
from ._dw_block import EPS, Norm, load_norms, norms


class Layout(StrEnum):
    """How a host lays out its features."""

    TOKENS = "tokens"
    CLASS_TOKEN = "tokens after a class token"
    CHANNELS_LAST = "channels last"
    CHANNELS_FIRST = "channels first"


@dataclass(frozen=True)
class Fig4:
    """H x W positions of C numbers, row by row, a class token, and the numbers of an IMLP of C'/2 hidden units."""

    layout: Layout
    size: tuple[int, int]
    x: Matrix
    token: Vector
    wd: Matrix
    bd: Vector
    first: Coefficients
    second: Coefficients
    a: tuple[Matrix, ...]
    norms: tuple[Norm, ...]
    we: Matrix
    be: Vector

    def sizes(self) -> Mapping[str, int | str]:
        """Return the layout, and the sizes by the paper's symbols."""
        grid = " x ".join(map(str, self.size))
        return {"C": len(self.wd), "C'": len(self.we), "grid": grid, "layout": self.layout.value}

    @property
    def rows(self) -> Matrix:
        """What comes in, one row for each token."""
        return (self.token, *self.x) if self.layout is Layout.CLASS_TOKEN else self.x

    def module(self, arithmetic: Arithmetic) -> Imlp:
        """Return the package's IMLP with these numbers."""
        first = self.layout is Layout.CHANNELS_FIRST
        prefix = 1 if self.layout is Layout.CLASS_TOKEN else 0
        module = Imlp(len(self.wd), len(self.bd), use_conv=first, grid=self.size, prefix_tokens=prefix, reading=PRINTED)
        arithmetic.place(module)
        numbers: dict[str, object] = {
            "fc1.weight": tuple(zip(*self.wd, strict=True)), "fc1.bias": self.bd,
            "fc2.weight": tuple(zip(*self.we, strict=True)), "fc2.bias": self.be,
            "spatial.conv.weight": tuple((kernel,) for kernel in self.a), "spatial.norm.num_batches_tracked": 0,
        }  # fmt: skip
        for name, agelu in (("act.agelu1", self.first), ("act.agelu2", self.second)):
            numbers |= {f"{name}.{key}": value for key, value in agelu.shown().items()}
        zeros = (0.0,) * len(self.a)
        numbers |= {f"spatial.norm.{key}": zeros for key in ("weight", "bias", "running_mean", "running_var")}
        for name in ("fc1.weight", "fc2.weight") if first else ():
            weight = tuple(zip(*(self.wd if name == "fc1.weight" else self.we), strict=True))
            numbers[name] = tuple(tuple(((entry,),) for entry in row) for row in weight)
        arithmetic.load(module, numbers)
        assert module.spatial is not None
        load_norms(self.norms, module.spatial.norm, arithmetic)
        return module.eval()

    def output(self, arithmetic: Arithmetic) -> Tensor:
        """Return what the package's IMLP makes of x, the second of a batch of two, one row for each token."""
        tokens, module = arithmetic.tensor(self.rows), self.module(arithmetic)
        batch = torch.stack((tokens.flip(0) + 1, tokens))
        y: Tensor
        match self.layout:
            case Layout.TOKENS | Layout.CLASS_TOKEN:
                y = module(batch)
            case Layout.CHANNELS_LAST:
                y = module(batch.reshape(2, *self.size, -1))
            case Layout.CHANNELS_FIRST:
                y = module(batch.reshape(2, *self.size, -1).permute(0, 3, 1, 2)).permute(0, 2, 3, 1)
        return y.reshape(batch.shape)[1]

    def printed(self, arithmetic: Arithmetic) -> RoundedMatrix:
        """Return FC(DWBlock(concat(AGeLU(t), AGeLU'(t)))), t = FC(x), where a class token passes the DW block by."""
        rows = arithmetic.matrix(self.rows) @ arithmetic.matrix(self.wd)
        hidden = [[t + b for t, b in zip(row, self.bd, strict=True)] for row in rows]
        bent = [self.first.written(t, gelu) + self.second.written(t, gelu) for t in hidden]
        prefix, grid = bent[: -len(self.x)], bent[-len(self.x) :]
        enhanced = RoundedMatrix([*prefix, *(self._enhanced(grid, h, w, arithmetic) for h, w in self._places())])
        projected = enhanced @ arithmetic.matrix(self.we)
        return RoundedMatrix([y + b for y, b in zip(row, self.be, strict=True)] for row in projected)

    def _places(self) -> list[tuple[int, int]]:
        return list(product(range(self.size[0]), range(self.size[1])))

    def _enhanced(self, grid: list[list[Rounded]], h: int, w: int, arithmetic: Arithmetic) -> list[Rounded]:
        """Return GeLU of the norm of the convolution at (h, w), channel by channel."""
        taps = [(i, j) for i, j in self._places() if abs(i - h) <= 1 and abs(j - w) <= 1]
        sums = [
            total(arithmetic.number(kernel[i - h + 1][j - w + 1]) * grid[i * self.size[1] + j][c] for i, j in taps)
            for c, kernel in enumerate(self.a)
        ]
        return [gelu(norm.of(y, EPS, arithmetic)) for y, norm in zip(sums, self.norms, strict=True)]

    def shown(self) -> dict[str, object]:
        """Return the symbols that a counterexample shows."""
        fcs = {"W^d": self.wd, "b^d": self.bd, "W^e": self.we, "b^e": self.be, "a": self.a, "norms": self.norms}
        inputs = {"layout": self.layout.value, "(H, W)": self.size, "x": self.x, "class token": self.token}
        return {**inputs, **fcs, **self.first.shown(), **self.second.shown("'")}


def imlps() -> st.Strategy[Fig4]:
    """IMLPs of C = C' = 2 with 3 x 3 kernels, on grids of 2 x 3, 3 x 2 and 1 x 2 positions."""

    def on(size: tuple[int, int]) -> st.Strategy[Fig4]:
        pair, agelus, kernels = vectors(2), coefficients(1), st.tuples(*[matrices(3, 3, nonzero())] * 2)
        table, layouts = matrices(size[0] * size[1], 2), st.sampled_from(Layout)
        weights = (
            matrices(2, 1, nonzero()),
            vectors(1),
            agelus,
            agelus,
            kernels,
            norms(2),
            matrices(2, 2, nonzero()),
            pair,
        )
        return st.builds(Fig4, layouts, st.just(size), table, pair, *weights)

    return st.sampled_from(((2, 3), (3, 2), (1, 2))).flatmap(on)
