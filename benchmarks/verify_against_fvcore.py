"""Times `imlp-audit verify` against plain fvcore on the same models, in turn, and prints the ratios.

    python benchmarks/verify_against_fvcore.py [RUNS]

Both sides are whole processes, started cold; fvcore counts the 22 models of IMLP's Table 1 that can be built (11
baselines, 11 variants under the reading `released`), which is less than verify does of numbers;
equations are left out. Ratios carry over between machines better than seconds.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass

VERIFY = [sys.executable, "-m", "imlp_audit", "verify", "imlp", "--quiet", "--skip", "*/equations/*"]
FVCORE = [sys.executable, __file__, "--fvcore"]


@dataclass(frozen=True)
class EvaluatedCell:
    """One process: wall seconds, processor seconds, and peak resident memory in MB."""

    wall: float
    cpu: float
    memory: float


def count_with_plain_fvcore() -> None:
    """Build the models of Table 1 with real weights and count each with fvcore."""
    import torch

    from imlp_audit.count.fvcore import count_with_fvcore, unfuse_attention
    from imlp_audit.models.build import Builder
    from imlp_audit.spec.library import load
    from imlp_audit.spec.references import rows_of

    paper = load(["imlp"]).papers[0]
    reading = paper.about.value.readings["released"].reading().imlp
    for row in rows_of(paper):
        if row.table.value.table == "1" and row.row.model is not None:
            with Builder("cpu").variant(row.row.model, reading) as variant:
                print(row.id, count_with_fvcore(unfuse_attention(variant.model), torch.zeros(1, 3, 224, 224)))


def run(command: list[str]) -> EvaluatedCell:
    """EvaluatedCell a command to its end and return what the operating system booked for it."""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"{' '.join(command)} ended with status {status}")
    return EvaluatedCell(time.perf_counter() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000)


def main() -> None:
    """EvaluatedCell both in turn and print medians and the ratios of each pair."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    pairs = [(run(VERIFY), run(FVCORE)) for _ in range(runs)]
    print(f"{runs} pairs, medians     verify   fvcore   fvcore/verify (of each pair)")
    for name, unit in (("wall", "s"), ("cpu", "s"), ("memory", "MB")):
        ours, theirs = ([getattr(one, name) for one in side] for side in zip(*pairs, strict=True))
        ratios = sorted(b / a for a, b in zip(ours, theirs, strict=True))
        print(
            f"{name:>8} ({unit:>2}) {statistics.median(ours):14.1f} {statistics.median(theirs):8.1f}"
            f"   {statistics.median(ratios):.1f} ({ratios[0]:.1f} to {ratios[-1]:.1f})"
        )


if __name__ == "__main__":
    if sys.argv[1:] == ["--fvcore"]:
        count_with_plain_fvcore()
    else:
        main()
