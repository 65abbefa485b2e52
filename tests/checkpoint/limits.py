"""Run as a program: how much time and memory each file of a folder takes to be refused, without torch. Prints JSON."""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

from imlp_audit.checkpoint.contents import parse_states
from imlp_audit.errors import CheckpointError


def measured(path: Path) -> dict[str, object]:
    before, begun = peak(), time.process_time()
    try:
        parse_states(path)
        told = "accepted"
    except CheckpointError as error:
        told = str(error)
    return {"told": told, "seconds": time.process_time() - begun, "bytes": peak() - before}


def peak() -> int:
    """The most memory that this process ever had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    found = {path.name: measured(path) for path in sorted(Path(sys.argv[1]).iterdir())}
    print(json.dumps({"files": found, "torch": "torch" in sys.modules}))
