"""A data set of the Hugging Face hub at one commit, every file held against its hash."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from imlp_audit.errors import DatasetError

_CHUNK = 2**20


def pinned_snapshot(name: str, revision: str, *, allow_download: bool) -> Path:
    """Return the folder that a data set lies in, from the hub's cache, or downloaded where that is allowed.

    `revision` is a commit in full, as a branch or a tag can be moved. The hub's cache names each file by its SHA-256,
    or by git's SHA-1 of it, and each one is held against that, downloaded or not. Raises DatasetError.
    """
    if not re.fullmatch(r"\w[\w.-]*/\w[\w.-]*", name, re.ASCII):
        raise DatasetError(f"hfds/{name}: a data set of the hub is called OWNER/NAME")
    if not re.fullmatch("[0-9a-f]{40}", revision):
        raise DatasetError(
            f"hfds/{name}: say which commit, all 40 digits of it, as hfds/{name}@COMMIT; a branch or a tag can be moved"
        )
    folder = _fetched(name, revision, allow_download=allow_download)
    for path in sorted(path for path in folder.rglob("*") if not path.is_dir()):
        _verify(path)
    return folder


def _fetched(name: str, revision: str, *, allow_download: bool) -> Path:
    from huggingface_hub import snapshot_download

    try:
        return Path(
            snapshot_download(
                name,
                repo_type="dataset",
                revision=revision,
                local_files_only=not allow_download,
                ignore_patterns=["*.py"],  # loading scripts
            )
        )
    except Exception as error:  # of the network, of the hub, or of the disk
        hint = "" if allow_download else "; --allow-download fetches it"
        raise DatasetError(f"hfds/{name}@{revision} is not there: {str(error).splitlines()[0][:300]}{hint}") from error


def _verify(path: Path) -> None:
    if path.suffix == ".py":
        raise DatasetError(f"{path} is a loading script, which is not run; this data set cannot be used")
    name = path.readlink().name if path.is_symlink() else ""
    try:
        found = _sha256(path) if len(name) == 64 else _git_sha1(path)
    except OSError as error:
        raise DatasetError(f"{path} cannot be read: {error.strerror}; fetch it again") from error
    if name != found:
        raise DatasetError(f"{path} does not have the hash that the hub names it by; remove it and fetch it again")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _git_sha1(path: Path) -> str:
    digest = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
