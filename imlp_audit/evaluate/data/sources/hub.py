"""A data set of the Hugging Face hub at one commit, with every file checked against its hash."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from imlp_audit.errors import DatasetError

_CHUNK = 2**20


def pinned_snapshot(name: str, revision: str, *, allow_download: bool) -> Path:
    """Return the folder of a data set in the hub's cache, downloading it first if that is allowed.

    `revision` is a full commit id, because a branch or a tag can move. The hub's cache names each file by its SHA-256
    or its git SHA-1; every file is checked against its name, whether just downloaded or not. Raises DatasetError.
    """
    if not re.fullmatch(r"\w[\w.-]*/\w[\w.-]*", name, re.ASCII):
        raise DatasetError(f"hfds/{name}: a data set of the hub is named OWNER/NAME")
    if not re.fullmatch("[0-9a-f]{40}", revision):
        raise DatasetError(
            f"hfds/{name}: name the commit by all its 40 digits, hfds/{name}@COMMIT; a branch or a tag can move"
        )
    folder = _fetch(name, revision, allow_download=allow_download)
    for path in sorted(path for path in folder.rglob("*") if not path.is_dir()):
        _verify(path)
    return folder


def _fetch(name: str, revision: str, *, allow_download: bool) -> Path:
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
        hint = "" if allow_download else "; pass --allow-download to fetch it"
        raise DatasetError(
            f"hfds/{name}@{revision} could not be found: {str(error).splitlines()[0][:300]}{hint}"
        ) from error


def _verify(path: Path) -> None:
    if path.suffix == ".py":
        raise DatasetError(f"{path} is a loading script; scripts are not run, so this data set cannot be used")
    name = path.readlink().name if path.is_symlink() else ""
    try:
        found = _sha256(path) if len(name) == 64 else _git_sha1(path)
    except OSError as error:
        raise DatasetError(f"{path} cannot be read: {error.strerror}; fetch it again") from error
    if name != found:
        raise DatasetError(f"{path} does not match the hash in its name; remove it and fetch it again")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _git_sha1(path: Path) -> str:
    digest = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
