"""Counts the same models with imlp-audit and with six other counters, and compares numbers, time and memory.

    pip install thop calflops torchinfo ptflops accelerate
    python benchmarks/counters.py [RUNS]

Each counter is called as its documentation says, on models as timm builds them, in a process of its own that does
nothing else. Numbers are multiply-accumulates; FlopCounterMode counts each as two operations, so its are halved.
The exact count is the ledger's, of every product of matrices and every convolution, attention included. Torch's own
FlopCounterMode gives the same where attention is not fused. Counters take turns; ratios carry over between machines.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

MODELS = (
    ("resnet50", 224),
    ("mobilenetv3_large_100", 224),
    ("efficientnet_b0", 224),
    ("convnext_tiny", 224),
    ("deit_small_patch16_224", 224),
    ("swin_tiny_patch4_window7_224", 224),
    ("pvt_v2_b1", 224),
    ("poolformer_s12", 224),
    ("mixer_b16_224", 224),
    ("gmlp_s16_224", 224),
    ("resmlp_12_224", 224),
)
COUNTERS = ("imlp-audit", "FlopCounterMode", "fvcore", "ptflops", "thop", "calflops", "torchinfo")


@dataclass(frozen=True)
class CounterRun:
    """What one process gave: multiply-accumulates by model, wall seconds, and peak resident memory in MB."""

    counts: dict[str, int]
    wall: float
    memory: float


def count(counter: str) -> dict[str, int]:
    """Count every model with one counter, as its documentation says."""
    import timm
    import torch

    counted = _counting(counter)
    found = {}
    for name, size in MODELS:
        with torch.device("meta") if counter == "imlp-audit" else contextlib.nullcontext():
            model, image = timm.create_model(name).eval(), torch.zeros(1, 3, size, size)
        with contextlib.redirect_stdout(io.StringIO()), torch.no_grad():
            found[name] = round(counted(model, image))
    return found


def _counting(counter: str) -> Callable[..., float]:
    """Return a function of a model and its input, with the counter's libraries imported."""
    match counter:
        case "imlp-audit":
            import imlp_audit

            return lambda model, image: imlp_audit.measure(model, image).flops["macs"]
        case "FlopCounterMode":
            from torch.utils.flop_counter import FlopCounterMode

            def by_torch(model: Callable[..., object], image: object) -> float:
                with FlopCounterMode(display=False) as counting:
                    model(image)
                return int(counting.get_total_flops()) / 2

            return by_torch
        case "fvcore":
            from fvcore.nn import FlopCountAnalysis

            return lambda model, image: FlopCountAnalysis(model, image).total()
        case "ptflops":
            from ptflops import get_model_complexity_info

            return lambda model, image: get_model_complexity_info(
                model, tuple(image.shape[1:]), as_strings=False, print_per_layer_stat=False
            )[0]
        case "thop":
            from thop import profile

            return lambda model, image: profile(model, inputs=(image,), verbose=False)[0]
        case "calflops":
            from calflops import calculate_flops

            return lambda model, image: calculate_flops(
                model, input_shape=tuple(image.shape), output_as_string=False, print_results=False
            )[1]
        case "torchinfo":
            from torchinfo import summary

            return lambda model, image: summary(model, input_data=image, verbose=0).total_mult_adds
        case _:
            raise SystemExit(f"no counter is called {counter!r}; there are {', '.join(COUNTERS)}")


def run(counter: str) -> CounterRun:
    """Run one counter in a process of its own."""
    began = time.perf_counter()
    process = subprocess.Popen([sys.executable, __file__, "--count", counter], stdout=subprocess.PIPE, text=True)
    out = process.stdout.read() if process.stdout is not None else ""
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"{counter} ended with status {status}")
    return CounterRun(json.loads(out.splitlines()[-1]), time.perf_counter() - began, usage.ru_maxrss / 1000)


def table(runs: dict[str, list[CounterRun]]) -> Iterator[str]:
    """Yield the lines of a table in markdown: time and memory relative to ours, and errors against the exact count."""
    exact, ours = runs["imlp-audit"][0].counts, runs["imlp-audit"]
    yield "| counter | time | memory | exact | median error | largest error |"
    yield "| --- | --: | --: | --: | --: | --- |"
    for counter, made in runs.items():
        ratios = [one.wall / base.wall for one, base in zip(made, ours, strict=True)]
        memory = statistics.median(one.memory for one in made)
        errors = {name: (made[0].counts[name] - exact[name]) / exact[name] for name in exact}
        worst = max(errors, key=lambda name: abs(errors[name]))
        right = sum(error == 0 for error in errors.values())
        largest = f"{errors[worst]:+.2%} ({worst})" if errors[worst] else "0"
        yield (
            f"| {counter} | {statistics.median(ratios):.1f} | {memory:,.0f} MB | {right} of {len(errors)} "
            f"| {statistics.median(map(abs, errors.values())):.2%} | {largest} |"
        )
    yield ""
    yield "| model | " + " | ".join(runs) + " |"
    yield "| --- |" + " --: |" * len(runs)
    for name in exact:
        numbers = (f"{made[0].counts[name]:,}".replace(",", " ") for made in runs.values())
        yield f"| `{name}` | " + " | ".join(numbers) + " |"


def main() -> None:
    """Run all counters in turn and print the tables."""
    rounds = [{counter: run(counter) for counter in COUNTERS} for _ in range(int(sys.argv[1]) if sys.argv[1:] else 3)]
    runs = {counter: [one[counter] for one in rounds] for counter in COUNTERS}
    print(f"{len(rounds)} rounds; imlp-audit: {statistics.median(one.wall for one in runs['imlp-audit']):.1f} s\n")
    print("\n".join(table(runs)))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--count"]:
        print(json.dumps(count(sys.argv[2])))
    else:
        main()
