"""Times whole commands, in turn with an import of torch and timm, and prints medians and ratios to that import.

    python -m benchmarks.commands [RUNS] [ROWS ...]

Seconds differ between machines; their ratios to `python -c "import torch, timm"` in the same round hardly do. Cold
commands get `--no-cache`, warm ones a cache that one run has filled before. ROWS, such as 100 400 1600, also time
`verify` of tables of so many models, once with one process and once with two: all of timm's, then the first again
with 10 classes. Run it on an idle machine.
"""

from __future__ import annotations

import os
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.processes import Cost, run

FLOOR = [sys.executable, "-c", "import torch, timm"]
AUDIT = [sys.executable, "-m", "imlp_audit"]
CODES = (0, 1)  # 1: numbers differ, which is no failure here
COMMANDS: Mapping[str, Sequence[str]] = {
    "--help": ["--help"],
    "list": ["list"],
    "lint": ["lint"],
    "verify, cold": ["verify", "--quiet", "--no-cache"],
    "verify, warm": ["verify", "--quiet"],
    "explain, warm": ["explain", "imlp/1/deit_ti/params"],
    "solve imlp/1, cold": ["solve", "imlp/1", "--no-cache"],
    "solve imlp/1, warm": ["solve", "imlp/1"],
    "properties, 100 examples": ["properties", "--quiet", "--no-cache"],
    "report of everything, warm": ["report", "--dir", "{folder}/reports"],
}


def time_commands(runs: int, folder: Path) -> Iterator[str]:
    """Yield the lines of a table of commands: medians, and the median ratio to the import of the same round."""
    commands = {name: [*AUDIT, *(word.format(folder=folder) for word in words)] for name, words in COMMANDS.items()}
    for name, words in commands.items():
        if name.endswith("warm"):
            run(words, ends_with=CODES)
    costs: dict[str, list[Cost]] = {"import torch, timm": [], **{name: [] for name in commands}}
    for _ in range(runs):
        costs["import torch, timm"].append(run(FLOOR))
        for name, words in commands.items():
            costs[name].append(run(words, ends_with=CODES))
    yield "| command | wall s | of the import | processor s | largest process MB |"
    yield "| --- | --- | --- | --- | --- |"
    for name, found in costs.items():
        pairs = zip(found, costs["import torch, timm"], strict=True)
        ratio = statistics.median(one.wall / floor.wall for one, floor in pairs)
        wall, cpu, memory = (statistics.median(getattr(one, key) for one in found) for key in ("wall", "cpu", "memory"))
        yield f"| `{name}` | {wall:.2f} | {ratio:.2f} | {cpu:.1f} | {memory:.0f} |"


def time_rows(numbers: Sequence[int], folder: Path) -> Iterator[str]:
    """Yield the lines of a table of numbers of rows."""
    yield "| rows | processes | wall s | processor s | largest process MB |"
    yield "| --- | --- | --- | --- | --- |"
    for number in numbers:
        spec = folder / f"rows{number}.yaml"
        spec.write_text("\n".join(_spec(number)))
        for jobs in (1, 2):
            words = ["verify", str(spec), "--quiet", "--no-cache", "--jobs", str(jobs)]
            cost = run([*AUDIT, *words], ends_with=CODES)
            yield f"| {number} | {jobs} | {cost.wall:.0f} | {cost.cpu:.0f} | {cost.memory:.0f} |"


def _spec(rows: int) -> Iterator[str]:
    """Yield the lines of a spec of timm's models. Its numbers are of none of them: verdicts cost the same."""
    import timm

    yield "paper: rows"
    yield "about: {title: Many rows, authors: A. Author, version: v1}"
    yield 'tables:\n  - table: "1"\n    title: Models\n    source: {section: "1"}'
    yield "    columns:\n      params: {measure: parameters, unit: M, heading: Parameters}"
    yield "      flops: {measure: flops, unit: G, heading: FLOPs}\n    rows:"
    names = timm.list_models()
    models = [*(f"timm: {name}" for name in names), *(f"timm: {name}, classes: 10" for name in names)]
    for place, model in enumerate(islice(models, rows)):
        yield f"      - {{id: r{place}, label: r{place}, model: {{{model}}}, printed: {{params: 1.0, flops: 1.0}}}}"


def main() -> None:
    """Print both tables."""
    runs, *rows = map(int, sys.argv[1:] or ["3"])
    with TemporaryDirectory() as name:
        os.environ["IMLP_AUDIT_CACHE"] = f"{name}/cache"
        for line in time_commands(runs, Path(name)):
            print(line, flush=True)
        for line in time_rows(rows, Path(name)):
            print(line, flush=True)


if __name__ == "__main__":
    main()
