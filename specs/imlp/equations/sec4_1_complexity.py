"""Sec. 4.1, 4.3 and 5: what the modules cost in parameters and multiply-accumulates."""

from __future__ import annotations

from imlp_audit.count.parameters import count_parameters
from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, claim

from ._blocks import KERNELS, LAYERS_OF_TABLE_1, Size, amlp, imlp, mlp, multiply_accumulates, sizes
from ._vit import Vit, attention, growing, parameters, work


@claim(sizes())
def complexity_amlp_multiply_accumulates(case: Size, _: Arithmetic) -> Trial:
    """The AMLP does N C C'/2 fewer multiply-accumulates than the MLP, a quarter of its 2 N C C'.

    For every number N of tokens, width C and even C'. The first FC layer has C'/2 outputs; the second still reads C'.

    Place: Sec. 4.1, the sentence after Eq. 5
    Printed: the first FC layer has half the output channels compared to the original MLP module, and can effectively
        reduce the FLOPs
    Bound: none: multiply-accumulates are counted
    """
    # Hold what the ledgers of both modules tell against the halved layer.
    n, c, hidden = case.tokens, case.width, case.hidden
    ours = multiply_accumulates(amlp(c, hidden), 1, n, c)
    theirs = multiply_accumulates(mlp(c, hidden), 1, n, c)
    shown = {**case.shown(), "AMLP": ours, "MLP": theirs}
    return Trial((theirs - ours, 4 * (theirs - ours)) == (n * c * hidden // 2, theirs), shown)


@claim(st.tuples(st.sampled_from(sorted({width for width, _ in LAYERS_OF_TABLE_1})), st.sampled_from((4, 8))))
def complexity_amlp_parameters(case: tuple[int, int], _: Arithmetic) -> Trial:
    """The AMLP has fewer parameters than the MLP, at the widths of the models of Table 1.

    With biases, and AGeLU coefficients for every channel; C' is 4 C, or 8 C as in a stage of LVT.

    Place: Sec. 4.1, the sentence after Eq. 5
    Printed: the first FC layer has half the output channels compared to the original MLP module, and can effectively
        reduce the FLOPs and parameters in the vision transformer model
    Bound: none: parameters are counted
    """
    # Hold the parameters of one module against those of the other.
    c, ratio = case
    ours, theirs = count_parameters(amlp(c, ratio * c)), count_parameters(mlp(c, ratio * c))
    return Trial(ours < theirs, {"C": c, "C'": ratio * c, "AMLP": ours, "MLP": theirs})


@claim(sizes())
def complexity_amlp_parameters_exact(case: Size, _: Arithmetic) -> Trial:
    """The AMLP has C' (C - 7) / 2 fewer parameters than the MLP: fewer exactly where C > 7.

    For every width C and even C', with biases. Half of the first FC layer is saved, C C'/2 weights and C'/2 biases;
    four coefficients for each channel of two AGeLUs of C'/2 channels are added, 4 C' of them.

    Place: Sec. 4.1, the sentence after Eq. 5
    Corrected: (parameters of the MLP) - (parameters of the AMLP) = C C'/2 + C'/2 - 4 C' = C' (C - 7) / 2
    Bound: none: parameters are counted
    """
    # Hold the parameters of both modules against the formula.
    c, hidden = case.width, case.hidden
    ours, theirs = count_parameters(amlp(c, hidden)), count_parameters(mlp(c, hidden))
    shown = {"C": c, "C'": hidden, "AMLP": ours, "MLP": theirs}
    return Trial(2 * (theirs - ours) == hidden * (c - 7), shown)


@claim(st.tuples(st.integers(1, 16), st.integers(1, 3), st.integers(1, 8)))
def complexity_attention_quadratic(case: tuple[int, int, int], _: Arithmetic) -> Trial:
    """Plain self-attention does 4 n C^2 + 2 n^2 C multiply-accumulates on n tokens of width C: quadratic in n.

    For every number of heads that divides C.

    Place: Sec. 1
    Printed: Efficient self-attention operations reduce computational complexity of previous self-attention operation
        from O(n^2) to O(n)
    Bound: none: multiply-accumulates are counted
    """
    # Hold what the ledger tells against the polynomial.
    n, heads, head_width = case
    c = heads * head_width
    counted = multiply_accumulates(attention(c, heads), 1, n, c)
    shown = {"n": n, "C": c, "heads": heads, "counted": counted, "4 n C^2 + 2 n^2 C": 4 * n * c * c + 2 * n * n * c}
    return Trial(counted == shown["4 n C^2 + 2 n^2 C"], shown)


@claim(st.tuples(KERNELS, sizes()))
def complexity_imlp_multiply_accumulates(case: tuple[int, Size], _: Arithmetic) -> Trial:
    """The IMLP does N C' (C/2 - n^2) fewer multiply-accumulates than the MLP: fewer exactly where C > 2 n^2.

    For every number N of tokens, width C, even C' and odd n: half of the first FC layer is saved, and the depthwise
    convolution does n^2 for each of C' channels at each token.

    Place: Sec. 4.1, the sentence after Eq. 5, and Sec. 4.3
    Corrected: (multiply-accumulates of the MLP) - (of the IMLP) = N C C'/2 - N C' n^2
    Bound: none: multiply-accumulates are counted
    """
    # Hold what the ledgers of both modules tell against the formula.
    n, (tokens, c, hidden) = case[0], (case[1].tokens, case[1].width, case[1].hidden)
    ours = multiply_accumulates(imlp(c, hidden, n, grid=(1, tokens)), 1, tokens, c)
    theirs = multiply_accumulates(mlp(c, hidden), 1, tokens, c)
    shown = {**case[1].shown(), "n": n, "IMLP": ours, "MLP": theirs}
    return Trial(2 * (theirs - ours) == tokens * hidden * (c - 2 * n * n), shown)


@claim(st.tuples(KERNELS, sizes()))
def complexity_imlp_parameters(case: tuple[int, Size], _: Arithmetic) -> Trial:
    """The IMLP has C' (C - 2 n^2 - 11) / 2 fewer parameters than the MLP: fewer exactly where C > 2 n^2 + 11.

    For every width C, even C' and odd n, with biases: to what the AMLP has, the DW block adds n^2 weights for each of
    C' channels, and two numbers for each in the batch norm. A bias in the convolution would add one more.

    Place: Sec. 4.1, the sentence after Eq. 5, and Sec. 4.3
    Corrected: (parameters of the MLP) - (parameters of the IMLP) = C' (C - 7) / 2 - C' (n^2 + 2)
    Bound: none: parameters are counted
    """
    # Hold the parameters of both modules against the formula.
    n, c, hidden = case[0], case[1].width, case[1].hidden
    ours, theirs = count_parameters(imlp(c, hidden, n)), count_parameters(mlp(c, hidden))
    shown = {"C": c, "C'": hidden, "n": n, "IMLP": ours, "MLP": theirs}
    return Trial(2 * (theirs - ours) == hidden * (c - 2 * n * n - 11), shown)


@claim(st.tuples(st.sampled_from(LAYERS_OF_TABLE_1), st.sampled_from((4, 8))))
def complexity_imlp_reduces(case: tuple[tuple[int, int], int], _: Arithmetic) -> Trial:
    """The IMLP has fewer parameters and multiply-accumulates than the MLP, at the widths and kernels of Table 1.

    With biases but none in the depthwise convolution, and AGeLU coefficients for every channel, on a 7 x 7 grid; C' is
    4 C, or 8 C as in a stage of LVT. At a width of 64 and n = 5, the first stages of LVT, parameters are just fewer.

    Place: Sec. 4.1 and Sec. 6
    Printed: With the above modification, we can use fewer hidden dimensions which reduces the FLOPs and parameters of
        the model
    Bound: none: parameters and multiply-accumulates are counted
    """
    # Hold what one module costs against what the other does.
    (c, n), ratio = case
    ours, theirs = imlp(c, ratio * c, n), mlp(c, ratio * c)
    parameters = count_parameters(ours), count_parameters(theirs)
    work = multiply_accumulates(ours, 1, 49, c), multiply_accumulates(theirs, 1, 49, c)
    shown = {"C": c, "n": n, "C'": ratio * c, "parameters": parameters, "multiply-accumulates": work}
    return Trial(parameters[0] < parameters[1] and work[0] < work[1], shown)


@claim(st.tuples(KERNELS, KERNELS, sizes()))
def complexity_kernel_size(case: tuple[int, int, Size], _: Arithmetic) -> Trial:
    """A larger kernel costs C' weights and N C' multiply-accumulates more for each of its n^2 entries.

    Read as: the costs of an IMLP grow with n, by exactly this. From n to m, that is C' (m^2 - n^2) parameters and N C'
    (m^2 - n^2) multiply-accumulates.

    Place: Sec. 5.2, on Table 5
    Printed: as the kernel size n increases, the classification performances are getting better and better with a little
        increased FLOPs and parameters
    Bound: none: parameters and multiply-accumulates are counted
    """
    # Hold how much two kernels differ in cost against the entries by which they differ.
    (n, m), size = sorted(case[:2]), case[2]
    small, large = (imlp(size.width, size.hidden, kernel, grid=(1, size.tokens)) for kernel in (n, m))
    parameters = count_parameters(large) - count_parameters(small)
    shape = 1, size.tokens, size.width
    work = multiply_accumulates(large, *shape) - multiply_accumulates(small, *shape)
    entries = size.hidden * (m * m - n * n)
    shown = {**size.shown(), "n": n, "m": m, "parameters more": parameters, "multiply-accumulates more": work}
    return Trial((parameters, work) == (entries, size.tokens * entries), shown)


@claim(growing())
def complexity_mlp_share(case: tuple[Vit, Vit], _: Arithmetic) -> Trial:
    """In a larger ViT, the MLPs have a larger share of the computation.

    Read as: of the multiply-accumulates at 224 with patches of 16, in a ViT that is wider, deeper or both. Depth does
    not change the share of a block's own computation; stem and head lose weight as depth grows.

    Place: Sec. 5.1, on Table 1
    Printed: As the model becomes larger, [...] the proportion of the MLP module in the computation grows
    Bound: none: multiply-accumulates are counted
    """
    # Hold the share of one model against that of the larger one.
    small, large = map(work, case)
    shown = {"small": case[0], "large": case[1], "its MLPs and all": (small.mlps, small.everything)}
    grows = small.mlps * large.everything < large.mlps * small.everything
    return Trial(grows, {**shown, "the larger one's": (large.mlps, large.everything)})


@claim(growing())
def complexity_reduction_grows(case: tuple[Vit, Vit], _: Arithmetic) -> Trial:
    """In a larger ViT, IMLPs reduce a larger share of parameters and of multiply-accumulates.

    Read as: at 224 with patches of 16, in a ViT that is wider, deeper or both, with the same kernel n = 3 in both, from
    widths of 64 on. (Table 1 takes n = 5 for the largest models.)

    Place: Sec. 5.1, on Table 1
    Printed: As the model becomes larger, the amount of parameter/FLOPs reduction also increases
    Bound: none: parameters and multiply-accumulates are counted
    """
    # Hold what one model saves of its own against what the larger one does.
    for name, count in (("parameters", parameters), ("multiply-accumulates", work)):
        small, large = map(count, case)
        if small.saved * large.everything >= large.saved * small.everything:
            shares = small.saved / small.everything, large.saved / large.everything
            return Trial(False, {"small": case[0], "large": case[1], f"reductions of {name}": shares})
    return Trial(True)
