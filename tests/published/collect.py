"""Cut the tables out of clones that have the commits: `python -m tests.published.collect "clones/{owner}/{name}"`."""

from __future__ import annotations

import hashlib
import subprocess
import sys

from tests.published.sources import TABLES, read_sources


def collect(pattern: str) -> int:
    """Write every table whose clone is there, and return how many are missing or differ from the recorded hash."""
    TABLES.mkdir(exist_ok=True)
    missing = 0
    for table in read_sources():
        owner, _, name = table.repository.partition("/")
        clone = pattern.format(owner=owner, name=name)
        shown = subprocess.run(["git", "-C", clone, "show", f"{table.commit}:{table.path}"], capture_output=True)
        start, end = table.lines
        cut = b"".join(line + b"\n" for line in shown.stdout.removesuffix(b"\n").split(b"\n")[start - 1 : end])
        if not shown.stdout.endswith(b"\n") and end == shown.stdout.count(b"\n") + 1:
            cut = cut.removesuffix(b"\n")
        if hashlib.sha256(cut).hexdigest() == table.sha256:
            (TABLES / table.file).write_bytes(cut)
        else:
            print(
                f"{table.file}: {table.repository} at {table.commit}: {shown.stderr.decode().strip() or 'other bytes'}"
            )
            missing += 1
    return missing


if __name__ == "__main__":
    sys.exit(bool(collect(sys.argv[1])))
