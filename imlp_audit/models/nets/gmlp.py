"""gMLP on the patches of an image, and gMLP, tMLP and aMLP on token ids (arXiv 2105.08050, Sec. 3 and 4).

For text (the coursework's Sec. 3.3 to 3.5), inputs and outputs are those of BERT (Sec. 3.3; arXiv 1810.04805, Sec. 3).
There is no position encoding (coursework, Sec. 3.1), and there are no segment embeddings, since nothing says that gMLP
has them. Texts are padded to one length, and nothing masks the padding.
"""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor, nn

from imlp_audit.errors import BuildError
from imlp_audit.models.gmlp import GmlpBlock, ToeplitzProjection, TokenProjection
from imlp_audit.models.hosts.gmlp import Gate, Gmlp, GmlpText
from imlp_audit.models.mixer import PatchClassifier, number_of_patches
from imlp_audit.models.nets.text_heads import Pooler, output_layer
from imlp_audit.models.reading import SpatialMatrix, TextReading

PROJECTIONS: dict[SpatialMatrix, type[TokenProjection]] = {
    SpatialMatrix.FULL: TokenProjection,
    SpatialMatrix.TOEPLITZ: ToeplitzProjection,
}


class GmlpEncoder(nn.Module):
    """An embedding of each token, the blocks and a norm."""

    def __init__(self, host: GmlpText, reading: TextReading) -> None:
        super().__init__()
        self.tokens = reading.sequence_length
        self.embedding = nn.Embedding(reading.vocabulary, host.width)
        self.blocks = nn.Sequential(*(_block(host, reading) for _ in range(host.layers)))
        self.norm = nn.LayerNorm(host.width)
        self.pooler = Pooler(host.width) if reading.pooler else None

    def states(self, ids: Tensor) -> Tensor:
        """Map token ids (batch, S) to hidden states (batch, S, C)."""
        states: Tensor = self.norm(self.blocks(self.embedding(ids)))
        return states

    def example_inputs(self, batch: int) -> tuple[Tensor, ...]:
        """Return texts of the model's length."""
        return (torch.zeros(batch, self.tokens, dtype=torch.long),)


class GmlpLanguageModel(GmlpEncoder):
    """Scores the vocabulary at each token: ids (batch, S) to (batch, S, vocabulary), or states without output layer.

    With a pooler, its vector of each text comes second, as in BERT, where pre-training reads both.
    """

    def __init__(self, host: GmlpText, reading: TextReading) -> None:
        super().__init__(host, reading)
        self.output = output_layer(reading.output_layer, self.embedding)

    def forward(self, ids: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        """Return the scores."""
        states = self.states(ids)
        scores: Tensor = self.output(states)
        return scores if self.pooler is None else (scores, self.pooler(states))

    def get_classifier(self) -> nn.Module:
        """Return the output layer."""
        return self.output


class GmlpTextClassifier(GmlpEncoder):
    """Ids (batch, S) to logits (batch, classes), from the first token as BERT is fine-tuned (1810.04805, Sec. 4.1).

    The output layer of pre-training is not part of it.
    """

    def __init__(self, host: GmlpText, reading: TextReading, classes: int) -> None:
        super().__init__(host, reading)
        self.head = nn.Linear(host.width, classes)

    def forward(self, ids: Tensor) -> Tensor:
        """Return the logits."""
        states = self.states(ids)
        logits: Tensor = self.head(states[:, 0] if self.pooler is None else self.pooler(states))
        return logits

    def get_classifier(self) -> nn.Module:
        """Return the linear layer that makes the logits."""
        return self.head


def build_gmlp_text(host: GmlpText, reading: TextReading, classes: int | None) -> nn.Module:
    """Build a language model with fresh weights, or a classifier of texts where `classes` is given.

    What the host leaves out is the reading's: D_C and the spatial matrix. Raises BuildError.
    """
    return GmlpLanguageModel(host, reading) if classes is None else GmlpTextClassifier(host, reading, classes)


def _block(host: GmlpText, reading: TextReading) -> GmlpBlock:
    hidden = host.hidden or reading.ffn_width
    if host.gate is Gate.SPLIT and hidden % 2:
        raise BuildError(f"ffn_width: a split gate needs an even number of channels, not {hidden}")
    return GmlpBlock(
        host.width,
        hidden,
        reading.sequence_length,
        host.gate,
        PROJECTIONS[host.spatial_matrix or reading.spatial_matrix],
        d_attn=host.attention,
        gate_norm_layer=nn.LayerNorm if reading.gate_norm else nn.Identity,
    )


class GmlpClassifier(PatchClassifier):
    """gMLP blocks where MLP-Mixer has its layers; what is before and after them is the same (coursework, Sec. 3).

    The epsilons are timm's: 1e-6, and inside the gate torch's own 1e-5.
    """

    def __init__(self, sizes: Gmlp, image: tuple[int, int], classes: int) -> None:
        tokens = number_of_patches(image, sizes.patch)
        norm = partial(nn.LayerNorm, eps=1e-6)
        blocks = (
            GmlpBlock(sizes.width, sizes.hidden, tokens, sizes.gate, norm_layer=norm, gate_norm_layer=nn.LayerNorm)
            for _ in range(sizes.layers)
        )
        super().__init__(image, sizes.patch, sizes.width, blocks, classes)


def build_gmlp(host: Gmlp, size: tuple[int, int], classes: int) -> nn.Module:
    """Build gMLP for images of `size` = (height, width) with fresh weights. Raises BuildError."""
    return GmlpClassifier(host, size, classes)
