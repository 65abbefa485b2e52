"""Reading files of weights: tensors by name, and nothing that could run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor

from imlp_audit.errors import CheckpointError

_WRAPPERS = ("model", "state_dict", "model_ema")


def read_state(path: Path) -> dict[str, Tensor]:
    """Return the tensors of a safetensors file, or of a torch file that holds tensors alone.

    Raises CheckpointError saying what is wrong with the file.
    """
    if not path.is_file():
        raise CheckpointError(f"{path} is no file; give a .safetensors file or a torch file of weights")
    loaded = _safetensors(path) if path.suffix == ".safetensors" else _torch(path)
    for wrapper in _WRAPPERS:
        if isinstance(loaded, Mapping) and isinstance(loaded.get(wrapper), Mapping):
            loaded = loaded[wrapper]
    state = (
        {n: v for n, v in loaded.items() if isinstance(n, str) and isinstance(v, Tensor)}
        if isinstance(loaded, Mapping)
        else {}
    )
    if not state:
        raise CheckpointError(f"{path} holds no tensors by name")
    return state


def _safetensors(path: Path) -> object:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return load_file(path)
    except (SafetensorError, OSError, ValueError) as error:
        raise CheckpointError(f"{path} is no whole safetensors file: {error}") from error


def _torch(path: Path) -> object:
    try:
        return torch.load(path, weights_only=True, map_location="cpu")
    except Exception as error:  # of a broken file torch's unpickler raises whatever it stumbles on
        # torch's own words advise to load it with its code
        advice = "save model.state_dict() with safetensors, in a file that ends in .safetensors"
        raise CheckpointError(f"{path} is no torch file that holds tensors alone; {advice}") from error
