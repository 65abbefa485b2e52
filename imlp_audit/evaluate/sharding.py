"""Several processes that share an evaluation, as torchrun starts them: of N, each takes every N-th batch."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

from imlp_audit.errors import AuditError, BuildError

Told = TypeVar("Told")
_PATIENCE = timedelta(days=7)  # for the slowest process; of one that dies torchrun ends the others


class ElsewhereError(Exception):
    """Another process has failed, and says why."""


@dataclass(frozen=True)
class Group:
    """The processes of an evaluation: `size` of them, of which this one has the number `rank`, and `local` here."""

    rank: int = 0
    size: int = 1
    local: int = 0

    @property
    def leads(self) -> bool:
        """Whether this is the process that prints and writes."""
        return self.rank == 0

    def share(self, batches: int) -> range:
        """Return the numbers of the batches that this process takes; together they take each once."""
        return range(self.rank, batches, self.size)

    def exchange(self, mine: Told) -> list[Told]:
        """Return what each process has given, in their order, once all have."""
        if self.size == 1:
            return [mine]
        from torch import distributed

        told: list[Told] = [mine] * self.size
        distributed.all_gather_object(told, mine)
        return told

    def agreed(self, work: Callable[[], Told]) -> Told:
        """Do what every process does. Where it fails, the first that fails raises why, the others ElsewhereError."""
        error: AuditError | None = None
        try:
            done = work()
        except AuditError as raised:
            error = raised
        failed = [rank for rank, fails in enumerate(self.exchange(error is not None)) if fails]
        if not failed:
            return done
        if error is None or self.rank != failed[0]:
            raise ElsewhereError
        raise error


@contextmanager
def group(device: str) -> Iterator[Group]:
    """Yield the group that torchrun started this process in, or one of this process alone.

    Processes talk by gloo where they compute on CPUs, by NCCL where on GPUs, each on its own. Raises BuildError.
    """
    size = int(os.environ.get("WORLD_SIZE", "1"))
    if size == 1:
        yield Group()
        return
    found = Group(int(os.environ["RANK"]), size, int(os.environ["LOCAL_RANK"]))
    from torch import distributed

    if device == "cuda":
        _take_gpu(found)
    distributed.init_process_group("nccl" if device == "cuda" else "gloo", timeout=_PATIENCE)
    yield found
    distributed.destroy_process_group()  # not after an error: another process may wait for this one, until it ends


def processes_here() -> int:
    """Return how many processes torchrun started on this machine."""
    return int(os.environ.get("LOCAL_WORLD_SIZE", "1"))


def _take_gpu(found: Group) -> None:
    import torch

    there = torch.cuda.device_count()
    if found.local >= there:
        raise BuildError(
            f"{processes_here()} processes and {there} GPUs on this machine; start one process for each GPU"
        )
    torch.cuda.set_device(found.local)
