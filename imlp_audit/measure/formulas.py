"""The table of all formulas, and the work of one call."""

from __future__ import annotations

from imlp_audit.measure.call import Call
from imlp_audit.measure.conventions import FVCORE_WEIGHTS
from imlp_audit.measure.formulas_conv import CONVOLUTIONS
from imlp_audit.measure.formulas_elements import ELEMENTS
from imlp_audit.measure.formulas_norms import NORMS
from imlp_audit.measure.formulas_products import PRODUCTS
from imlp_audit.measure.fvcore_rules import FVCORE_RULES
from imlp_audit.measure.movement import MOVEMENT
from imlp_audit.measure.operations import Operation, Work
from imlp_audit.measure.tables import Formula, join

FORMULAS = join(PRODUCTS, CONVOLUTIONS, NORMS, ELEMENTS, MOVEMENT)


def formula_of(name: str) -> Formula | None:
    """The formula of `aten::relu`, or of its in-place twin `aten::relu_`; None where there is none."""
    return FORMULAS.get(name) or FORMULAS.get(name.removesuffix("_"))


def work_of(call: Call, formula: Formula) -> Work:
    """The exact work of a call, and what fvcore would count of it beyond that."""
    work = formula(call)
    if call.name.endswith("_"):
        return unseen_by_fvcore(work)  # it knows operations by their names, and no in-place one
    rule = FVCORE_RULES.get(call.name)
    return work if rule is None else _with_fvcore_count(work, rule(call))


def unseen_by_fvcore(work: Work) -> Work:
    """The same work, of which fvcore counts nothing: it was done inside an operation that it takes as one."""
    exact: Work = {op: amount for op, amount in work.items() if op is not Operation.FVCORE_EXCESS}
    return _with_fvcore_count(exact, 0)


def _with_fvcore_count(work: Work, counted: int) -> Work:
    excess = counted - sum(FVCORE_WEIGHTS.get(operation, 0) * amount for operation, amount in work.items())
    return {**work, Operation.FVCORE_EXCESS: excess} if excess else work
