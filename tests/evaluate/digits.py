"""A small Mixer and a small ResMLP that were trained on scikit-learn's digits, and those digits as image files.

The weights lie in `weights/`. `python -m tests.evaluate.digits` trains both models again and replaces them, which takes
a minute or two; nothing in the tests depends on which weights they are, except that they know most digits.
"""

from __future__ import annotations

import copy
import fcntl
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file, save_file
from timm.data import create_transform, resolve_data_config
from torch import Tensor, nn
from torch.utils.data import DataLoader

from imlp_audit.models.build import Builder
from imlp_audit.spec.load import load
from imlp_audit.spec.paper import RowRef, find_row

WEIGHTS = Path(__file__).parent / "weights"
SIDE = 32
TRAINING = 1437  # of 1797 images
ROWS = ("mixer", "resmlp")
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
      top1: {{measure: score, unit: "%", metric: top1, data: digits, images: 360, heading: Top-1 (%), needs: weights}}
      top5: {{measure: score, unit: "%", metric: top5, data: digits, images: 360, heading: Top-5 (%), needs: weights}}
      other: {{measure: score, unit: "%", metric: top1, data: letters, heading: Letters (%), needs: weights and images}}
    rows:
      - id: mixer
        label: Mixer
        model:
          mixer: {{layers: 2, patch: 8, width: 32, tokens_hidden: 32, channels_hidden: 64}}
          image: 32
          classes: 10
        printed: {{top1: {mixer}, top5: {mixer_top5}}}
      - id: resmlp
        label: ResMLP
        baseline: mixer
        model: {{resmlp: {{layers: 2, width: 32, patch: 8}}, image: 32, classes: 10}}
        printed: {{top1: {resmlp}, other: 10.0}}
      - {{id: deit, label: DeiT, model: {{timm: test_vit, image: 48, classes: 10}}, printed: {{top1: 10.0}}}}
      - id: deit_imlp
        label: DeiT + IMLP
        model: {{timm: test_vit, image: 48, classes: 10, mlp: {{imlp: {{ratio: 2, kernel: 3}}}}}}
        printed: {{top1: 10.0}}
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
    "resmlp_form": "algorithm",
}


@dataclass(frozen=True)
class Plain:
    """Ids and labels of images, and a model's scores for them (images, classes)."""

    ids: list[str]
    labels: list[int]
    scores: Tensor

    def right(self, guesses: int) -> list[bool]:
        """Return for each image whether its label is among the first `guesses` guesses."""
        guessed = self.scores.argsort(1, descending=True)[:, :guesses].tolist()
        return [label in row for label, row in zip(self.labels, guessed, strict=True)]

    def share(self, guesses: int) -> str:
        """Return the percentage of images that are right, with one decimal, rounded half up."""
        images = len(self.labels)
        tenths = (2000 * sum(self.right(guesses)) + images) // (2 * images)
        return f"{tenths // 10}.{tenths % 10}"


@dataclass(frozen=True)
class Digits:
    """A folder with the images (`digits`), the spec (`digits.yaml`) and the checkpoints."""

    root: Path

    @property
    def images(self) -> Path:
        return self.root / "digits"

    @property
    def spec(self) -> Path:
        return self.root / "digits.yaml"

    def checkpoint(self, row: str) -> Path:
        return self.root / {"mixer": "mixer.pth", "resmlp": "resmlp.safetensors"}[row]

    def row(self, name: str) -> RowRef:
        found = find_row(load([str(self.spec)]).papers, f"digits/1/{name}")
        assert found is not None
        return found

    @cached_property
    def plain(self) -> dict[str, Plain]:
        """The scores of a plain loop over the validation images, by row."""
        return {row: Plain(*torch.load(self.root / f"{row}.plain", weights_only=True)) for row in ROWS}


def digits(factory: pytest.TempPathFactory) -> Digits:
    """Return images, spec and checkpoints, written once for all processes of pytest-xdist."""
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
    """Write the validation images, the checkpoints, and a spec with the models' accuracies."""
    write_images(root / "digits", "val")
    write_spec(root)
    made = Digits(root)
    states = {row: load_file(WEIGHTS / f"{row}.safetensors") for row in ROWS}
    torch.save({"model": states["mixer"], "epoch": 6}, made.checkpoint("mixer"))
    save_file(states["resmlp"], made.checkpoint("resmlp"))
    for row in ROWS:
        scored = plain_loop(made, row, states[row])
        torch.save((scored.ids, scored.labels, scored.scores), root / f"{row}.plain")
    mixer, resmlp = made.plain["mixer"], made.plain["resmlp"]
    write_spec(root, mixer=mixer.share(1), mixer_top5=mixer.share(5), resmlp=resmlp.share(1))


def write_spec(root: Path, mixer: str = "50.0", mixer_top5: str = "90.0", resmlp: str = "60.0") -> Path:
    """Write the spec with these accuracies, and return its path."""

    def reading(**changes: str) -> str:
        return ", ".join(
            f"{axis}: {{value: {value}, because: the text}}" for axis, value in {**AXES, **changes}.items()
        )

    lean = reading(concat_norm="none", resmlp_form="equations")
    path = root / "digits.yaml"
    path.with_suffix(".new").write_text(
        SPEC.format(lean=lean, released=reading(), mixer=mixer, mixer_top5=mixer_top5, resmlp=resmlp), encoding="utf-8"
    )
    return path.with_suffix(".new").replace(path)


def write_images(root: Path, *splits: str) -> None:
    """Write ROOT/SPLIT/CLASS/NUMBER.png, enlarged from eight by eight pixels; the splits are train and val."""
    from sklearn.datasets import load_digits

    found = load_digits()
    for number, (pixels, label) in enumerate(zip(found.images, found.target, strict=True)):
        split = "train" if number < TRAINING else "val"
        if split not in splits:
            continue
        folder = root / split / str(label)
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

    config = resolve_data_config({"input_size": (3, SIDE, SIDE)}, model=model)
    folder = ImageFolder(str(made.images / split), create_transform(**config))
    loaded = list(DataLoader(folder, batch_size=64))
    ids = [Path(path).relative_to(made.images / split).as_posix() for path, _ in folder.samples]
    return ids, torch.cat([images for images, _ in loaded]), torch.cat([labels for _, labels in loaded])


def plain_loop(made: Digits, row: str, state: dict[str, Tensor]) -> Plain:
    """Evaluate a row's model as anybody would."""
    model = built(made, row)
    model.load_state_dict(state)
    ids, images, labels = pictures(made, "val", model)
    with torch.inference_mode():
        scores = [model.eval()(images[start : start + 50]) for start in range(0, len(images), 50)]
    return Plain(ids, labels.tolist(), torch.cat(scores))


def train(made: Digits, row: str, epochs: int = 6, batch: int = 32, rate: float = 4e-3) -> dict[str, Tensor]:
    """Train a row's model on the training images, and return its state."""
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
    return model.state_dict()


def make_weights(folder: Path = WEIGHTS) -> None:
    """Train both models and write their weights; this is how the files in `weights/` were made."""
    folder.mkdir(exist_ok=True)
    with TemporaryDirectory() as name:
        made = Digits(Path(name))
        write_images(made.images, "train")
        write_spec(made.root)
        for row in ROWS:
            save_file(train(made, row), folder / f"{row}.safetensors")


if __name__ == "__main__":
    make_weights()
