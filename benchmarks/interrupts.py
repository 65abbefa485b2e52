"""Interrupts runs of a command at instants spread over its whole length, and counts how they end.

    python benchmarks/interrupts.py [--instants 300] [ARGUMENT...]

Each run gets an interrupt as a terminal sends it: to the command and all its processes. It must end with 130, write
nothing on stdout or stderr, and leave the file of `-o` whole or absent with nothing beside it; or be over before.
Python itself answers while it starts, before the first line of imlp-audit runs: by the signal (130 for a shell), or,
while it runs `site`, with a traceback and exit code 1. Both are counted apart.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

SPEC = """\
paper: small
about: {title: One model, authors: A. Author, version: v1}
tables:
  - table: "1"
    title: One model
    source: {section: "1"}
    columns: {params: {measure: parameters, unit: M, heading: Parameters (M)}}
    rows: [{id: tiny, label: DeiT-Ti, model: {timm: deit_tiny_patch16_224}, printed: {params: 5.7}}]
"""
EQUATION = "imlp/equations/agelu_starts_as_gelu"  # so that a run counts a model and starts a process for a claim


def main() -> None:
    """Measure the length of a run, interrupt others, and print how they ended. Exit with 1 if one ended wrongly."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instants", type=int, default=300, help="how many runs are interrupted")
    parser.add_argument("arguments", nargs="*", help="what to run instead of a small `verify`")
    asked = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job would ignore interrupts
    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder) / "small.yaml"
        small.write_text(SPEC, encoding="utf-8")
        usual = ["verify", str(small), "imlp", "--only", "small/*", "--only", EQUATION]
        _interrupt_all([sys.executable, "-m", "imlp_audit", *(asked.arguments or usual)], asked.instants)


def _interrupt_all(command: list[str], instants: int) -> None:
    length, code = _length(command)
    print(f"{' '.join(command[2:])}: {length:.1f} s, exit code {code}", flush=True)
    ends: Counter[str] = Counter()
    for at in range(instants):
        ends[_interrupted(command, _spread(at) * length * 1.05, code)] += 1
        print(f"{at + 1} of {instants}: {dict(ends)}", file=sys.stderr, flush=True)
    for end, count in ends.most_common():
        print(f"{count:5}  {end}")
    sys.exit(any(end.startswith("WRONG") for end in ends))


def _spread(at: int) -> float:
    """Return the next of many numbers that are spread evenly from 0 to 1, however many are taken: van der Corput's."""
    return int(f"{at:016b}"[::-1], 2) / 2**16


def _length(command: list[str]) -> tuple[float, int]:
    """Return how long a run takes that nobody interrupts, the second time, and its exit code."""
    for _ in range(2):
        begun = time.monotonic()
        code = subprocess.run(command, capture_output=True, check=False).returncode
    return time.monotonic() - begun, code


def _interrupted(command: list[str], instant: float, normal: int) -> str:
    """Interrupt a run and return how it ended, in words."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        process = subprocess.Popen(
            [*command, "-q", "-o", f"json:{report}"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            start_new_session=True,
        )
        time.sleep(instant)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate()
        left = sorted(path.name for path in Path(folder).iterdir())
        whole = left == [] or (left == ["report.json"] and bool(json.loads(report.read_text(encoding="utf-8"))))
    match process.returncode:
        case _ if not whole:
            return f"WRONG: at {instant:.3f} s it left {left}"
        case 130 if not out + err:
            return "130, silently"
        case code if code == normal and left and not out + err:
            return f"{code}: it was over before"
        case code if code == -signal.SIGINT and "imlp_audit" not in err:
            return "ended by the signal while Python started (130 for a shell)"
        case 1 if "init_import_site" in err:
            return "1, while Python ran `site`"
        case code:
            return f"WRONG: at {instant:.3f} s it ended with {code}: {(out + err)[-300:]!r}"


if __name__ == "__main__":
    main()
