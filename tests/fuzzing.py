"""Feeds damaged files to the commands that read them, and says what was not answered as it should be.

    python -m tests.fuzzing [SECONDS] [--seed TEXT] [--only NUMBER]

Every input must end with a documented exit code and, where it is refused, with the file's name, without a traceback,
and within a second of processor time and 200 MB. An input follows from the seed and its number, so `--only` makes one
again. CI runs this for some seconds with a new seed each day, which it prints.
"""

from __future__ import annotations

import argparse
import gc
import json
import re
import resource
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from tests.cli.papers import write_all
from tests.cli.running import Outcome, call

ROOT = Path(__file__).parents[1]
SECONDS, MEGABYTES = 1.0, 200
PATIENCE = 30  # seconds after which an input counts as endless

_JUNK = (
    *"\\{}[]&%$#_^~|*<>\"'`-+±×,.:;\n\r\t \x00\u202e\ufeffé５", "\x1b[2J", "\\\\", "\\begin{tabular}{l}",
    "\\end{tabular}", "\\multirow{2}{*}{", "\\multicolumn{99999}{c}{", "\\newcommand{\\x}[2]{#1#1}", "\\x",
    "<td rowspan=3>", "<table>", "</table>", "---\n", "&amp;", "- ", "? ", "!!python/object:os.system ", "&a ", "*a",
    "<<: ", "null", "true", "NaN", "1e40000000", "1/0", "-0", "9" * 400, "1e308", "[" * 60, "{" * 60, "::error::x",
)  # fmt: skip


@dataclass(frozen=True)
class Reader:
    """A kind of file: samples by name, the commands that read one, and how one of these is run."""

    samples: Mapping[str, bytes]
    commands: Callable[[Path], Iterator[tuple[str, ...]]]
    run: Callable[..., Outcome] = call


def spec_reader() -> Reader:
    """Specs: those of the tests that must pass."""
    paths = sorted((ROOT / "tests" / "examples" / "good").rglob("*.yaml"))
    samples = {f"{at}_{path.name}": path.read_bytes() for at, path in enumerate(paths)}
    return Reader(samples, lambda path: iter([("lint", str(path)), ("list", str(path))]))


def table_reader() -> Reader:
    """Tables for `init` in its formats."""
    rows = [
        ["model", "#params", "FLOPs (G)", "top-1"],
        ["DeiT-S", "22.1M", "4.6", "79.8"],
        ["DeiT-B", "86M", "17.6", "81.8"],
    ]
    line = "|".join
    samples = {
        "t.tex": "\n".join(
            [
                r"\begin{table}\caption{Models on ImageNet-1k, $224^2$ images.}\label{tab:main}",
                r"\begin{tabular}{l|ccc}\toprule",
                *(" & ".join(row).replace("#", r"\#") + r" \\ \hline" for row in rows),
                r"\bottomrule\end{tabular}\end{table}",
            ]
        ),
        "t.csv": "\n".join(",".join(row) for row in rows),
        "t.md": "\n".join([f"|{line(rows[0])}|", "|-|-|-|-|", *(f"|{line(row)}|" for row in rows[1:])]),
        "t.html": "<table>"
        + "".join(f"<tr>{''.join(f'<td>{one}</td>' for one in row)}</tr>" for row in rows)
        + "</table>",
        "t.yml": "Models:\n- Name: deit_small\n  Metadata: {FLOPs: 4608000000, Parameters: 22050664}\n",
    }
    encoded = {name: text.encode() for name, text in samples.items()}
    return Reader(encoded, lambda path: iter([("init", str(path), "--print")]))


def result_reader(folder: Path) -> Reader:
    """Results of an audit, as `report --from` and `diff` read them."""
    whole = folder / "whole.json"
    specs = [str(folder / "specs" / name) for name in ("findings", "changes", "scores")]
    call("verify", *specs, "--quiet", "--no-cache", "-o", f"json:{whole}")
    text = whole.read_bytes()
    return Reader(
        {"r.json": text, "c.json": json.dumps(json.loads(text)).encode()},
        lambda path: iter([("report", "--from", str(path), "-f", "json"), ("diff", str(whole), str(path))]),
    )


def checkpoint_reader(folder: Path) -> Reader:
    """Weights as torch, safetensors and numpy write them."""
    import torch
    from safetensors.torch import save_file

    tensors = {"head.weight": torch.ones(3, 4), "head.bias": torch.zeros(3)}
    torch.save({"model": tensors, "epoch": 3}, folder / "w.pth")
    torch.save({"model": tensors, "epoch": 3}, folder / "old.pth", _use_new_zipfile_serialization=False)
    save_file(tensors, folder / "w.safetensors")
    samples = {name: (folder / name).read_bytes() for name in ("w.pth", "old.pth", "w.safetensors")}
    return Reader(samples, lambda path: iter([("inspect", str(path), "-f", "json")]))


def damage(data: bytes, others: list[bytes], chance: Random) -> bytes:
    """Return data with a few insertions, losses, repetitions, changed bytes, or pieces of other files."""
    held = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 3, 8, 25))):
        at, length = chance.randrange(len(held) + 1), chance.randint(1, 40)
        match chance.randrange(6):
            case 0:
                held[at:at] = chance.choice(_JUNK).encode("utf-8", "surrogatepass")
            case 1:
                del held[at : at + length]
            case 2:
                start = chance.randrange(len(held) + 1)
                held[at:at] = held[start : start + length] * chance.choice((1, 1, 1, 50))
            case 3 if held:
                held[min(at, len(held) - 1)] = chance.randrange(256)
            case 4:
                other = chance.choice(others)
                start = chance.randrange(len(other) + 1)
                held[at : at + length] = other[start : start + length]
            case _ if chance.random() < 0.1:
                del held[at:]
    return bytes(held)


def complaints(path: Path, command: tuple[str, ...], run: Callable[..., Outcome] = call) -> Iterator[str]:
    """Run a command on a damaged file and yield what is wrong with how it ended."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        done, spent = _timed(command, run)
    except Exception as error:  # whatever comes out is the finding
        yield f"{type(error).__name__}: {error}"
        return
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1000
    if done.code not in (0, 1, 2, 3):
        yield f"exit code {done.code}"
    if "Traceback" in done.err or "this is a bug" in done.err:
        yield done.err[-600:]
    beside = path.parent.glob("*.yaml") if path.suffix == ".yaml" else ()  # which may refer to what was damaged
    if done.code == 2 and not any(one.name in done.err for one in (path, *beside)):
        yield f"refused without the file's name: {done.err[-300:]}"
    if re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e]|^(::|##\[)", done.out + done.err, re.MULTILINE):
        yield f"prints what a terminal or a log acts on: {(done.out + done.err)[:300]!r}"
    if spent > SECONDS:  # the machine or the collector may have paused once: an input that is slow is slow each time
        spent = min(spent, *(_timed(command, run)[1] for _ in range(3)))
    if spent > SECONDS or grown > MEGABYTES:
        yield f"took {spent:.1f} s and {grown:.0f} MB"


def _timed(command: tuple[str, ...], run: Callable[..., Outcome]) -> tuple[Outcome, float]:
    began = time.process_time()
    signal.signal(signal.SIGALRM, _stop)
    signal.alarm(PATIENCE)
    try:
        return run(*command), time.process_time() - began
    finally:
        signal.alarm(0)


def _stop(*_: object) -> None:
    raise RuntimeError(f"it has not ended after {PATIENCE} s")


def main() -> int:
    """Damage files until the time is over; return how many were answered wrongly."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seconds", type=float, nargs="?", default=20)
    parser.add_argument("--seed", default=time.strftime("%Y-%m-%d"))
    parser.add_argument("--only", type=int)
    given = parser.parse_args()
    print(f"fuzzing for {given.seconds:g} s with --seed {given.seed}")
    counts: Counter[str] = Counter()
    with TemporaryDirectory() as place:
        folder = write_all(Path(place))
        made = (result_reader(folder), checkpoint_reader(folder))
        readers = [spec_reader(), table_reader(), *made]
        for reader in readers:  # what is imported at first use is not the input's
            for name, data in reader.samples.items():
                (folder / name).write_bytes(data)
                for command in reader.commands(folder / name):
                    reader.run(*command)
        gc.freeze()  # searching all that was imported for garbage, after each command, takes half the time
        gc.set_threshold(100_000)
        number, end = given.only or 0, time.monotonic() + given.seconds
        while time.monotonic() < end:
            chance = Random(f"{given.seed}/{number}")
            reader = readers[number % len(readers)]
            name = chance.choice(sorted(reader.samples))
            path = folder / name
            path.write_bytes(damage(reader.samples[name], list(reader.samples.values()), chance))
            for command in reader.commands(path):
                for complaint in complaints(path, command, reader.run):
                    counts["wrong"] += 1
                    print(f"--only {number}: {command[0]} {name}: {complaint}")
            counts["inputs"] += 1
            number += 1
            if given.only is not None:
                (Path.cwd() / f"fuzzed_{name}").write_bytes(path.read_bytes())
                break
            path.write_bytes(reader.samples[name])  # the next input may be read together with this file
    print(f"{counts['inputs']} damaged files, {counts['wrong']} answered wrongly")
    return min(counts["wrong"], 1)


if __name__ == "__main__":
    sys.exit(main())
