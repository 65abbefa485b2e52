"""What two processes of torchrun tell each other: `torchrun --nproc-per-node 2 -m tests.evaluate.sharing FOLDER`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from imlp_audit.errors import CheckpointError, UsageError
from imlp_audit.evaluate.run import ElsewhereError, Group, open_group, processes_here


def failing(ours: Group, ranks: tuple[int, ...]) -> str:
    """Return what the agreement on some work raises here, where it fails on some processes."""

    def work() -> str:
        if ours.rank in ranks:
            raise CheckpointError("broken") if ours.rank else UsageError("wrong")
        return "done"

    try:
        return ours.agree_on(work)
    except (CheckpointError, UsageError, ElsewhereError) as error:
        return f"{type(error).__name__}: {error}"


def main(folder: Path) -> None:
    """Write what this process sees."""
    with open_group("cpu") as ours:
        told = {
            "who": [ours.rank, ours.size, ours.local, processes_here()],
            "leads": ours.leads,
            "share": list(ours.share(5)),
            "exchanged": ours.exchange({"from": ours.rank}),
            "none fails": failing(ours, ()),
            "both fail": failing(ours, (0, 1)),
            "the first fails": failing(ours, (0,)),
            "the second fails": failing(ours, (1,)),
        }
    (folder / f"{ours.rank}.json").write_text(json.dumps(told), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
