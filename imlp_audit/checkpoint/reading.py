"""Reading files of weights: tensors by name, and nothing that could run."""

from __future__ import annotations

import argparse
import hashlib
from io import BufferedReader
from pathlib import Path
from typing import assert_never

import torch
from torch import Tensor

from imlp_audit.checkpoint.container import Container, opened
from imlp_audit.checkpoint.layouts import State
from imlp_audit.checkpoint.refusal import RefusedError, naming, shown
from imlp_audit.checkpoint.shapes import check_sums, preflight

SAFE_SINCE = "2.10"  # before it, a file could corrupt memory through torch's safe unpickler (CVE-2026-24747)


def read_state(path: Path, state: str | None = None) -> dict[str, Tensor]:
    """Return the tensors of a safetensors file, or of a torch file that holds tensors alone, on the CPU.

    Names are the model's own: without the wrappers' prefixes. `state` chooses among several states in the file.
    What the file claims is held against it before torch is given it (`shapes.examine`). Raises CheckpointError.
    """
    with naming(path), opened(path) as one:
        contents = preflight(one.data, state)
        match contents.container:
            case Container.SAFETENSORS:
                loaded = _safetensors(path)
            case Container.TORCH:
                check_sums(one.data)
                loaded = _torch(one.file)
            case Container.LEGACY_TORCH:
                loaded = _torch(one.file)
            case _:
                assert_never(contents.container)
        return _taken(loaded, contents.state)


def digest(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal. Raises CheckpointError where it cannot be read."""
    with naming(path), opened(path) as one:
        return hashlib.file_digest(one.file, "sha256").hexdigest()


def _safetensors(path: Path) -> object:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return load_file(path)
    except (SafetensorError, ValueError, RuntimeError) as error:
        raise RefusedError(f"is no whole safetensors file: {shown(error)}; download it or save it again") from error


def _torch(file: BufferedReader) -> object:
    if torch.__version__ < SAFE_SINCE:  # a TorchVersion: 2.9 is less
        told = f"is a torch file, and reading those safely takes torch {SAFE_SINCE}"
        raise RefusedError(f"{told}, not {torch.__version__}; upgrade torch, or save the weights with safetensors")
    try:
        with torch.serialization.safe_globals([argparse.Namespace]):  # training options, a plain table
            return torch.load(file, weights_only=True, map_location="cpu", mmap=False)
    except Exception as error:  # of a broken file torch's unpickler raises whatever it stumbles on
        # torch's own words advise to load it with its code
        advice = "save model.state_dict() with safetensors, in a file that ends in .safetensors"
        raise RefusedError(f"is no torch file that holds tensors alone; {advice}") from error


def _taken(loaded: object, state: State) -> dict[str, Tensor]:
    """Return the chosen tensors of what was loaded, which must be what the preflight saw."""
    table = loaded
    for key in state.path:
        table = dict.get(table, key) if isinstance(table, dict) else None
    if not isinstance(table, dict):
        raise RefusedError("was read as something else than it was checked as; do not use it")
    found = {new: dict.get(table, old) for new, old in state.names.items()}
    tensors = {name: value for name, value in found.items() if isinstance(value, Tensor)}
    for name, held in state.tensors.items():
        tensor = tensors.get(name)
        if tensor is None or (tuple(tensor.shape), str(tensor.dtype)) != (held.shape, f"torch.{held.dtype}"):
            raise RefusedError(f"was read with another {shown(name)} than it was checked with; do not use it")
    return {name: tensor.detach() for name, tensor in tensors.items()}
