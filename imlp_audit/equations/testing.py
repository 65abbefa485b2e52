"""Testing one claim in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch

from imlp_audit.claims.catalogue import ClaimCode
from imlp_audit.claims.settings import Outcome, Settings
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim
from imlp_audit.equations.search import search
from imlp_audit.processes.code import load_module, locate_error


class LoadError(Exception):
    """A claim's module cannot be imported; the message says where and why."""


def run_claim(code: ClaimCode, settings: Settings, beat: Callable[[], None] = lambda: None) -> Outcome:
    """Test a claim; `beat` is called when its module is loaded and before each example."""
    try:
        claim = load_claim(code)
    except LoadError as error:
        return Outcome(0, problem=str(error))
    beat()
    arithmetic = Arithmetic(torch.float64, settings.device)
    with _the_same_everywhere():
        return search(claim, arithmetic, settings.limits, beat)


def load_claim(code: ClaimCode) -> Claim[object]:
    """Import the module of a claim and return the claim. Raises LoadError."""
    try:
        module = load_module(code.folder, f"{code.inner}.{code.module}")
    except (Exception, SystemExit) as error:
        raise LoadError(f"{_place_of(error, code)}: {type(error).__name__}: {error}") from error
    claim = getattr(module, code.function, None)
    if not isinstance(claim, Claim):
        raise LoadError(f"{code.file}: {code.function} is not a claim; its decorator is not imlp_audit's `claim`")
    return claim


def _place_of(error: BaseException, code: ClaimCode) -> str:
    """Return the last line of the paper's own Python in an error's traceback."""
    return locate_error(error, code.folder, code.shown_as) or code.file


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
