"""Testing one claim in this process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module

import torch

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim
from imlp_audit.equations.outcome import Outcome
from imlp_audit.equations.search import search
from imlp_audit.equations.settings import Settings


def tested(module: str, settings: Settings) -> Outcome:
    """Test the claim of a module."""
    claim: Claim[object] = import_module(module).CLAIM
    arithmetic = Arithmetic(getattr(torch, settings.dtype.value), settings.device)
    with _the_same_everywhere():
        found = search(claim, arithmetic, settings.limits)
    return found if claim.figure is None else replace(found, figure=claim.figure())


@contextmanager
def _the_same_everywhere() -> Iterator[None]:
    """Add up in the same order on any number of cores, and on a GPU in the type that is asked for, not in TF32."""
    threads, tf32 = torch.get_num_threads(), torch.backends.cudnn.allow_tf32
    torch.set_num_threads(1)
    torch.backends.cudnn.allow_tf32 = False
    try:
        yield
    finally:
        torch.set_num_threads(threads)
        torch.backends.cudnn.allow_tf32 = tf32
