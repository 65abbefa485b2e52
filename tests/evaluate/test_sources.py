"""Data sets by name: of torchvision, and of the Hugging Face hub at one commit."""

from __future__ import annotations

import hashlib
import struct
from pathlib import Path

import huggingface_hub
import numpy as np
import pytest
from numpy.typing import NDArray

from imlp_audit.errors import DatasetError
from imlp_audit.evaluate import datasets as opening
from imlp_audit.evaluate.datasets import Labelling, open_images
from imlp_audit.evaluate.images import Images
from imlp_audit.evaluate.sources import pinned_snapshot
from tests.evaluate.tables import write_parquet

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
    with pytest.raises(DatasetError, match="finds no whole copy"):
        open_named(f"torch/cifar10:{tmp_path}", "validation", allow_download=False)
    mnist(tmp_path)
    (tmp_path / "MNIST" / "raw" / "t10k-images-idx3-ubyte").write_bytes(b"\0\0\x08\x03")
    with pytest.raises(DatasetError, match="torch/mnist"):
        open_named(f"torch/mnist:{tmp_path}", "validation", allow_download=False)


def test_of_the_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_parquet(tmp_path / "data" / "test-00000-of-00001.parquet", [2, 0], names=["ant", "bee", "cat"])
    monkeypatch.setattr(opening, "pinned_snapshot", lambda *_, **__: tmp_path)
    images = open_named(f"hfds/own/Insects@{'0' * 40}", "test", allow_download=False)
    assert (images.name, images.labels, images.classes) == ("hfds/own/Insects", ((2,), (0,)), 3)


COMMIT = "0123456789abcdef0123456789abcdef01234567"


SMALL, LARGE = b"a text\n", b"a parquet file"


# git hash-object of a file with "a text\n"
GIT = hashlib.sha1(b"blob 7\0" + SMALL, usedforsecurity=False).hexdigest()


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    """A snapshot as the hub's cache keeps it: links to files that are named by their hash."""
    store, snapshot = tmp_path / "blobs", tmp_path / "snapshots" / COMMIT
    store.mkdir()
    (snapshot / "data").mkdir(parents=True)
    for name, held, digest in (("README.md", SMALL, GIT), ("data/0.parquet", LARGE, hashlib.sha256(LARGE).hexdigest())):
        (store / digest).write_bytes(held)
        (snapshot / name).symlink_to(store / digest)
    return snapshot


@pytest.fixture
def asked(snapshot: Path, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, object]]:
    """What the hub's library was asked for; it answers with the snapshot."""
    calls: list[dict[str, object]] = []

    def download(name: str, **options: object) -> str:
        calls.append({"name": name, **options})
        return str(snapshot)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    return calls


@pytest.mark.parametrize("allow_download", [False, True])
def test_the_commit_is_asked_for(asked: list[dict[str, object]], snapshot: Path, allow_download: bool) -> None:
    assert pinned_snapshot("own/Insects", COMMIT, allow_download=allow_download) == snapshot
    (call,) = asked
    assert (call["name"], call["repo_type"], call["revision"]) == ("own/Insects", "dataset", COMMIT)
    assert call["local_files_only"] is not allow_download


@pytest.mark.parametrize("revision", ["", "main", "v1.0", COMMIT[:39], COMMIT.upper(), COMMIT + "0", "refs/pr/1"])
def test_anything_except_a_commit_is_refused(asked: list[dict[str, object]], revision: str) -> None:
    with pytest.raises(DatasetError, match="name the commit"):
        pinned_snapshot("own/Insects", revision, allow_download=True)
    assert asked == []


@pytest.mark.parametrize("name", ["mnist", "", "/", "a/b/c", "../x", "a/", "own/Insects\n"])
def test_invalid_names(asked: list[dict[str, object]], name: str) -> None:
    with pytest.raises(DatasetError, match="is named OWNER/NAME"):
        pinned_snapshot(name, COMMIT, allow_download=True)
    assert asked == []


@pytest.mark.parametrize("name", ["README.md", "data/0.parquet"])
def test_a_changed_file_is_refused(asked: list[dict[str, object]], snapshot: Path, name: str) -> None:
    held = (snapshot / name).read_bytes()
    (snapshot / name).resolve().write_bytes(held[:-1] + b"!")
    with pytest.raises(DatasetError, match=f"{name} does not match the hash"):
        pinned_snapshot("own/Insects", COMMIT, allow_download=False)


def test_files_without_a_hash_are_refused(asked: list[dict[str, object]], snapshot: Path) -> None:
    (snapshot / "more.txt").write_bytes(b"added")
    with pytest.raises(DatasetError, match=r"more\.txt does not match the hash"):
        pinned_snapshot("own/Insects", COMMIT, allow_download=False)
    (snapshot / "more.txt").unlink()
    (snapshot / "lost.txt").symlink_to("nowhere")
    with pytest.raises(DatasetError, match=r"lost\.txt"):
        pinned_snapshot("own/Insects", COMMIT, allow_download=False)


def test_code_is_refused(asked: list[dict[str, object]], snapshot: Path) -> None:
    (snapshot / "Insects.py").symlink_to((snapshot / "README.md").resolve())
    with pytest.raises(DatasetError, match="is a loading script; scripts are not run"):
        pinned_snapshot("own/Insects", COMMIT, allow_download=True)


def test_what_is_not_in_the_cache_is_not_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(DatasetError, match="--allow-download to fetch it"):
        pinned_snapshot("own/Insects", COMMIT, allow_download=False)


def test_what_is_in_the_cache_is_found(snapshot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The hub's own library, on a cache made by hand."""
    cache = tmp_path / "cache" / "datasets--own--Insects"
    cache.mkdir(parents=True)
    (tmp_path / "snapshots").rename(cache / "snapshots")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    found = pinned_snapshot("own/Insects", COMMIT, allow_download=False)
    assert (found / "data" / "0.parquet").read_bytes() == LARGE
