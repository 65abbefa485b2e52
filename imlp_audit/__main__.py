"""The entry point: `imlp-audit` and `python -m imlp_audit`."""

from __future__ import annotations

import gc
from typing import NoReturn

from imlp_audit.processes.interrupts import exit_on_interrupt


def main() -> NoReturn:
    """Run the command line. An interrupt ends it at once, also while the rest is imported."""
    exit_on_interrupt()
    gc.disable()  # collecting cycles while importing and building costs a second, and frees little in so short a life
    from imlp_audit.cli.main import main as run

    run()


if __name__ == "__main__":
    main()
