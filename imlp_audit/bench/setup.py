"""How throughput is measured, as the user chooses, and on what. Imports no framework and no spec."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from imlp_audit.processes.limits import cores

FEWEST_PAIRS = 6  # the range of five pairs holds the median with 94 %, so they give no 95 % interval


class ModelDtype(StrEnum):
    """The type of weights and images, by torch's name."""

    FLOAT32 = "float32"
    BFLOAT16 = "bfloat16"
    FLOAT16 = "float16"


@dataclass(frozen=True)
class Setup:
    """How models are run and timed; `threads` is torch's own choice if None.

    `batch` is the images per forward pass. `reading` is the declared reading that models are built under, the paper's
    default if None. With `same_hardware` the user states that hardware, software and settings are the paper's.
    """

    batch: int = 32
    pairs: int = 10
    device: str = "cpu"
    threads: int | None = None
    dtype: ModelDtype = ModelDtype.FLOAT32
    channels_last: bool = False
    compiled: bool = False
    reading: str | None = None
    same_hardware: bool = False


CPUINFO = Path("/proc/cpuinfo")


def hardware(device: str) -> str:
    """Return the names of the processor, with its usable cores, and of the GPU if models run on one."""
    count = cores()
    cpu = f"{processor(CPUINFO)}, {count} {'core' if count == 1 else 'cores'}"
    if device == "cpu":
        return cpu
    import torch

    return f"{torch.cuda.get_device_name()} ({cpu})"


def processor(cpuinfo: Path) -> str:
    """Return the processor's model name from Linux's list of processors, elsewhere from Python."""
    try:
        lines = cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, "") or platform.processor() or platform.machine() or "an unnamed processor"
