"""What this machine is, as its own software names it."""

from __future__ import annotations

import platform
from pathlib import Path

from imlp_audit.workers import cores

CPUINFO = Path("/proc/cpuinfo")


def hardware(device: str) -> str:
    """Return the names of the processor, with the cores that may be used, and of the GPU where models run on one."""
    count = cores()
    cpu = f"{processor(CPUINFO)}, {count} {'core' if count == 1 else 'cores'}"
    if device == "cpu":
        return cpu
    import torch

    return f"{torch.cuda.get_device_name()} ({cpu})"


def processor(cpuinfo: Path) -> str:
    """Return the processor's model from Linux's list of processors, elsewhere from what Python knows."""
    try:
        lines = cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, "") or platform.processor() or platform.machine() or "a processor without a name"
