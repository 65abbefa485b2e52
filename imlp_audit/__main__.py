"""The entry point: `imlp-audit` and `python -m imlp_audit`."""

from __future__ import annotations

import gc
import os
from typing import NoReturn

from imlp_audit.processes.interrupts import exit_on_interrupt

# Libraries import whatever calls itself a plugin of theirs, also from PYTHONPATH; nothing here needs one.
_NO_PLUGINS = {
    "HYPOTHESIS_NO_PLUGINS": "1", "PYDANTIC_DISABLE_PLUGINS": "__all__", "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",
}  # fmt: skip


def main() -> NoReturn:
    """Run the command line. An interrupt ends it at once, also while the rest is imported."""
    exit_on_interrupt()
    for name, value in _NO_PLUGINS.items():
        os.environ.setdefault(name, value)
    gc.disable()  # collecting cycles while importing and building costs a second, and frees little in so short a life
    from imlp_audit.cli.main import main as run

    run()


if __name__ == "__main__":
    main()
