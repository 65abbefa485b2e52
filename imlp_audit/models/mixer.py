"""MLP-Mixer (arXiv 2105.01601): patches, token mixing and channel mixing."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from imlp_audit.models.host import BuildRequest


class PatchEmbedding(nn.Module):
    """Projects each P x P patch of an image with the same matrix: a convolution of kernel P and stride P.

    Maps (batch, image channels, H, W) to (batch, S, C) with S = HW / P^2, row by row of patches.
    """

    def __init__(self, patch: int, channels: int, image_channels: int = 3) -> None:
        super().__init__()
        self.proj = nn.Conv2d(image_channels, channels, kernel_size=patch, stride=patch)

    def forward(self, image: Tensor) -> Tensor:
        patches: Tensor = self.proj(image)
        return patches.flatten(2).transpose(1, 2)


class Mlp(nn.Module):
    """Two fully-connected layers and GELU between them; acts on the last axis and keeps its width."""

    def __init__(self, width: int, hidden: int, *, bias: bool = True) -> None:
        super().__init__()
        self.fc1 = nn.Linear(width, hidden, bias=bias)
        self.act = nn.GELU()
        self.fc2 = nn.Linear(hidden, width, bias=bias)

    def forward(self, x: Tensor) -> Tensor:
        """Map (..., width) to the same shape."""
        y: Tensor = self.fc2(self.act(self.fc1(x)))
        return y


class TokenMixing(nn.Module):
    """U_{*,i} = X_{*,i} + W_2 GELU(W_1 LayerNorm(X)_{*,i}): one MLP for the columns of X, one column per channel.

    Maps (batch, S, C) to the same shape; `hidden` is D_S. LayerNorm is over channels, with timm's epsilon.
    """

    def __init__(self, tokens: int, channels: int, hidden: int, *, bias: bool = True) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(channels, eps=1e-6)
        self.mlp = Mlp(tokens, hidden, bias=bias)

    def forward(self, x: Tensor) -> Tensor:
        mixed: Tensor = self.mlp(self.norm(x).transpose(1, 2))
        return x + mixed.transpose(1, 2)


class ChannelMixing(nn.Module):
    """Y_{j,*} = U_{j,*} + W_4 GELU(W_3 LayerNorm(U)_{j,*}): one MLP for the rows of U, one row per token.

    Maps (batch, S, C) to the same shape; `hidden` is D_C. LayerNorm is over channels, with timm's epsilon.
    """

    def __init__(self, channels: int, hidden: int, *, bias: bool = True) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(channels, eps=1e-6)
        self.mlp = Mlp(channels, hidden, bias=bias)

    def forward(self, u: Tensor) -> Tensor:
        mixed: Tensor = self.mlp(self.norm(u))
        return u + mixed


class MixerLayer(nn.Module):
    """Token mixing, then channel mixing: (batch, S, C) to the same shape.

    `tokens_hidden` is D_S and `channels_hidden` is D_C; `bias` is that of the four projections.
    """

    def __init__(
        self, tokens: int, channels: int, tokens_hidden: int, channels_hidden: int, *, bias: bool = True
    ) -> None:
        super().__init__()
        self.token_mixing = TokenMixing(tokens, channels, tokens_hidden, bias=bias)
        self.channel_mixing = ChannelMixing(channels, channels_hidden, bias=bias)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.channel_mixing(self.token_mixing(x))
        return y


class PatchClassifier(nn.Module):
    """A table of patches, blocks that keep its shape, a norm, the average over patches, one linear layer (Fig. 1).

    Maps (batch, 3, H, W), of the one size `image` = (H, W), to (batch, classes). LayerNorm has timm's epsilon.
    """

    def __init__(
        self, image: tuple[int, int], patch: int, channels: int, blocks: Iterable[nn.Module], classes: int
    ) -> None:
        super().__init__()
        self.image = image
        self.stem = PatchEmbedding(patch, channels)
        self.blocks = nn.Sequential(*blocks)
        self.norm = nn.LayerNorm(channels, eps=1e-6)
        self.head = nn.Linear(channels, classes)

    def forward(self, image: Tensor) -> Tensor:
        patches: Tensor = self.norm(self.blocks(self.stem(image)))
        logits: Tensor = self.head(patches.mean(dim=1))
        return logits

    def get_classifier(self) -> nn.Module:
        return self.head

    def example_inputs(self, batch: int) -> tuple[Tensor, ...]:
        return (torch.zeros(batch, 3, *self.image),)


class MlpMixer(PatchClassifier):
    """N mixer layers on the patches of an image (Fig. 1, Table 1); without a position encoding (Sec. 2)."""

    def __init__(
        self, request: BuildRequest, *, layers: int, patch: int, width: int, tokens_hidden: int, channels_hidden: int
    ) -> None:
        tokens = number_of_patches(request.size, patch)
        blocks = (MixerLayer(tokens, width, tokens_hidden, channels_hidden) for _ in range(layers))
        super().__init__(request.size, patch, width, blocks, request.labels)


def number_of_patches(image: tuple[int, int], patch: int) -> int:
    """Return S = H W / P^2; recipes refuse a patch that does not divide the image."""
    return (image[0] // patch) * (image[1] // patch)
