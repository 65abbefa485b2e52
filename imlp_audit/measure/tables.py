"""Tables of formulas by operation name; no name can be registered twice."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from imlp_audit.measure.call import Call
from imlp_audit.measure.operations import Work

Formula: TypeAlias = Callable[[Call], Work]
Table: TypeAlias = Mapping[str, Formula]


def each(names: str, formula: Formula) -> Table:
    """One formula for the aten operations named in a space-separated text."""
    return join(*({f"aten::{name}": formula} for name in names.split()))


def join(*tables: Table) -> Table:
    """All entries of all tables; raises ValueError if two tables name the same operation."""
    joined: dict[str, Formula] = {}
    for table in tables:
        if repeated := joined.keys() & table.keys():
            raise ValueError(f"registered twice: {', '.join(sorted(repeated))}")
        joined |= table
    return joined
