"""Models of one's own, as a user writes them, for the host `python`. Some are wrong on purpose."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass

import torch
from torch import Tensor, nn


class SmallNet(nn.Module):
    """A convolution, the mean over places and a classifier of ten classes."""

    def __init__(self, width: int = 8, *, bias: bool = True) -> None:
        super().__init__()
        print("a net is made")
        self.conv = nn.Conv2d(3, width, 3, padding=1, bias=bias)
        self.fc = nn.Linear(width, 10)

    def forward(self, images: Tensor) -> Tensor:
        """Classify images, (batch, 3, height, width)."""
        scores: Tensor = self.fc(self.conv(images).mean((2, 3)))
        return scores


class Loud(SmallNet):
    """A net that prints in its forward pass, in each way that there is."""

    def forward(self, images: Tensor) -> Tensor:
        """Classify images, (batch, 3, height, width)."""
        print("said")
        os.write(1, b"written")
        subprocess.run(["echo", "echoed"], check=True)
        return super().forward(images)


class Odd(nn.Module):
    """A net that does what `what` says instead of returning a tensor."""

    def __init__(self, what: str) -> None:
        super().__init__()
        self.net, self.what = SmallNet(), what

    def forward(self, images: Tensor) -> object:
        """Return no tensor, or raise an error."""
        match self.what:
            case "text":
                return "logits"
            case "nothing":
                return None
            case "empty":
                return {"loss": None, "logits": []}
            case "record":
                return Scores(self.net(images))
            case "values":
                return images if images.sum() > 0 else -images
            case "exits":
                sys.exit("no weights")
            case "nonzero":
                return images.nonzero()
            case "wordy":
                raise ValueError("A first sentence. " + "word " * 40 + "end. " + "Another " * 40)
            case "long":
                raise ValueError("x\n\x1b[31m" * 1000)
            case _:
                raise MuteError


@dataclass
class Scores:
    """An output with a name."""

    logits: Tensor


class MuteError(Exception):
    """An error that fails when it is asked what it says."""

    def __str__(self) -> str:
        """Fail."""
        raise ZeroDivisionError


class Embedding(nn.Module):
    """Five channels for each of 100 tokens."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(100, 5)

    def forward(self, tokens: Tensor) -> Tensor:
        """Look up token ids, (batch, tokens)."""
        found: Tensor = self.table(tokens)
        return found


class TwoTowers(nn.Module):
    """Scores how well a text, with its mask, fits an image."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(100, 6)
        self.image = nn.Linear(12, 6)

    def forward(self, image: Tensor, *, ids: Tensor, mask: Tensor) -> Tensor:
        """Score images, (batch, 3, 2, 2), with texts of `ids` and a `mask`, both (batch, tokens)."""
        assert mask.dtype == torch.bool
        states: Tensor = self.table(ids) * mask[..., None]
        score: Tensor = states @ self.image(image.flatten(1))[..., None]
        return score


def computed_width() -> nn.Module:
    """Return a layer whose width is computed with tensors, which the meta device cannot do."""
    return nn.Linear(int(torch.arange(4).sum().item()), 2)


class Tied(nn.Module):
    """A table that is also the classifier; a rate is computed with tensors, which the meta device cannot do."""

    def __init__(self) -> None:
        super().__init__()
        self.rates = [rate.item() for rate in torch.linspace(0, 1, 3)]
        self.table = nn.Embedding(100, 5)
        self.classifier = nn.Linear(5, 100, bias=False)
        self.classifier.weight = self.table.weight

    def forward(self, tokens: Tensor) -> Tensor:
        """Score the next of the token ids, (batch, tokens)."""
        scores: Tensor = self.classifier(self.table(tokens))
        return scores


def number() -> int:
    """Return what is not a module."""
    return 3


def leave() -> None:
    """End the process."""
    os._exit(7)


def never_end() -> None:
    """Return never."""
    while True:
        time.sleep(1)
