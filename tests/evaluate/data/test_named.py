"""Data sets that timm knows by a name."""

from __future__ import annotations

import struct
import sys
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from numpy.typing import NDArray

from imlp_audit.errors import DatasetError
from imlp_audit.evaluate.data import named
from imlp_audit.evaluate.data.decode import UnreadableError
from imlp_audit.evaluate.data.images import why_unreadable
from imlp_audit.evaluate.data.named import is_named, open_named
from tests.evaluate.folders import picture, same

IMAGES = np.random.default_rng(1).integers(0, 256, (5, 28, 28), dtype=np.uint8)
LABELS = np.array([3, 1, 4, 1, 5], dtype=np.uint8)


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
    image, label = images.dataset[2]
    assert (image.mode, label) == ("RGB", 4)
    assert np.array_equal(np.asarray(image)[:, :, 1], IMAGES[2])
    assert len(open_named(source, "train", allow_download=False).dataset) == 2


def test_torchvisions_with_more_than_a_class(tmp_path: Path) -> None:
    table = np.zeros((5, 8), dtype=np.int32)
    table[:, 0], table[:, 1] = LABELS, 77
    idx(tmp_path / "QMNIST" / "raw" / "qmnist-test-images-idx3-ubyte", IMAGES)
    idx(tmp_path / "QMNIST" / "raw" / "qmnist-test-labels-idx2-int", table)
    images = open_named(f"torch/qmnist:{tmp_path}", "validation", allow_download=False)
    assert images.labels == ((3,), (1,), (4,), (1,), (5,))


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("torch/cifar10", "torch/cifar10: name the folder that holds it"),
        ("torch/cifar11:x", "there is no data set torch/cifar11; did you mean 'cifar10'?"),
        ("torch/image_folder:x", "for other data give a folder of images"),
        ("torch/cifar10:DIR", "Dataset not found or corrupted"),
        ("torch/mnist:DIR", "--allow-download to fetch it"),
        ("tfds/mnist", "tfds/ streams images in no fixed order"),
        ("hfids/a/b", "hfids/ streams images"),
        ("hfds/mnist", "a data set of the hub is named OWNER/NAME"),
        ("hfds/ylecun/mnist", "name the commit by all its 40 digits"),
        ("hfds/ylecun/mnist@main", "a branch or a tag can move"),
        ("hfds/../x@" + "0" * 40, "is named OWNER/NAME"),
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
    with pytest.raises(DatasetError, match="not found or corrupted"):
        open_named(f"torch/cifar10:{tmp_path}", "validation", allow_download=False)
    mnist(tmp_path)
    (tmp_path / "MNIST" / "raw" / "t10k-images-idx3-ubyte").write_bytes(b"\0\0\x08\x03")
    with pytest.raises(DatasetError, match="torch/mnist"):
        open_named(f"torch/mnist:{tmp_path}", "validation", allow_download=False)


@pytest.mark.parametrize(
    ("source", "is_name"),
    [("torch/cifar10:x", True), ("HFDS/a/b@c", True), ("torch", False), ("data/val", False), ("/torch/cifar10", False)],
)
def test_what_is_a_name(source: str, is_name: bool) -> None:
    assert is_named(source) == is_name


def test_an_existing_folder_is_not_taken_for_a_data_set_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("wds/val").mkdir(parents=True)
    assert not is_named("wds/val")
    assert is_named("wds/test")


def png(seed: int) -> bytes:
    held = BytesIO()
    picture(seed).save(held, "PNG")
    return held.getvalue()


class Hub:
    """Stands in for the package `datasets`, of which timm's reader uses this much."""

    def __init__(self, labels: Sequence[object]) -> None:
        self.label = SimpleNamespace(names=["ant", "bee", "cat"])
        self.info = SimpleNamespace(features={"label": self.label}, splits=None)
        self.labels = labels
        self.asked: list[tuple[str, str]] = []

    def load(self, path: str, *, split: str, cache_dir: str | None) -> Hub:
        assert cache_dir is None
        self.asked.append((path, split))
        return self

    def cast_column(self, *_: object) -> Hub:
        return self

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, key: int | str) -> object:
        if key == "label":
            return self.labels
        assert isinstance(key, int)
        held = {0: {"bytes": png(0)}, 1: {"bytes": png(1)[:90]}, 2: {"bytes": None, "path": "/nowhere/2.png"}}
        return {"image": held[key], "label": self.labels[key]}


def with_hub(monkeypatch: pytest.MonkeyPatch, labels: Sequence[object], folder: Path) -> Hub:
    hub, package = Hub(labels), ModuleType("datasets")
    vars(package).update(load_dataset=hub.load, Image=lambda decode: None)
    monkeypatch.setitem(sys.modules, "datasets", package)
    monkeypatch.delitem(sys.modules, "timm.data.readers.reader_hfds", raising=False)
    monkeypatch.setattr(named, "pinned_snapshot", lambda *_, **__: folder)
    return hub


def test_of_the_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hub = with_hub(monkeypatch, [2, 0, 1], tmp_path)
    images = open_named(f"hfds/own/Insects@{'0' * 40}", "test", allow_download=False)
    assert hub.asked == [(str(tmp_path), "test")]  # a folder, of which nothing is asked on the network
    assert (images.name, images.labels, images.classes) == ("hfds/own/Insects", ((2,), (0,), (1,)), 3)
    assert same(images.dataset[0][0], picture(0))
    for place, told in ((1, "1: "), (2, "2: No such file")):
        with pytest.raises(UnreadableError):
            images.dataset[place]
        assert why_unreadable(images, place).startswith(told)


@pytest.mark.parametrize("labels", [[], [-1, 0, 1], [None, 1, 2], ["cat", 0, 1], [[0], [1], [2]]])
def test_a_split_without_classes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, labels: list[object]) -> None:
    with_hub(monkeypatch, labels, tmp_path)
    with pytest.raises(DatasetError, match="images have no class; try another --split"):
        open_named(f"hfds/own/Insects@{'0' * 40}", "test", allow_download=False)


def test_a_package_that_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_hub(monkeypatch, [], tmp_path)
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(DatasetError, match="pip install datasets"):
        open_named(f"hfds/own/Insects@{'0' * 40}", "test", allow_download=False)
