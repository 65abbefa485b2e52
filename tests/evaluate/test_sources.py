"""Data sets of torchvision by name."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from imlp_audit.errors import DatasetError
from imlp_audit.evaluate.datasets import Labelling, open_images
from imlp_audit.evaluate.images import Images

IMAGES = np.random.default_rng(1).integers(0, 256, (5, 28, 28), dtype=np.uint8)


LABELS = np.array([3, 1, 4, 1, 5], dtype=np.uint8)


def open_named(source: str, split: str, *, allow_download: bool) -> Images:
    return open_images(source, split=split, labelling=Labelling(), allow_download=allow_download)


def idx(path: Path, held: NDArray[np.uint8] | NDArray[np.int32]) -> None:
    """Write an array in the format that MNIST comes in."""
    code = 8 if held.dtype == np.uint8 else 12
    header = struct.pack(f">BBBB{held.ndim}I", 0, 0, code, held.ndim, *held.shape)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(header + held.astype(held.dtype.newbyteorder(">")).tobytes())


def mnist(root: Path, folder: str = "MNIST") -> Path:
    for part, cut in (("train", 2), ("t10k", 5)):
        idx(root / folder / "raw" / f"{part}-images-idx3-ubyte", IMAGES[:cut])
        idx(root / folder / "raw" / f"{part}-labels-idx1-ubyte", LABELS[:cut])
    return root


@pytest.mark.parametrize(
    ("name", "folder"), [("mnist", "MNIST"), ("fashion_mnist", "FashionMNIST"), ("kmnist", "KMNIST")]
)
def test_torchvisions(tmp_path: Path, name: str, folder: str) -> None:
    source = f"torch/{name}:{mnist(tmp_path, folder)}"
    images = open_named(source, "validation", allow_download=False)
    assert images.name == f"torch/{name}"
    assert images.ids == ("0", "1", "2", "3", "4")
    assert images.labels == ((3,), (1,), (4,), (1,), (5,))
    assert images.classes == 10
    image = images.dataset[2]
    assert image.mode == "RGB"
    assert np.array_equal(np.asarray(image)[:, :, 1], IMAGES[2])
    assert len(open_named(source, "train", allow_download=False).ids) == 2
    assert open_named(source, "test", allow_download=False).labels == images.labels
    with pytest.raises(DatasetError, match="has no split 'tets'; pass --split test or --split train"):
        open_named(source, "tets", allow_download=False)


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("torch/cifar10", "torch/cifar10: name the folder that holds it"),
        ("torch/cifar11:x", "there is no data set torch/cifar11; did you mean 'cifar10'?"),
        ("torch/flowers102:x", "for other data give a folder of images"),
        ("torch/cifar10:nowhere", "nowhere is not a folder; pass --allow-download"),
        ("torch/cifar10:DIR", "torchvision finds no whole copy"),
        ("torch/mnist:DIR", "--allow-download to fetch it"),
        ("tfds/mnist", "tfds/mnist is neither a folder nor a .parquet file"),
        ("hfds/ylecun/mnist", "`hf download` fetches data sets of the hub"),
    ],
)
def test_what_cannot_be_opened(tmp_path: Path, source: str, told: str) -> None:
    with pytest.raises(DatasetError) as raised:
        open_named(
            source.replace("DIR", str(tmp_path)) if ":DIR" in source else source, "validation", allow_download=False
        )
    assert told in str(raised.value)


def test_files_that_are_not_torchvisions(tmp_path: Path) -> None:
    """CIFAR comes in pickles: torchvision opens them by their MD5 alone."""
    place = tmp_path / "cifar-10-batches-py"
    place.mkdir()
    for name in ("data_batch_1", "test_batch", "batches.meta"):
        (place / name).write_bytes(b"cos\nsystem\n(S'touch touched'\ntR.")
    with pytest.raises(DatasetError, match="finds no whole copy"):
        open_named(f"torch/cifar10:{tmp_path}", "validation", allow_download=False)
    mnist(tmp_path)
    (tmp_path / "MNIST" / "raw" / "t10k-images-idx3-ubyte").write_bytes(b"\0\0\x08\x03")
    with pytest.raises(DatasetError, match="torch/mnist"):
        open_named(f"torch/mnist:{tmp_path}", "validation", allow_download=False)
