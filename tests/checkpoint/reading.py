"""Files of weights read and loaded in one step; of several states in a file, the likeliest is meant."""

from __future__ import annotations

from pathlib import Path

from torch import Tensor, nn

from imlp_audit.checkpoint.contents import Checkpoint, parse_states
from imlp_audit.checkpoint.fitting import fit
from imlp_audit.checkpoint.loading import load_fitted, read_tensors


def parse(path: Path, state: str | None = None) -> Checkpoint:
    return parse_states(path, state)[0]


def read_state(path: Path, state: str | None = None) -> dict[str, Tensor]:
    return read_tensors(parse(path, state))


def load_into(model: nn.Module, checkpoint: Checkpoint) -> tuple[str, ...]:
    return load_fitted(model, checkpoint, fit(checkpoint.shapes, model))
