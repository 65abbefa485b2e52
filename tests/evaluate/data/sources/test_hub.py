"""Data sets of the Hugging Face hub, pinned."""

from __future__ import annotations

import hashlib
from pathlib import Path

import huggingface_hub
import pytest

from imlp_audit.errors import DatasetError
from imlp_audit.evaluate.data.sources.hub import pinned_snapshot

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
