"""A network of patches, blocks and a classifier, for images of two pixels, each of them a patch, and two classes."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.functions_norm import layer_norm
from imlp_audit.equations.matrix import add
from imlp_audit.equations.mixer import EPSILON, fill
from imlp_audit.equations.rounded import Rounded, total
from imlp_audit.equations.strategies import Matrix, Vector, matrices, nonzero, vectors
from imlp_audit.models.mixer import PatchClassifier


@dataclass(frozen=True)
class Classifier:
    """An image (3 x 1 x 2), the projection of its patches, blocks that are one matrix each, the norm and the head."""

    image: Matrix
    stem: Matrix
    stem_bias: Vector
    blocks: tuple[Matrix, ...]
    scale: Vector
    shift: Vector
    head: Matrix
    head_bias: Vector

    def output(self, arithmetic: Arithmetic) -> Tensor:
        """Return the package's logits, of the second of a batch of two images."""
        weights: dict[str, object] = {
            "stem.proj.weight": tuple(tuple(((entry,),) for entry in row) for row in self.stem),
            "stem.proj.bias": self.stem_bias, "norm.weight": self.scale, "norm.bias": self.shift,
            "head.weight": self.head, "head.bias": self.head_bias,
        }  # fmt: skip
        weights |= {f"blocks.{i}.weight": block for i, block in enumerate(self.blocks)}
        model = fill(lambda: PatchClassifier((1, 2), 1, 2, map(_block, self.blocks), 2), weights, arithmetic)
        image = arithmetic.tensor(self.image)[:, None]
        logits: Tensor = model(torch.stack((image.flip(0) + 1, image)))[1]
        return logits

    def printed(self, arithmetic: Arithmetic) -> list[Rounded]:
        """Return the logits: of the patches, every block, a norm, the mean over the patches, the head."""
        x = arithmetic.matrix(self.image).T @ arithmetic.matrix(self.stem).T
        x = x.map_rows(lambda row: add(row, arithmetic.vector(self.stem_bias)))
        for block in self.blocks:
            x = x @ arithmetic.matrix(block).T
        scale, shift = arithmetic.vector(self.scale), arithmetic.vector(self.shift)
        normal = x.map_rows(lambda row: layer_norm(row, EPSILON, scale, shift))
        pooled = [total(column) * 0.5 for column in normal.T]
        return add(arithmetic.matrix(self.head) @ pooled, arithmetic.vector(self.head_bias))

    def shown(self) -> dict[str, object]:
        """Return the symbols that a counterexample shows."""
        return {"image": self.image, "projection": self.stem, "blocks": self.blocks, "head": self.head}


def _block(block: Matrix) -> nn.Module:
    return nn.Linear(len(block), len(block), bias=False)


def classifiers() -> st.Strategy[Classifier]:
    """Two blocks, C = S = 2."""
    pair, square = vectors(2), matrices(2, 2, nonzero())
    stem = matrices(3, 2), matrices(2, 3, nonzero()), pair
    return st.builds(Classifier, *stem, st.tuples(square, square), vectors(2, nonzero()), pair, square, pair)
