"""Handing images to a loader, with those that cannot be read."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path

import pytest
import torch
from PIL import Image
from timm.data import create_dataset, create_loader, create_transform
from torch import Tensor
from torch.utils.data import DataLoader

from imlp_audit.evaluate.data.images import Guarded, why_unreadable
from imlp_audit.evaluate.data.open import Images, Labelling, open_images
from tests.evaluate.folders import image_folder

TRANSFORM = create_transform((3, 24, 24), is_training=False)


def opened(folder: Path) -> Images:
    return open_images(str(folder), split="", labelling=Labelling(), allow_download=False)


def timms(folder: Path, place: int) -> tuple[Tensor, int]:
    """Return an item of timm's own data set, which leaves its files open."""
    with warnings.catch_warnings(action="ignore"):
        item: tuple[Tensor, int] = create_dataset("", str(folder), transform=TRANSFORM)[place]
        return item


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two classes of four images, of which the second is truncated, the fourth empty and the last no image."""
    image_folder(tmp_path, {"a": 4, "b": 4})
    cut = (tmp_path / "a" / "a_1.png").read_bytes()
    (tmp_path / "a" / "a_1.png").write_bytes(cut[: len(cut) // 2])
    (tmp_path / "a" / "a_3.png").write_bytes(b"")
    (tmp_path / "b" / "b_3.png").write_text("<html>404")
    return tmp_path


BAD = (1, 3, 7)


def test_tensors_are_those_of_timms_data_set(tmp_path: Path) -> None:
    images = opened(image_folder(tmp_path, {"a": 3, "b": 2}, "jpg"))
    guarded = Guarded(images, range(5), TRANSFORM)
    assert len(guarded) == 5
    for place in range(5):
        tensor, position = guarded[place]
        expected, label = timms(tmp_path, place)
        assert position == place
        assert torch.equal(tensor, expected)
        assert images.labels[place] == (label,)


def test_what_cannot_be_read_is_counted_and_never_another_image(folder: Path) -> None:
    images = opened(folder)
    guarded = Guarded(images, range(8), TRANSFORM)
    items = [guarded[place] for place in range(8)]
    assert [position for _, position in items] == [-1 - p if p in BAD else p for p in range(8)]
    assert all(tensor.shape == (3, 24, 24) for tensor, _ in items)
    assert all(bool(torch.any(items[p][0] != 0)) == (p not in BAD) for p in range(8))
    # timm's own data set gives the next image, with the next one's label, and tells nobody but a log
    assert torch.equal(timms(folder, 1)[0], items[2][0])


def test_positions_are_of_the_chosen_images(folder: Path) -> None:
    images = opened(folder)
    guarded = Guarded(images, (6, 3, 0), TRANSFORM)
    assert [guarded[place][1] for place in range(3)] == [0, -2, 2]
    assert torch.equal(guarded[2][0], TRANSFORM(images.dataset[0][0]))


@pytest.mark.parametrize("workers", [0, 2])
def test_loaders_get_every_image_once(folder: Path, workers: int) -> None:
    guarded = Guarded(opened(folder), range(8), TRANSFORM)
    loader = DataLoader(pickle.loads(pickle.dumps(guarded)), batch_size=3, num_workers=workers)
    positions = [int(p) for _, batch in loader for p in batch]
    assert positions == [-1 - p if p in BAD else p for p in range(8)]


def test_timms_loader_sets_its_own_transform(folder: Path) -> None:
    guarded = Guarded(opened(folder), range(8), TRANSFORM)
    loader = create_loader(guarded, (3, 16, 16), 8, use_prefetcher=False, num_workers=0)
    tensors, positions = next(iter(loader))
    assert tensors.shape == (8, 3, 16, 16)
    assert [int(p) for p in positions] == [-1 - p if p in BAD else p for p in range(8)]
    arrays = create_loader(guarded, (3, 16, 16), 8, use_prefetcher=True, num_workers=0, device=torch.device("cpu"))
    assert next(iter(arrays))[0].shape == (8, 3, 16, 16)


def test_an_image_that_is_odd_in_size_is_resized(tmp_path: Path) -> None:
    image_folder(tmp_path, {"a": 1})
    Image.new("RGB", (1, 1), "red").save(tmp_path / "a" / "a_1.png")
    Image.new("RGB", (256, 1), "red").save(tmp_path / "a" / "a_2.png")
    guarded = Guarded(opened(tmp_path), range(3), create_transform((3, 224, 224), is_training=False))
    for place in range(3):
        tensor, position = guarded[place]
        assert (tensor.shape, position) == ((3, 224, 224), place)


def test_why_an_image_cannot_be_read(folder: Path) -> None:
    images = opened(folder)
    assert why_unreadable(images, 1).startswith("a/a_1.png: image file is truncated")
    assert why_unreadable(images, 3) == "a/a_3.png: the file is empty"
    assert why_unreadable(images, 7) == "b/b_3.png: not an image in a known format"
    assert why_unreadable(images, 0) == "a/a_0.png: it could not be read at first, but can be read now"
    (folder / "a" / "a_0.png").unlink()
    assert why_unreadable(images, 0) == "a/a_0.png: No such file or directory"
