"""The files of a checkpoint, and what one of them holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from imlp_audit.checkpoint.files.container import Identity
from imlp_audit.checkpoint.files.zip_archive import ZipMember
from imlp_audit.checkpoint.tensors import StorageSpan


@dataclass(frozen=True)
class ParsedFile:
    """A file of a checkpoint as it was when it was parsed, and its members if it is a zip archive."""

    path: Path
    identity: Identity
    members: tuple[ZipMember, ...] = ()


@dataclass(frozen=True)
class Content:
    """What a file describes, the bytes of each storage in it, and the members of a zip archive."""

    tree: object
    spans: Mapping[str, StorageSpan]
    members: tuple[ZipMember, ...] = ()
