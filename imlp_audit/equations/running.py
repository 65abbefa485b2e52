"""Testing many claims, in this process or in several."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from importlib import import_module

import torch

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.catalogue import ClaimText
from imlp_audit.equations.claim import Claim
from imlp_audit.equations.outcome import Outcome
from imlp_audit.equations.search import search
from imlp_audit.equations.settings import Settings
from imlp_audit.errors import BuildError


def run_claims(
    claims: Sequence[ClaimText], settings: Settings, progress: Callable[[str], None]
) -> Mapping[str, Outcome]:
    """Test claims and return what each gave, by its id; `progress` is told of each that is begun or done."""
    if min(settings.jobs, len(claims)) > 1:
        return _in_processes(claims, settings, progress)
    outcomes = {}
    for claim in claims:
        progress(claim.id)
        outcomes[claim.id] = _run(claim.module, settings)
    return outcomes


def _in_processes(
    claims: Sequence[ClaimText], settings: Settings, progress: Callable[[str], None]
) -> Mapping[str, Outcome]:
    # those that need a solver take longest: they go first, so that no process is left alone with them
    ordered = sorted(claims, key=lambda claim: claim.needs is None)
    fresh = multiprocessing.get_context("spawn")  # a fork would inherit torch's threads, or a CUDA context
    jobs = min(settings.jobs, len(claims))
    with ProcessPoolExecutor(jobs, mp_context=fresh, initializer=_leave_interrupts_to_the_parent) as pool:
        waiting: dict[Future[Outcome], str] = {pool.submit(_run, c.module, settings): c.id for c in ordered}
        try:
            for done in as_completed(waiting):
                progress(waiting[done])
            return {name: done.result() for done, name in waiting.items()}
        except BaseException as error:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in multiprocessing.active_children():
                process.terminate()
            if isinstance(error, BrokenProcessPool):
                raise BuildError("a process that tests claims was ended from outside; try --jobs 1") from error
            raise


def _leave_interrupts_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _run(module: str, settings: Settings) -> Outcome:
    """Test the claim of a module."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # sums of equal order wherever it runs
    torch.backends.cudnn.allow_tf32 = False  # a GPU would round products to 11 bits and call it float32
    try:
        claim: Claim[object] = import_module(module).CLAIM
        arithmetic = Arithmetic(getattr(torch, settings.dtype.value), settings.device)
        found = search(claim, arithmetic, settings.limits)
        return found if claim.figure is None else replace(found, figure=claim.figure())
    finally:
        torch.set_num_threads(threads)
