"""Times `imlp-audit eval` against a plain timm loop on the same images and batches, in turn, and prints the ratios.

    python benchmarks/eval_overhead.py [PAIRS [IMAGES [BATCH [WORKERS [THREADS]]]]]

The plain loop is what timm's validate script does: create_dataset, create_loader, the model, argmax. Both sides build
DeiT-Ti, load its weights, read the same JPEG files of 500 x 375 pixels and classify them; ours also reads the spec,
checks the weights, hashes them, notes each image, writes predictions and judges. Threads are as many as cores if not
given: the plain loop computes each batch with all of them, ours as many batches at a time with one each.
The sides take turns in being first. Times are of the wall, and of the processor, which others on the machine
disturb less. The time left that the bar shows after a tenth of the images is compared with the time that was left.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

import numpy as np
import timm
import torch
from PIL import Image
from safetensors.torch import load_file, save_file
from timm.data import create_dataset, create_loader, resolve_data_config

from imlp_audit.evaluate.datasets import Data
from imlp_audit.evaluate.predictions import Running
from imlp_audit.evaluate.run import Request, run_evaluation
from imlp_audit.evaluate.weights import Weights
from imlp_audit.processes.limits import cores
from imlp_audit.spec.load import load
from imlp_audit.spec.paper import find_row

Side: TypeAlias = Callable[[Path, int, int, int], int]
MODEL = "deit_tiny_patch16_224"
SPEC = f"""\
paper: bench
about: {{title: A benchmark, authors: A. Author, version: v1}}
tables:
  - table: "1"
    title: Noise
    source: {{section: "1"}}
    columns:
      top1: {{measure: score, unit: "%", metric: top1, data: noise, heading: Top-1 (%), needs: weights and images}}
    rows:
      - {{id: deit, label: DeiT-Ti, model: {{timm: {MODEL}, classes: 10}}, printed: {{top1: 10.0}}}}
"""


def prepare(root: Path, images: int) -> None:
    """Write images, weights and the spec."""
    generator = np.random.default_rng(0)
    for number in range(images):
        folder = root / "noise" / str(number % 10)
        folder.mkdir(parents=True, exist_ok=True)
        coarse = Image.fromarray(generator.integers(0, 256, (24, 32, 3), dtype=np.uint8))
        coarse.resize((500, 375), Image.Resampling.BICUBIC).save(folder / f"{number:05}.jpg")
    torch.manual_seed(0)
    save_file(timm.create_model(MODEL, num_classes=10).state_dict(), root / "deit.safetensors")
    (root / "spec.yaml").write_text(SPEC, encoding="utf-8")


def plain(root: Path, batch: int, workers: int, threads: int) -> int:
    """Return how many images a plain timm loop classifies rightly."""
    torch.set_num_threads(threads)
    model = timm.create_model(MODEL, num_classes=10).eval()
    model.load_state_dict(load_file(root / "deit.safetensors"))
    config = resolve_data_config({}, model=model)
    loader = create_loader(
        create_dataset("", str(root / "noise")),
        input_size=config["input_size"],
        batch_size=batch,
        interpolation=config["interpolation"],
        mean=config["mean"],
        std=config["std"],
        num_workers=workers,
        crop_pct=config["crop_pct"],
        crop_mode=config["crop_mode"],
        device=torch.device("cpu"),
    )
    right = 0
    with torch.inference_mode():
        for images, labels in loader:
            right += int((model(images).argmax(1) == labels).sum())
    return right


def ours(root: Path, batch: int, workers: int, threads: int) -> int:
    """Return how many images `imlp-audit eval` finds classified rightly."""
    row = find_row(load([str(root / "spec.yaml")]).papers, "bench/1/deit")
    assert row is not None
    request = Request(
        Weights(row, root / "deit.safetensors"),
        Data(str(root / "noise")),
        running=Running(batch_size=batch, workers=workers, threads=threads),
        predictions=root / "predictions.csv",
    )
    with run_evaluation(request, lambda text: None, LEFT.watch) as result:
        (found,) = result.checks[0].evidence
        assert found.kind == "accuracy"
        return found.correct


class TimeLeft:
    """What the bar says after a tenth of the images is left, over the time that then was left."""

    def __init__(self) -> None:
        self.ratios: list[float] = []

    @contextmanager
    def watch(self) -> Iterator[Callable[[int, int], None]]:
        """Yield a callback as the bar's: it takes how many images of how many are done."""
        begun: list[float] = []
        said: list[tuple[float, float]] = []

        def tell(done: int, total: int) -> None:
            now = time.perf_counter()
            if not done:
                begun[:] = [now]
            elif begun and not said and 10 * done >= total:
                said.append((now, (now - begun[0]) / done * (total - done)))

        yield tell
        self.ratios += [left / (time.perf_counter() - at) for at, left in said]


LEFT = TimeLeft()


def timed(work: Side, root: Path, *how: int) -> tuple[float, float, int]:
    """Return the seconds of the wall and of the processors, those of finished workers included, and the result."""
    wall, spent = time.perf_counter(), _spent()
    right = work(root, *how)
    return time.perf_counter() - wall, _spent() - spent, right


def _spent() -> float:
    import resource

    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def main() -> None:
    """Evaluate both in turn and print medians."""
    given = [int(text) for text in sys.argv[1:]]
    pairs, images, *how = [*given, *(10, 256, 32, 2, cores())[len(given) :]]
    batch, workers, threads = how
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        prepare(root, images)
        sides: dict[str, Side] = {"plain timm loop": plain, "imlp-audit eval": ours}
        seen = {side: [timed(work, root, *how)] for side, work in sides.items()}  # to warm up
        if len({found[0][2] for found in seen.values()}) > 1:
            raise SystemExit("the sides disagree on how many images are classified rightly")
        for turn in range(pairs):
            for side in list(sides)[:: -1 if turn % 2 else 1]:
                seen[side].append(timed(sides[side], root, *how))
    print(f"{images} images, batches of {batch}, {workers} workers, {threads} threads; {pairs} pairs, medians")
    for side, runs in seen.items():
        wall, spent = (statistics.median(run[which] for run in runs[1:]) for which in (0, 1))
        print(f"{side:>16} {images / wall:8.1f} images a second {wall:8.2f} s {spent:8.2f} s of the processors")
    for which, told in enumerate(("wall", "processors")):
        ratios = [b[which] / a[which] for a, b in list(zip(*seen.values(), strict=True))[1:]]
        least, middle, most = min(ratios), statistics.median(ratios), max(ratios)
        print(f"ratio of {told:>10}, ours to plain: median {middle:.3f}, from {least:.3f} to {most:.3f}")
    least, middle, most = min(LEFT.ratios), statistics.median(LEFT.ratios), max(LEFT.ratios)
    print(f"time left as said after a tenth, to what it was: median {middle:.2f}, from {least:.2f} to {most:.2f}")


if __name__ == "__main__":
    main()
