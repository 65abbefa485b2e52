"""Sec. 3.1: what gMLP and self-attention cost."""

import torch
from hypothesis import strategies as st
from torch import Tensor, tensor

from imlp_audit.claims import Sides, claim_about
from imlp_audit.count.call import Operation
from imlp_audit.count.conventions import FLOPS_CONVENTIONS, total
from imlp_audit.count.ledger import measure
from imlp_audit.models.blocks import Gate
from imlp_audit.models.gmlp import GmlpBlock

from ._costs import second_differences, transformer_macs

NUMBER, SMALL = st.integers(1, 4), st.integers(1, 3)
EVEN = st.sampled_from((2, 4, 6))


def _costs(gate: Gate, S: int, C: int, D_C: int) -> Tensor:
    """Return the work of U and V, of f, and of s beside f: multiply-accumulates, and products of elements."""
    with torch.device("meta"):
        ledger = measure(GmlpBlock(C, D_C, S, gate), torch.empty(1, S, C))
    whole, f = (total(one, FLOPS_CONVENTIONS["macs"]) for one in (ledger, ledger.within({"sgu"})))
    return tensor([whole - f, f, ledger.work["sgu", Operation.ELEMENTWISE]])


claim = claim_about(S=NUMBER, C=NUMBER, D_C=SMALL)


@claim(
    place="Sec. 3.1, last paragraph",
    printed="Два слоя, выполняющие проекции по каналам, [...] имеют в общей сложности 2 D_C S C операций. [...] "
    "получается D_C S^2 операций в функции f(.) и D_C S в s(.).",
)
def gmlp_cost(S: int, C: int, D_C: int) -> Sides:
    """The two channel projections of a gMLP block take 2 D_C S C operations, f takes D_C S^2 and s takes D_C S.

    Read as: multiply-accumulates of the matrix products, and products of elements in s(Z) = Z * f(Z); one sequence;
    norms, biases, GELU and the skip left out.
    """
    return _costs(Gate.PRODUCT, S, C, D_C), tensor([2 * D_C * S * C, D_C * S**2, D_C * S])


@claim(
    share=0.3,
    place="Sec. 3.1, last paragraph",
    printed="Таким образом, получим, что вычислительная сложность gMLP линейна по количеству каналов, но "
    "квадратична по токенам.",
)
def gmlp_cost_growth(S: int, C: int, D_C: int) -> Sides:
    """A gMLP block's complexity is linear in the number of channels, and quadratic in tokens.

    Read as: at a given D_C, equal steps of C add equal amounts to the work that gmlp_cost counts, and at a given C so
    do equal steps of D_C; equal steps of S change it by amounts that grow by the same amount > 0 each time.
    attention_cost_in_channels_corrected tells what happens where D_C grows with C, as in Table 4.
    """

    def cost(S: int, C: int, D_C: int) -> int:
        return int(_costs(Gate.PRODUCT, S, C, D_C).sum())

    by_c = second_differences([cost(S, C + step, D_C) for step in range(4)])
    by_d_c = second_differences([cost(S, C, D_C + step) for step in range(4)])
    by_s = second_differences([cost(S + step, C, D_C) for step in range(4)])
    return by_c == by_d_c == [0, 0] and by_s[0] == by_s[1] > 0


@claim(
    D_C=EVEN,
    examples=[{"S": 1, "C": 1, "D_C": 2}],
    place="Sec. 3.1, last paragraph",
    printed="Посмотрим на вычислительную сложность каждого блока gMLP. Два слоя, выполняющие проекции по каналам, "
    "[...] имеют в общей сложности 2 D_C S C операций. [...] получается D_C S^2 операций в функции f(.) и D_C S в "
    "s(.).",
    nearest="gmlp_split_cost_corrected",
)
def gmlp_split_cost(S: int, C: int, D_C: int) -> Sides:
    """In every gMLP block, also one with the split unit, U and V take 2 D_C S C operations, f takes D_C S^2, s takes
    D_C S.

    Read as: of the split unit, which the text introduces before it counts and uses from Table 8 on; counted as in
    gmlp_cost.
    """
    return _costs(Gate.SPLIT, S, C, D_C), tensor([2 * D_C * S * C, D_C * S**2, D_C * S])


@claim(
    D_C=EVEN,
    place="Sec. 3.1, last paragraph, for the s(Z) of the split",
    corrected="3/2 D_C S C operations in the channel projections, D_C S^2 / 2 in f(.), D_C S / 2 in s(.)",
)
def gmlp_split_cost_corrected(S: int, C: int, D_C: int) -> Sides:
    """With the split unit, U and V take 3/2 D_C S C operations, f takes D_C S^2 / 2 and s takes D_C S / 2."""
    half = D_C // 2
    return _costs(Gate.SPLIT, S, C, D_C), tensor([3 * half * S * C, half * S**2, half * S])


@claim(
    share=0.2,
    place="Sec. 3.1, last sentence",
    printed="вычислительная сложность gMLP линейна по количеству каналов, но квадратична по токенам. Такую же "
    "сложность имеют Трансформеры.",
)
def attention_cost_in_tokens(S: int, C: int, D_C: int) -> Sides:
    """Transformers are quadratic in tokens, as gMLP is.

    Read as: the multiply-accumulates of self-attention and the fully connected layers after it are a polynomial of
    degree 2 in S: equal steps of S change them by amounts that grow by the same amount, 4 C.
    """
    return second_differences([transformer_macs(n, C, D_C) for n in range(S, S + 4)]) == [4 * C] * 2


@claim(
    examples=[{"S": 1, "C": 1, "D_C": 1}],
    place="Sec. 3.1, last sentence",
    printed="вычислительная сложность gMLP линейна по количеству каналов, но квадратична по токенам. Такую же "
    "сложность имеют Трансформеры.",
    nearest="attention_cost_in_channels_corrected",
)
def attention_cost_in_channels(S: int, C: int, D_C: int) -> Sides:
    """Transformers are linear in the number of channels, as gMLP is.

    Read as in gmlp_cost_growth: at a given D_C, equal steps of C add equal amounts to the multiply-accumulates of
    self-attention and the fully connected layers after it. Queries, keys, values and their projection add C x C
    matrices.
    """
    costs = [transformer_macs(S, channels, D_C) for channels in range(C, C + 3)]
    return costs[1] - costs[0], costs[2] - costs[1]


@claim(
    r=NUMBER,
    share=0.4,
    place="Sec. 3.1, last sentence",
    corrected="at D_C = r C, the multiply-accumulates of a gMLP block are r C S^2 + 2 r C^2 S, and those of a "
    "Transformer's block 2 C S^2 + (4 + 2 r) C^2 S: polynomials of degree 2 in C and of degree 2 in S",
)
def attention_cost_in_channels_corrected(S: int, C: int, r: int) -> Sides:
    """Where D_C is a multiple of C, as in Table 4, Transformers and gMLP are both quadratic in C, and both in S."""
    projections, f, _ = _costs(Gate.PRODUCT, S, C, r * C).tolist()
    return [
        (projections + f, r * C * S**2 + 2 * r * C**2 * S),
        (transformer_macs(S, C, r * C), 2 * C * S**2 + (4 + 2 * r) * C**2 * S),
    ]
