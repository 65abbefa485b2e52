"""What a model has, as one vector of integers: parameters by convention, then work by class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from imlp_audit.errors import BuildError
from imlp_audit.measure.conventions import ParameterConvention
from imlp_audit.measure.operations import Operation
from imlp_audit.measure.record import Ledger

Amounts: TypeAlias = NDArray[np.int64]
"""(..., conventions of parameters and classes of work): they add up over the parts of a model."""

CONVENTIONS = tuple(ParameterConvention)
CLASSES = tuple(operation for operation in Operation if operation is not Operation.UNKNOWN)


def amounts(parameters: Mapping[ParameterConvention, int], ledger: Ledger) -> Amounts:
    """Return the vector; a convention without a count has 0. Raises BuildError where some work is of no known class."""
    if ledger.unknown:
        raise BuildError(f"no formula counts {', '.join(sorted(ledger.unknown))}, so its work is not all known")
    work: dict[Operation, int] = dict.fromkeys(CLASSES, 0)
    for (_, operation), amount in ledger.work.items():
        work[operation] += amount
    return np.array([*(parameters.get(c, 0) for c in CONVENTIONS), *work.values()], dtype=np.int64)


def parameters_in(table: Amounts) -> dict[str, NDArray[np.int64]]:
    """Return the parameters of each row of a table by convention; one that counts none is not known of the model."""
    return {str(convention): table[:, i] for i, convention in enumerate(CONVENTIONS) if table[:, i].any()}


def work_in(table: Amounts) -> NDArray[np.int64]:
    """Return the work of each row of a table, in the order of CLASSES."""
    return table[:, len(CONVENTIONS) :]
