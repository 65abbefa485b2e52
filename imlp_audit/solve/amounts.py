"""What a model has, as one vector of integers: parameters by convention, then work by site and class."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from itertools import product
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from imlp_audit.count.conventions import Convention, ParameterConvention
from imlp_audit.count.operations import Operation
from imlp_audit.count.record import Ledger
from imlp_audit.count.sites import Site
from imlp_audit.errors import BuildError

Amounts: TypeAlias = NDArray[np.int64]
"""(..., conventions of parameters, then sites x classes of work): they add up over the parts of a model."""

CONVENTIONS = tuple(ParameterConvention)
SITES = tuple(Site)
CLASSES = tuple(operation for operation in Operation if operation is not Operation.UNKNOWN)

_PLACES: Mapping[Hashable, int] = {key: i for i, key in enumerate((*CONVENTIONS, *product(SITES, CLASSES)))}


def amounts(parameters: Mapping[ParameterConvention, int], ledger: Ledger) -> Amounts:
    """Return the vector; a convention without a count has 0. Raises BuildError for work of an unknown class."""
    if ledger.unknown:
        raise BuildError(f"no formula counts {', '.join(sorted(ledger.unknown))}, so not all work is known")
    vector = np.zeros(len(_PLACES), dtype=np.int64)
    for key, amount in (*parameters.items(), *ledger.by_site.items()):
        vector[_PLACES[key]] = amount
    return vector


def parameters_in(table: Amounts) -> dict[str, NDArray[np.int64]]:
    """Return the parameters of each row of a table by convention, without conventions that count nothing."""
    return {str(convention): table[:, i] for i, convention in enumerate(CONVENTIONS) if table[:, i].any()}


def work_in(table: Amounts) -> NDArray[np.int64]:
    """Return the work of each row of a table by class: (rows, classes), in the order of CLASSES."""
    work: NDArray[np.int64] = _by_site(table).sum(axis=1)
    return work


def total_in(table: Amounts, convention: Convention) -> NDArray[np.int64]:
    """Return the total of each row of a table under a convention, which may weigh sites apart."""
    weights = [[convention.weight(operation, site) for operation in CLASSES] for site in SITES]
    total: NDArray[np.int64] = np.einsum("rsc,sc->r", _by_site(table), np.array(weights, dtype=np.int64))
    return total


def _by_site(table: Amounts) -> NDArray[np.int64]:
    return table[:, len(CONVENTIONS) :].reshape(len(table), len(SITES), len(CLASSES))
