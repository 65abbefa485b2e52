"""Sec. 3.1, what gMLP and self-attention cost."""

from __future__ import annotations

from dataclasses import replace

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, claim
from imlp_audit.equations.counts import second_differences
from imlp_audit.models.blocks import Gate

from ._shapes import Sizes, printed_costs, sizes
from ._transformer import transformer_macs


@claim(sizes((1, 2, 3)))
def gmlp_cost(case: Sizes, arithmetic: Arithmetic) -> Trial:
    """The two channel projections of a gMLP block take 2 D_C S C operations, f takes D_C S^2 and s takes D_C S.

    Read as: multiply-accumulates of the matrix products, and products of elements in s(Z) = Z * f(Z); one sequence;
    norms, biases, GELU and the skip left out.

    Place: Sec. 3.1, last paragraph
    Printed: Два слоя, выполняющие проекции по каналам, [...] имеют в общей сложности 2 D_C S C операций. [...]
        получается D_C S^2 операций в функции f(.) и D_C S в s(.).
    Bound: none: the ledger of a forward pass is exact
    """
    # Hold the ledger of the package's block against the printed numbers.
    printed, found = printed_costs(case), case.costs(Gate.PRODUCT)
    return Trial(printed == found, {**case.shown(), "printed": printed, "found": found})


STEPS = range(4)


@claim(sizes((1, 2, 3)), share=0.08)
def gmlp_cost_growth(case: Sizes, arithmetic: Arithmetic) -> Trial:
    """A gMLP block's complexity is linear in the number of channels, and quadratic in tokens.

    Read as: at a given D_C, equal steps of C add equal amounts to the work that gmlp_cost counts, and at a given C so
    do equal steps of D_C; equal steps of S change it by amounts that grow by the same amount > 0 each time.
    attention_cost_in_channels_corrected tells what happens where D_C grows with C, as in Table 4.

    Place: Sec. 3.1, last paragraph
    Printed: Таким образом, получим, что вычислительная сложность gMLP линейна по количеству каналов, но квадратична по
        токенам.
    Bound: none: the ledger of a forward pass is exact
    """
    # Take second differences of the block's ledger by each size.
    by_c = _differences([replace(case, c=case.c + step) for step in STEPS])
    by_d_c = _differences([replace(case, d_c=case.d_c + step) for step in STEPS])
    by_s = _differences([replace(case, s=case.s + step) for step in STEPS])
    holds = by_c == by_d_c == [0, 0] and by_s[0] == by_s[1] > 0
    return Trial(holds, {**case.shown(), "second differences by C": by_c, "by D_C": by_d_c, "by S": by_s})


def _differences(sizes: list[Sizes]) -> list[int]:
    return second_differences([sum(size.costs(Gate.PRODUCT).values()) for size in sizes])


@claim(sizes())
def gmlp_split_cost(case: Sizes, arithmetic: Arithmetic) -> Trial:
    """In every gMLP block, also one with the split unit, U and V take 2 D_C S C operations, f takes D_C S^2, s takes
    D_C S.

    Read as: of the split unit, which the text introduces before it counts and uses from Table 8 on; counted as in
    gmlp_cost.

    Place: Sec. 3.1, last paragraph
    Printed: Посмотрим на вычислительную сложность каждого блока gMLP. Два слоя, выполняющие проекции по каналам, [...]
        имеют в общей сложности 2 D_C S C операций. [...] получается D_C S^2 операций в функции f(.) и D_C S в s(.).
    Nearest: gmlp_split_cost_corrected
    Bound: none: the ledger of a forward pass is exact
    """
    # Hold the ledger of the package's block against the printed numbers.
    printed, found = printed_costs(case), case.costs(Gate.SPLIT)
    return Trial(printed == found, {**case.shown(), "printed": printed, "found": found})


@claim(sizes())
def gmlp_split_cost_corrected(case: Sizes, arithmetic: Arithmetic) -> Trial:
    """With the split unit, U and V take 3/2 D_C S C operations, f takes D_C S^2 / 2 and s takes D_C S / 2.

    Place: Sec. 3.1, last paragraph, for the s(Z) of the split
    Corrected: 3/2 D_C S C operations in the channel projections, D_C S^2 / 2 in f(.), D_C S / 2 in s(.)
    Bound: none: the ledger of a forward pass is exact
    """
    # Hold the ledger of the package's block against the corrected numbers.
    half = case.d_c // 2
    corrected = {"U and V": 3 * half * case.s * case.c, "f": half * case.s**2, "s": half * case.s}
    found = case.costs(Gate.SPLIT)
    return Trial(corrected == found, {**case.shown(), "corrected": corrected, "found": found})


@claim(sizes((1, 2, 3)), share=0.2)
def attention_cost_in_tokens(case: Sizes, arithmetic: Arithmetic) -> Trial:
    """Transformers are quadratic in tokens, as gMLP is.

    Read as: the multiply-accumulates of self-attention and the fully connected layers after it are a polynomial of
    degree 2 in S: equal steps of S change them by amounts that grow by the same amount, 4 C.

    Place: Sec. 3.1, last sentence
    Printed: вычислительная сложность gMLP линейна по количеству каналов, но квадратична по токенам. Такую же сложность
        имеют Трансформеры.
    Bound: none: the ledger of a forward pass is exact
    """
    # Take second differences of the ledger by S.
    found = second_differences([transformer_macs(s, case.c, case.d_c) for s in range(case.s, case.s + 4)])
    return Trial(found == [4 * case.c] * 2, {**case.shown(), "second differences by S": found})


@claim(sizes((1, 2, 3)))
def attention_cost_in_channels(case: Sizes, arithmetic: Arithmetic) -> Trial:
    """Transformers are linear in the number of channels, as gMLP is.

    Read as in gmlp_cost_growth: at a given D_C, equal steps of C add equal amounts to the multiply-accumulates of
    self-attention and the fully connected layers after it. Queries, keys, values and their projection add C x C
    matrices.

    Place: Sec. 3.1, last sentence
    Printed: вычислительная сложность gMLP линейна по количеству каналов, но квадратична по токенам. Такую же сложность
        имеют Трансформеры.
    Nearest: attention_cost_in_channels_corrected
    Bound: none: the ledger of a forward pass is exact
    """
    # Hold what one more channel adds against what the next one adds.
    costs = [transformer_macs(case.s, c, case.d_c) for c in range(case.c, case.c + 3)]
    found = {f"multiply-accumulates with {case.c + i} channels": cost for i, cost in enumerate(costs)}
    holds = costs[1] - costs[0] == costs[2] - costs[1]
    return Trial(holds, {"S": case.s, "D_C": case.d_c, **found})


@claim(st.tuples(*[st.integers(1, 4)] * 3), share=0.4)
def attention_cost_in_channels_corrected(case: tuple[int, int, int], arithmetic: Arithmetic) -> Trial:
    """Where D_C is a multiple of C, as in Table 4, Transformers and gMLP are both quadratic in C, and both in S.

    Place: Sec. 3.1, last sentence
    Corrected: at D_C = r C, the multiply-accumulates of a gMLP block are r C S^2 + 2 r C^2 S, and those of a
        Transformer's block 2 C S^2 + (4 + 2 r) C^2 S: polynomials of degree 2 in C and of degree 2 in S
    Bound: none: the ledger of a forward pass is exact
    """
    # Hold both ledgers against both polynomials.
    s, c, r = case
    costs = Sizes(s, c, r * c).costs(Gate.PRODUCT)
    gmlp, transformer = costs["U and V"] + costs["f"], transformer_macs(s, c, r * c)
    shown = {"S": s, "C": c, "r": r, "gMLP": gmlp, "Transformer": transformer}
    as_said = (r * c * s**2 + 2 * r * c**2 * s, 2 * c * s**2 + (4 + 2 * r) * c**2 * s)
    return Trial((gmlp, transformer) == as_said, shown)
