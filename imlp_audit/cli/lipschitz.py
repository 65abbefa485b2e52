"""`imlp-audit lipschitz`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from imlp_audit.cli.options import Formatted
from imlp_audit.cli.output import emit_document
from imlp_audit.errors import CheckpointError, UsageError, did_you_mean
from imlp_audit.report.formats import Format

if TYPE_CHECKING:
    from torch import Tensor

_STARTS = 8  # points from which the largest gradient is searched for


def lipschitz(
    checkpoint: Annotated[
        Path | None,
        typer.Argument(
            metavar="CHECKPOINT", help="Weights with IMLP blocks; a new block if left out.", show_default=False
        ),
    ] = None,
    block: Annotated[
        str | None, typer.Option(metavar="PATH", help="The block of the checkpoint; the first if left out.")
    ] = None,
    width: Annotated[
        int | None,
        typer.Option(min=1, max=4096, metavar="C", help="Channels of a new block, with C' = 4 C; 192 if left out."),
    ] = None,
    seed: Annotated[
        int,
        typer.Option(
            min=0,
            max=2**63 - 1,
            help="Seed of a new block's weights and of the points where the gradient search starts.",
        ),
    ] = 0,
    time_limit: Annotated[
        float, typer.Option(min=0.001, max=1e6, metavar="SECONDS", help="Time limit of a solver for one branch.")
    ] = 600,
    format_: Formatted = Format.RICH,
) -> int:
    """Bound the Lipschitz constant of an AMLP module by Theorem 1's semidefinite program."""
    import torch

    from imlp_audit.checkpoint.loading import read_state
    from imlp_audit.equations.lipschitz.branches import branches
    from imlp_audit.equations.lipschitz.estimate import estimate
    from imlp_audit.report.lipschitz import lipschitz_document

    if checkpoint is None and block is not None:
        raise UsageError("--block selects a block of a checkpoint; give a checkpoint too")
    if checkpoint is not None and width is not None:
        raise UsageError("--width is for a new block; a checkpoint has its own width")
    state = _new_block(width or 192, seed) if checkpoint is None else read_state(checkpoint)
    path = _choose_block(state, block, checkpoint)
    pair = branches(state, path)
    generator = torch.Generator().manual_seed(seed)
    points = torch.randn(_STARTS, pair[0].inner.shape[1], generator=generator, dtype=torch.float64).numpy()
    _warn_if_slow(len(pair[0].inner))
    found = estimate(pair, list(points), time_limit, path)
    document = lipschitz_document(found, path or ("a new block" if checkpoint is None else "the module"))
    emit_document(document, format_, found)
    return 0


def _warn_if_slow(hidden: int) -> None:
    if hidden > 100 and sys.stderr.isatty():
        sys.stderr.write(f"solving two semidefinite programs of {hidden} hidden units; this takes minutes\n")


def _new_block(width: int, seed: int) -> dict[str, Tensor]:
    """Return the initial weights of a block of the IMLP recipe (ratio 2)."""
    import torch

    from imlp_audit.models.imlp import amlp

    torch.manual_seed(seed)
    return amlp(width, 2 * width).state_dict()


def _choose_block(state: dict[str, Tensor], wanted: str | None, checkpoint: Path | None) -> str:
    from imlp_audit.equations.lipschitz.branches import blocks_in

    found = blocks_in(state)
    if not found:
        raise CheckpointError(f"{checkpoint} has no IMLP block: no name ends in act.agelu1.alpha or act1.move1.scale")
    if wanted is not None and wanted not in found:
        raise CheckpointError(f"{checkpoint} has no IMLP block {wanted!r}; {did_you_mean(wanted, found, 'blocks')}")
    return found[0] if wanted is None else wanted
