"""How many printed numbers that need weights, data or hardware could be wrong without any check noticing.

Changes each such number by one last digit and by ten, in both directions, and makes every check that it has a part in:

    python benchmarks/guards.py [--list] [SPEC ...]
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence

from imlp_audit.checks.context import Context
from imlp_audit.checks.guards import OFFSETS, Guards, is_uncounted
from imlp_audit.checks.run import models_needed
from imlp_audit.count.build_and_count import measure_models
from imlp_audit.spec.columns import MemoryColumn
from imlp_audit.spec.load import load, select_checks
from imlp_audit.spec.plan import CellPlan


def main(arguments: Sequence[str]) -> None:
    """Print, for each paper and measure, how many numbers there are and how many changes are noticed."""
    plans = select_checks(load([one for one in arguments if one != "--list"]), skip=["*/equations/*"])
    cells = [plan for plan in plans if isinstance(plan, CellPlan) and is_uncounted(plan.cell)]
    sized = [plan for plan in cells if isinstance(plan.cell.column, MemoryColumn)]
    context = Context(dict(measure_models(models_needed(sized, Context({})), lambda name: None)))
    guards, counts = Guards.among(plans, {plan.id for plan in cells}, context), Counter[tuple[str, str, str]]()
    for plan in cells:
        noticed = {digits: guards.notice(plan.cell, digits) for digits in OFFSETS}
        one, ten = (any(noticed[way * digits] for way in (-1, 1)) for digits in (1, 10))
        if "--list" in arguments and not any(noticed.values()):
            print(f"unguarded: {plan.id} {plan.cell.printed.text}")
        for paper in (plan.cell.row.paper.id, "all"):
            for measure in (plan.cell.column.measure.value, "all"):
                counts[paper, measure, "cells"] += 1
                counts[paper, measure, "one digit unnoticed"] += not one
                counts[paper, measure, "ten digits unnoticed"] += not ten
                counts[paper, measure, "unguarded"] += not any(noticed.values())
                counts[paper, measure, "changes noticed of four each"] += sum(noticed.values())
    print(f"changes by {', '.join(map(str, OFFSETS))} last digits")
    for paper, measure in dict.fromkeys((paper, measure) for paper, measure, _ in counts):
        values = {name: n for (where, what, name), n in counts.items() if (where, what) == (paper, measure)}
        print(f"{paper:22} {measure:11} " + ", ".join(f"{name} {n}" for name, n in values.items()))


if __name__ == "__main__":
    main(sys.argv[1:])
