"""`imlp-audit lipschitz`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from imlp_audit.cli.stream import emit
from imlp_audit.errors import CheckpointError, UsageError
from imlp_audit.near import did_you_mean

if TYPE_CHECKING:
    from torch import Tensor

    from imlp_audit.lipschitz.estimate import LipschitzBounds

_STARTS = 8  # points that the largest gradient is looked for from


class Form(StrEnum):
    """How the bounds are written."""

    TEXT = "text"
    JSON = "json"


def lipschitz(
    checkpoint: Annotated[
        Path | None,
        typer.Argument(metavar="CHECKPOINT", help="Weights with IMLP blocks; a new block if none.", show_default=False),
    ] = None,
    block: Annotated[
        str | None, typer.Option(metavar="PATH", help="Which block of the checkpoint; the first if left out.")
    ] = None,
    width: Annotated[
        int | None, typer.Option(min=1, max=4096, metavar="C", help="Of a new block, with C' = 4 C; 192 if left out.")
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, max=2**63 - 1, help="Of a new block's weights, and of where the gradient starts.")
    ] = 0,
    time_limit: Annotated[
        float, typer.Option(min=0.001, max=1e6, metavar="SECONDS", help="How long a solver may take for one branch.")
    ] = 600,
    form: Annotated[Form, typer.Option("--format", "-f", help="What to print.")] = Form.TEXT,
) -> int:
    """Bound the Lipschitz constant of an AMLP module by Theorem 1's semidefinite program."""
    import torch

    from imlp_audit.checkpoint.reading import read_state
    from imlp_audit.lipschitz.branches import branches
    from imlp_audit.lipschitz.estimate import estimate
    from imlp_audit.records.document import to_json
    from imlp_audit.records.lipschitz import LipschitzBounds

    if checkpoint is None and block is not None:
        raise UsageError("--block chooses among the blocks of a checkpoint; give one")
    if checkpoint is not None and width is not None:
        raise UsageError("--width is of a new block; a checkpoint has its own")
    state = _new_block(width or 192, seed) if checkpoint is None else read_state(checkpoint)
    path = _chosen(state, block, checkpoint)
    pair = branches(state, path)
    generator = torch.Generator().manual_seed(seed)
    points = torch.randn(_STARTS, pair[0].inner.shape[1], generator=generator, dtype=torch.float64).numpy()
    _tell_that_it_takes_long(len(pair[0].inner))
    found = estimate(pair, list(points), time_limit)
    if form is Form.JSON:
        emit(to_json(LipschitzBounds(block=path, bound=found.bound, **asdict(found))))
    else:
        emit("\n".join(_lines(found, path or ("a new block" if checkpoint is None else "the module"))) + "\n")
    return 0


def _tell_that_it_takes_long(hidden: int) -> None:
    if hidden > 100 and sys.stderr.isatty():
        sys.stderr.write(f"solving two semidefinite programs of {hidden} hidden units; this takes minutes\n")


def _new_block(width: int, seed: int) -> dict[str, Tensor]:
    """Return a block of the IMLP recipe (ratio 2) as it is initialised."""
    import torch

    from imlp_audit.models.imlp import amlp

    torch.manual_seed(seed)
    return amlp(width, 2 * width).state_dict()


def _chosen(state: dict[str, Tensor], wanted: str | None, checkpoint: Path | None) -> str:
    from imlp_audit.lipschitz.branches import blocks_in

    found = blocks_in(state)
    if not found:
        raise CheckpointError(f"{checkpoint} has no IMLP block: no name ends in act.agelu1.alpha or act1.move1.scale")
    if wanted is not None and wanted not in found:
        raise CheckpointError(f"{checkpoint} has no IMLP block {wanted!r}; {did_you_mean(wanted, found, 'blocks')}")
    return found[0] if wanted is None else wanted


def _lines(found: LipschitzBounds, name: str) -> Iterator[str]:
    rho = " and ".join(f"{value:.6g}" for value in found.rho)
    yield f"{name}: C = {found.width}, C' = {2 * found.hidden}, two branches of {found.hidden} hidden units"
    yield f"Lipschitz constant <= {found.bound:.6g}  proven by Theorem 1 with rho = {rho}"
    yield f"                   <= {found.product:.6g}  by the product of the spectral norms, without Theorem 1"
    yield f"                   >= {found.gradient:.6g}  the largest gradient norm found from {_STARTS} points"
    proposals = ", ".join(f"{solver} {value:.6g}" for solver, value in found.solvers.items())
    yield f"proposed by: {proposals}; each proven by a Cholesky factorisation with a margin for rounding"
    yield "The module is W^1 concat(AGeLU(W^0 x + b^0), AGeLU'(W^0 x + b^0)) + b^1: norms and a depthwise block around"
    yield "it are not part of Theorem 1. The coefficients of AGeLU count as part of the weights."
