"""The weights with which a token attends to all tokens sum to one: the mean of equal values is that value.

Read as: the softmax, whose axis is not named, is over the last, m. Every token has the value 1 in the first channel of
x, which v takes as it is, so that each token gets 1.

Place: Fig. 4
Printed: a = softmax(w * rsqrt(d_attn)); x = einsum("bnm,bmd->bnd", a, v)
Bound: that of w carried through the softmax (functions_softmax.py), then gamma_n of the sum over m
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.mixer_gmlp_coursework._attention import Attention
from imlp_audit.equations.mixer_gmlp_coursework._gmlp import all_hold
from imlp_audit.equations.rounded import total
from imlp_audit.equations.strategies import Vector, matrices, vectors


def judge(case: Attention, arithmetic: Arithmetic) -> Trial:
    """Hold the package's attention against the sums of weights, and those against one."""
    sums = [[total(row)] for row in case.a(arithmetic)]
    one = [[arithmetic.number(1)]] * len(sums)
    sides = ((case.output(arithmetic), sums), (one, sums))
    return all_hold(equal(left, right, **case.shown()) for left, right in sides)


def _equal_values(tokens: Vector) -> st.SearchStrategy[Attention]:
    """Attentions in which v is the first channel of x, which is 1, and the output is v."""
    x, taken = st.just(tuple((1.0, token) for token in tokens)), st.just(((1.0,), (0.0,)))
    return st.builds(Attention, x, matrices(2, 1), matrices(2, 1), taken, st.just(((1.0,),)), st.just((0.0,)))


CLAIM = Claim(st.integers(2, 3).flatmap(vectors).flatmap(_equal_values), judge)
