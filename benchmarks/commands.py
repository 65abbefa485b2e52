"""Times whole commands, in turn with an import of torch and timm, and prints medians and ratios to that import.

    python -m benchmarks.commands [FIGURE.svg] [RUNS] [ROWS ...]

Seconds differ between machines; their ratios to `python -c "import torch, timm"` in the same round hardly do. Cold
commands get `--no-cache`, warm ones a cache that one run has filled before. ROWS, such as 100 400 1600, also time
`verify` of tables of so many models, once in one process and once in two: all of timm's, then the first again
with 10 classes. FIGURE.svg shows both. Run it on an idle machine; docs/speed.md has what it printed last.
"""

from __future__ import annotations

import os
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Timed:
    """What a command cost, medians over rounds, and the median ratio of its wall time to the import of its round."""

    name: str
    cost: Cost
    ratio: float


def time_commands(runs: int, folder: Path) -> list[Timed]:
    """Time every command in turn with the import, which comes first."""
    commands = {name: [*AUDIT, *(word.format(folder=folder) for word in words)] for name, words in COMMANDS.items()}
    for name, words in commands.items():
        if name.endswith("warm"):
            run(words, ends_with=CODES)
    commands = {"import torch, timm": FLOOR, **commands}
    rounds = [{name: run(words, ends_with=CODES) for name, words in commands.items()} for _ in range(runs)]
    return [_summarise(name, rounds) for name in commands]


def _summarise(name: str, rounds: Sequence[Mapping[str, Cost]]) -> Timed:
    costs = [one[name] for one in rounds]
    medians = (statistics.median(getattr(cost, key) for cost in costs) for key in ("wall", "cpu", "memory"))
    ratios = [one[name].wall / one["import torch, timm"].wall for one in rounds]
    return Timed(name, Cost(*medians), statistics.median(ratios))


def time_rows(numbers: Sequence[int], folder: Path) -> Iterator[tuple[int, int, Cost]]:
    """Yield numbers of rows and of processes, and what `verify` of so many rows costs."""
    for number in numbers:
        spec = folder / f"rows{number}.yaml"
        spec.write_text("\n".join(_spec(number)))
        for jobs in (0, 1):  # one process that counts, and two
            words = ["verify", str(spec), "--quiet", "--no-cache", "--jobs", str(jobs)]
            yield number, jobs, run([*AUDIT, *words], ends_with=CODES)


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


def draw(commands: Sequence[Timed], rows: Sequence[tuple[int, int, Cost]], path: str) -> None:
    """Draw the ratios of commands, and seconds and memory over rows where there are some."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4), layout="constrained")
    bars, *curves = figure.subplots(1, 3 if rows else 1, squeeze=False, width_ratios=[2, 1, 1] if rows else None)[0]
    drawn = bars.barh([one.name for one in commands], [one.ratio for one in commands], color="#4477aa")
    bars.bar_label(drawn, fmt="%.2f", padding=2)
    bars.set(xlabel="wall time, in imports of torch and timm")
    bars.invert_yaxis()
    bars.margins(x=0.15)
    for axes, key, label in zip(curves, ("wall", "memory"), ("wall s", "largest process, MB"), strict=False):
        for jobs in sorted({jobs for _, jobs, _ in rows}):
            points = [(number, getattr(cost, key)) for number, its, cost in rows if its == jobs]
            axes.plot(*zip(*points, strict=True), marker="o", label=f"--jobs {jobs}")
        axes.set(xlabel="rows", ylabel=label, ylim=0)
        axes.legend(frameon=False)
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    """Print both tables, and draw the figure."""
    arguments = sys.argv[1:]
    figure = arguments.pop(0) if arguments and arguments[0].endswith(".svg") else None
    runs, *numbers = map(int, arguments or ["3"])
    with TemporaryDirectory() as name:
        os.environ["IMLP_AUDIT_CACHE"] = f"{name}/cache"
        commands = time_commands(runs, Path(name))
        print(
            "| command | wall s | of the import | processor s | largest process MB |\n| --- | --: | --: | --: | --: |"
        )
        for one in commands:
            cost = one.cost
            print(
                f"| `{one.name}` | {cost.wall:.2f} | {one.ratio:.2f} | {cost.cpu:.1f} | {cost.memory:.0f} |", flush=True
            )
        rows = list(time_rows(numbers, Path(name)))
    print("\n| rows | --jobs | wall s | processor s | largest process MB |\n| --: | --: | --: | --: | --: |")
    for number, jobs, cost in rows:
        print(f"| {number} | {jobs} | {cost.wall:.0f} | {cost.cpu:.0f} | {cost.memory:.0f} |")
    if figure is not None:
        draw(commands, rows, figure)


if __name__ == "__main__":
    main()
