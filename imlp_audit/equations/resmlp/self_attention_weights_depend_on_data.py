"""In self-attention the weights that aggregate information from other patches depend on the data: with one channel
and queries, keys and values that are the features themselves, patch 1 takes the plain mean of all patches where its
feature is zero, and does not where it is not zero and the patches differ.

Place: Related work, Other architectures with similar components
Printed: in self-attention the weights to aggregate information from other patches are data dependent through queries
    and keys
Bound: 4 roundings of the mean's terms, four patches; what patch 1 takes has to be further from it than that
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.resmlp._layer import Values, batch_of, loaded
from imlp_audit.equations.rounded import total
from imlp_audit.equations.strategies import Vector, nonzero, numbers
from imlp_audit.models.attention import SelfAttention


def judge(x: Vector, arithmetic: Arithmetic) -> Trial:
    """Hold what patch 1 takes against the plain mean, for x and for x with zero in patch 1."""
    weights: dict[str, Values] = {"qkv.weight": ((1.0,), (1.0,), (1.0,)), "proj.weight": ((1.0,),)}
    attention = loaded(SelfAttention(1, bias=False), weights, arithmetic)

    def takes_mean(x: Vector) -> bool:
        taken = attention(batch_of((x,), arithmetic))[0, 0, 0]
        return equal(taken, 0.25 * total(arithmetic.vector(x))).holds

    found = {"takes the mean": takes_mean(x), "takes it with zero in patch 1": takes_mean((0.0, *x[1:]))}
    return Trial(found == {"takes the mean": False, "takes it with zero in patch 1": True}, {"x": x, **found})


CLAIM = Claim(st.tuples(nonzero(), numbers(), numbers(), numbers()).filter(lambda x: len(set(x)) > 1), judge)
