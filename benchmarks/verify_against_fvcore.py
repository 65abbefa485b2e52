"""Times `imlp-audit verify` against plain fvcore on the same models, in turn, and prints the ratios.

    python -m benchmarks.verify_against_fvcore [RUNS]

Both sides are whole processes, started cold; fvcore counts the 22 models of IMLP's Table 1 that can be built (11
baselines, 11 variants under the reading `released`), which is less than verify does of numbers;
equations are left out. Ratios carry over between machines better than seconds.
"""

from __future__ import annotations

import statistics
import sys

from benchmarks.processes import run

VERIFY = [sys.executable, "-m", "imlp_audit", "verify", "imlp/1", "--quiet", "--no-cache", "--skip", "*/equations/*"]
FVCORE = [sys.executable, "-m", "benchmarks.verify_against_fvcore", "--fvcore"]


def count_with_plain_fvcore() -> None:
    """Build the models of Table 1 with real weights and count each with fvcore."""
    import torch

    from imlp_audit.count.fvcore import count_with_fvcore, unfuse_attention
    from imlp_audit.models.build import Builder
    from imlp_audit.spec.load import load

    paper = load(["imlp"]).papers[0]
    reading = paper.about.value.readings["released"].reading().imlp
    for row in paper.rows:
        if row.table.value.table == "1" and row.row.model is not None:
            with Builder("cpu").variant(row.row.model, reading) as variant:
                print(row.id, count_with_fvcore(unfuse_attention(variant.model), torch.zeros(1, 3, 224, 224)))


def main() -> None:
    """Run both in turn and print medians and the ratios of each pair."""
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
