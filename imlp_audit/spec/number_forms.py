"""What the numbers of a column may look like."""

from __future__ import annotations

from typing import assert_never

from imlp_audit.models.host import Setting
from imlp_audit.numbers.forms import DecimalMark, NumberForm
from imlp_audit.spec.columns import (
    AccuracyColumn,
    Column,
    FlopsColumn,
    MemoryColumn,
    ParametersColumn,
    SettingColumn,
    UncountedColumn,
)


def form_of(column: Column, decimal: DecimalMark) -> NumberForm:
    """Return what a column's numbers may look like in a paper with this decimal mark."""
    match column:
        case ParametersColumn():
            return NumberForm(column.unit, decimal, nouns=("parameters", "params"))
        case FlopsColumn():
            return NumberForm(column.unit, decimal, nouns=("flops", "macs", "madds", "mult-adds", "multiply-adds"))
        case SettingColumn(of=Setting.IMAGE | Setting.PATCH):
            return NumberForm(column.unit, decimal, square="side")
        case SettingColumn(of=Setting.TOKENS):
            return NumberForm(column.unit, decimal, square="area")
        case SettingColumn() | MemoryColumn() | AccuracyColumn() | UncountedColumn():
            return NumberForm(column.unit, decimal)
        case _:
            assert_never(column)
