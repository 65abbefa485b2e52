"""What a measurement depends on apart from what is measured: our own code, and the versions of libraries."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from imlp_audit.files import MAX_SPEC_BYTES, read_bytes

_PACKAGE = Path(__file__).resolve().parent.parent
_COUNTING = ("torch", "torchvision", "timm", "transformers", "fvcore", "numpy", "scipy")
LIBRARIES = (*_COUNTING, "cvxpy", "matplotlib")

# Layers of the import order: what is measured comes from these and nothing else of ours.
MEASURING = ("count", "models", "checkpoint", "records", "numbers", "processes", "files", "errors")
EVERYTHING = ("",)
TESTING = ("equations", *MEASURING)


@cache
def fingerprint(parts: Sequence[str]) -> str:
    """Return a digest of our own code in some parts, of Python and of the libraries that they depend on."""
    about = [platform.python_version(), platform.machine(), *map(_version, LIBRARIES)]
    own = [_fingerprint(_PACKAGE, _files(_PACKAGE / part)) for part in parts]
    return digest_of([*about, *own])


def fingerprint_folder(folder: Path) -> str:
    """Return a digest of all Python in a folder. Raises FileError."""
    return _fingerprint(folder, _files(folder))


def digest_of(parts: Iterable[str | bytes]) -> str:
    """Return a digest of texts in order, and of where each ends."""
    whole = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        whole.update(f"{len(data)} ".encode() + data)
    return whole.hexdigest()


def _fingerprint(root: Path, files: Iterable[Path]) -> str:
    return digest_of(
        text for path in files for text in (path.relative_to(root).as_posix(), read_bytes(path, MAX_SPEC_BYTES))
    )


def _files(part: Path) -> list[Path]:
    return sorted(part.rglob("*.py")) if part.is_dir() else [part.with_suffix(".py")]


def _version(library: str) -> str:
    try:
        return f"{library} {version(library)}"
    except PackageNotFoundError:
        return f"{library} not installed"
