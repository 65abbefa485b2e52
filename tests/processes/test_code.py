"""The Python of a folder is run as it is written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

LOAD = """
from pathlib import Path
import sys
from imlp_audit.processes.code import load_module
print(load_module(Path(sys.argv[1]), "own").VALUE)
"""


def test_an_edit_counts_that_leaves_size_and_time(tmp_path: Path) -> None:
    own = tmp_path / "own.py"
    own.write_text("VALUE = 1", encoding="utf-8")
    written = own.stat().st_mtime
    assert _load(tmp_path) == "1"
    own.write_text("VALUE = 2", encoding="utf-8")
    os.utime(own, (written, written))
    assert _load(tmp_path) == "2"
    assert [path.name for path in tmp_path.iterdir()] == ["own.py"]


def _load(folder: Path) -> str:
    """Load the module in a fresh process, which keeps bytecode if it is allowed to."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", LOAD, str(folder)]
    done = subprocess.run(command, stdout=subprocess.PIPE, encoding="utf-8", env=environment, check=True)
    return done.stdout.strip()
