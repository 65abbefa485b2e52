"""Several processes, started by torchrun, that share an evaluation: each of N takes every N-th batch."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

from imlp_audit.errors import AuditError, BuildError, UsageError
from imlp_audit.numbers.words import count_of

Value = TypeVar("Value")
_START = "start the processes with --processes N or torchrun, or unset WORLD_SIZE and the like for one process"
_PATIENCE = timedelta(days=7)  # for the slowest process; if one dies, torchrun ends the others


class ElsewhereError(Exception):
    """Another process has failed, and reports the reason."""


@dataclass(frozen=True)
class Group:
    """The `size` processes of an evaluation; this one is number `rank`, and number `local` on its machine."""

    rank: int = 0
    size: int = 1
    local: int = 0

    @property
    def leads(self) -> bool:
        """Whether this is the process that prints and writes."""
        return self.rank == 0

    def share(self, batches: int) -> range:
        """Return the numbers of this process's batches; together the processes take each batch once."""
        return range(self.rank, batches, self.size)

    def exchange(self, mine: Value) -> list[Value]:
        """Return the values of all processes, in order, once each has given its own."""
        if self.size == 1:
            return [mine]
        from torch import distributed

        values: list[Value] = [mine] * self.size
        distributed.all_gather_object(values, mine)
        return values

    def agree_on(self, work: Callable[[], Value]) -> Value:
        """Do work in every process. If it fails, the first to fail raises its error, the others ElsewhereError."""
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
    """Yield the group that torchrun started this process in, or a group of this process alone.

    CPU processes communicate by gloo, GPU processes by NCCL, each on its own GPU. Raises BuildError, and UsageError for
    variables of the environment that do not fit.
    """
    size = _read_number("WORLD_SIZE", 1, default="1")
    if size == 1:
        yield Group()
        return
    found = Group(_read_number("RANK", 0, size - 1), size, _read_number("LOCAL_RANK", 0, size - 1))
    _read("MASTER_ADDR")
    _read_number("MASTER_PORT", 1, 65535)
    from torch import distributed

    if device == "cuda":
        _take_gpu(found)
    distributed.init_process_group("nccl" if device == "cuda" else "gloo", timeout=_PATIENCE)
    yield found
    distributed.destroy_process_group()  # not after an error: another process may be waiting for this one


def processes_here() -> int:
    """Return how many processes torchrun started on this machine."""
    return _read_number("LOCAL_WORLD_SIZE", 1, default="1")


def _read_number(name: str, least: int, most: int | None = None, default: str | None = None) -> int:
    text = _read(name, default)
    if not (text.isascii() and text.isdecimal()) or int(text) < least or (most is not None and int(text) > most):
        wanted = f"a whole number from {least} on" if most is None else f"a whole number from {least} to {most}"
        raise UsageError(f"the environment variable {name} is {text[:40]!r}, which is not {wanted}; {_START}")
    return int(text)


def _read(name: str, default: str | None = None) -> str:
    text = os.environ.get(name, default)
    if text is None:
        raise UsageError(f"WORLD_SIZE says that there are several processes, but {name} is not set; {_START}")
    return text


def _take_gpu(found: Group) -> None:
    import torch

    there = torch.cuda.device_count()
    if found.local >= there:
        raise BuildError(
            f"{processes_here()} processes share {count_of(there, 'GPU')} on this machine; start one process per GPU"
        )
    torch.cuda.set_device(found.local)
