"""A small DeiT and the same with IMLP blocks, trained on scikit-learn's digits, which are written out as images."""

from __future__ import annotations

import copy
import fcntl
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file, save_file
from timm.data import create_transform, resolve_data_config
from torch import Tensor, nn
from torch.utils.data import DataLoader

from imlp_audit.models.build import Builder
from imlp_audit.spec.library import load
from imlp_audit.spec.references import RowRef, find_row

SIDE = 48
TRAINING = 1437  # of 1797 images
ROWS = ("deit", "deit_imlp")
SPEC = """\
paper: digits
about:
  title: Digits
  authors: A. Author
  version: v1
  readings:
    lean: {{{lean}}}
    released: {{{released}}}
tables:
  - table: "1"
    title: Handwritten digits
    source: {{section: "1"}}
    columns:
      top1: {{measure: score, unit: "%", metric: top1, data: digits, heading: Top-1 (%), needs: weights and images}}
      top5: {{measure: score, unit: "%", metric: top5, data: digits, heading: Top-5 (%), needs: weights and images}}
      other: {{measure: score, unit: "%", metric: top1, data: letters, heading: Letters (%), needs: weights and images}}
    rows:
      - id: deit
        label: DeiT
        model: {{timm: test_vit, image: 48, classes: 10}}
        printed: {{top1: {deit}, top5: {deit_top5}}}
      - id: deit_imlp
        label: + IMLP
        baseline: deit
        model: {{timm: test_vit, image: 48, classes: 10, mlp: {{imlp: {{ratio: 2, kernel: 3}}}}}}
        printed: {{top1: {deit_imlp}, other: 10.0}}
      - {{id: unknown, label: Unknown, printed: {{top1: 50.0}}}}
"""
AXES = {
    "agelu_parameters": "per_channel",
    "fc1_bias": "yes",
    "fc2_bias": "yes",
    "concat_norm": "layer",
    "output_norm": "none",
    "depthwise_bias": "yes",
    "depthwise_norm": "batch",
    "depthwise_activation": "gelu",
    "depthwise_skip": "no",
    "class_token": "kept",
}


@dataclass(frozen=True)
class Plain:
    """Ids and labels of images, and a model's scores of them (images, classes)."""

    ids: list[str]
    labels: list[int]
    scores: Tensor

    def right(self, guesses: int) -> list[bool]:
        """Return of each image whether its label is among the first so many guesses."""
        guessed = self.scores.argsort(1, descending=True)[:, :guesses].tolist()
        return [label in row for label, row in zip(self.labels, guessed, strict=True)]

    def share(self, guesses: int) -> str:
        """Return as text with one decimal, rounded half up, how many percent of the images are right."""
        images = len(self.labels)
        tenths = (2000 * sum(self.right(guesses)) + images) // (2 * images)
        return f"{tenths // 10}.{tenths % 10}"


@dataclass(frozen=True)
class Digits:
    """Where everything lies: `digits` with the images, `digits.yaml` and the checkpoints."""

    root: Path

    @property
    def images(self) -> Path:
        return self.root / "digits"

    @property
    def spec(self) -> Path:
        return self.root / "digits.yaml"

    def checkpoint(self, row: str) -> Path:
        return self.root / {"deit": "deit.pth", "deit_imlp": "deit_imlp.safetensors"}[row]

    def row(self, name: str) -> RowRef:
        found = find_row(load([str(self.spec)]).papers, f"digits/1/{name}")
        assert found is not None
        return found

    @cached_property
    def plain(self) -> dict[str, Plain]:
        """What a plain loop says of the validation images, by row."""
        return {row: Plain(*torch.load(self.root / f"{row}.plain", weights_only=True)) for row in ROWS}


def digits(factory: pytest.TempPathFactory) -> Digits:
    """Return the trained models; of the processes of pytest-xdist the first trains, the others wait."""
    base = factory.getbasetemp()
    root = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "digits-and-models"
    root.mkdir(exist_ok=True)
    with (root / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (root / "made").exists():
            make(root)
            (root / "made").touch()
    return Digits(root)


def make(root: Path) -> None:
    """Write the images, train both models, and write the spec with the accuracies that they have."""
    write_images(root / "digits")
    write_spec(root)
    made = Digits(root)
    for row, epochs in zip(ROWS, (6, 3), strict=True):
        train(made, row, epochs)
        found = plain_loop(made, row)
        torch.save((found.ids, found.labels, found.scores), root / f"{row}.plain")
    deit, imlp = made.plain["deit"], made.plain["deit_imlp"]
    write_spec(root, deit=deit.share(1), deit_top5=deit.share(5), deit_imlp=imlp.share(1))


def write_spec(root: Path, deit: str = "50.0", deit_top5: str = "90.0", deit_imlp: str = "60.0") -> Path:
    """Write the spec with these accuracies, and return its path."""

    def reading(**changes: str) -> str:
        return ", ".join(
            f"{axis}: {{value: {value}, because: the text}}" for axis, value in {**AXES, **changes}.items()
        )

    printed = {"deit": deit, "deit_top5": deit_top5, "deit_imlp": deit_imlp}
    path = root / "digits.yaml"
    text = SPEC.format(lean=reading(concat_norm="none"), released=reading(), **printed)
    path.with_suffix(".new").write_text(text, encoding="utf-8")
    return path.with_suffix(".new").replace(path)


def write_images(root: Path) -> None:
    """Write DIR/SPLIT/CLASS/NUMBER.png, eight by eight pixels made larger."""
    from sklearn.datasets import load_digits

    found = load_digits()
    for number, (pixels, label) in enumerate(zip(found.images, found.target, strict=True)):
        folder = root / ("train" if number < TRAINING else "val") / str(label)
        folder.mkdir(parents=True, exist_ok=True)
        image = Image.fromarray((pixels * 255 / 16).astype(np.uint8)).resize((SIDE, SIDE), Image.Resampling.BICUBIC)
        image.save(folder / f"{number:04}.png")


def built(made: Digits, row: str) -> nn.Module:
    """Return a row's model as it is initialised."""
    found = made.row(row)
    recipe = found.row.model
    assert recipe is not None
    reading = found.paper.about.value.readings["released"].reading()
    with Builder("cpu").variant(recipe, recipe.part_of(reading)) as variant:
        return copy.deepcopy(variant.model)  # which is changed back when the context ends


def pictures(made: Digits, split: str, model: nn.Module) -> tuple[list[str], Tensor, Tensor]:
    """Return ids, images (images, 3, height, width) and labels by torchvision's reader and timm's transform."""
    from torchvision.datasets import ImageFolder

    folder = ImageFolder(str(made.images / split), create_transform(**resolve_data_config({}, model=model)))
    loaded = list(DataLoader(folder, batch_size=64))
    ids = [Path(path).relative_to(made.images / split).as_posix() for path, _ in folder.samples]
    return ids, torch.cat([images for images, _ in loaded]), torch.cat([labels for _, labels in loaded])


def train(made: Digits, row: str, epochs: int, batch: int = 32, rate: float = 2e-3) -> None:
    """Train a row's model, and save it as its file's ending says."""
    torch.manual_seed(0)
    model = built(made, row).train()
    _, images, labels = pictures(made, "train", model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.05)
    steps = epochs * (len(labels) // batch)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=rate, total_steps=steps)
    for _ in range(epochs):
        for chosen in torch.randperm(len(labels))[: len(labels) // batch * batch].view(-1, batch):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(images[chosen]), labels[chosen])
            torch.autograd.backward(loss)
            optimizer.step()
            schedule.step()
    path = made.checkpoint(row)
    if path.suffix == ".pth":
        torch.save({"model": model.state_dict(), "epoch": epochs}, path)
    else:
        save_file(model.state_dict(), path)


def plain_loop(made: Digits, row: str) -> Plain:
    """Evaluate a row's model as anybody would."""
    model = built(made, row)
    path = made.checkpoint(row)
    state = torch.load(path, weights_only=True)["model"] if path.suffix == ".pth" else load_file(path)
    model.load_state_dict(state)
    ids, images, labels = pictures(made, "val", model)
    with torch.inference_mode():
        scores = [model.eval()(images[start : start + 50]) for start in range(0, len(images), 50)]
    return Plain(ids, labels.tolist(), torch.cat(scores))
