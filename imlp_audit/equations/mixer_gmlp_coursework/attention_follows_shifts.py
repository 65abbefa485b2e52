"""The tiny attention follows words and sentences wherever they are moved.

Read as: it is equivariant to every permutation of the tokens, shifts included: when the tokens of x change places,
those of its output change places with them.

Place: Sec. 3.5, last sentence
Printed: Этот блок позволяет, учитывать смещения слов и предложений в тексте.
Bound: that of w carried through the softmax (functions_softmax.py), then gamma of the sums over m and d
"""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.mixer_gmlp_coursework._attention import Attention, attentions


def judge(drawn: tuple[Attention, tuple[int, ...]], arithmetic: Arithmetic) -> Trial:
    """Hold the output for moved tokens against the moved output."""
    case, places = drawn
    moved = replace(case, x=tuple(case.x[place] for place in places))
    printed = case.printed(arithmetic)
    shown = {**case.shown(), "x moved": moved.x}
    return equal(moved.output(arithmetic), [printed[place] for place in places], **shown)


def _with_places(case: Attention) -> st.SearchStrategy[tuple[Attention, tuple[int, ...]]]:
    return st.tuples(st.just(case), st.permutations(range(len(case.x))).map(tuple))


CLAIM = Claim(attentions().flatmap(_with_places), judge)
