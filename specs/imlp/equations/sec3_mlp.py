"""Sec. 3, Eq. 1 and 2: the MLP, and its output as scales and biases of one input element."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Proof, Trial, claim, equal
from imlp_audit.equations.functions import gelu
from imlp_audit.equations.rounded import Rounded, total
from imlp_audit.equations.strategies import Matrix, matrices

from ._mlp import Mlp, after_phi, mlps, module, under_phi


@dataclass(frozen=True)
class Batch:
    """N inputs as the rows of X, and the weights of an MLP."""

    x: Matrix
    wa: Matrix
    wb: Matrix

    def sizes(self) -> Mapping[str, int]:
        """Return the sizes by the paper's symbols."""
        return {"N": len(self.x), "C": len(self.wa), "C'": len(self.wb)}


def batches() -> st.Strategy[Batch]:
    """Batches of N = 2 or 3 inputs for MLPs of width and hidden width up to 2."""
    sizes = st.tuples(st.integers(2, 3), st.integers(1, 2), st.integers(1, 2))
    return sizes.flatmap(
        lambda size: st.builds(Batch, matrices(*size[:2]), matrices(*size[1:]), matrices(size[2], size[1]))
    )


@claim(batches(), proof=Proof("all numbers and any phi", Batch.sizes))
def eq1_rows_independent(case: Batch, arithmetic: Arithmetic) -> Trial:
    """Each row of the MLP's output is the MLP of the same row of its input, so one row says it all (N = 1).

    Place: Sec. 3, Eq. 1, and "Without loss of generality, we assume N = 1"
    Printed: Y = MLP(X) = phi(X W^a) W^b; X in R^{N x C}; row n of Y is phi(x W^a) W^b of row n of X
    Bound: gamma_C times the magnitudes under phi, times its largest slope, then gamma_{C'+1} times those of the sum
    """
    # Hold the matrix form of all rows against the element-wise form of each.
    wa, wb = arithmetic.matrix(case.wa), arithmetic.matrix(case.wb)

    def of_row(x: list[Rounded]) -> list[Rounded]:
        hidden = [gelu(total(wa[i][j] * x[i] for i in range(len(x)))) for j in range(len(wb))]
        return [total(wb[j][c] * hidden[j] for j in range(len(wb))) for c in range(len(x))]

    y = module(case.wa, case.wb, arithmetic)(arithmetic.tensor(case.x))
    rows = [of_row(row) for row in arithmetic.matrix(case.x)]
    return equal(y, rows, **{"X": case.x, "W^a": case.wa, "W^b": case.wb})


@claim(mlps(), proof=Proof("all numbers", Mlp.sizes))
def eq2_hidden(case: Mlp, arithmetic: Arithmetic) -> Trial:
    """Each element of x W^a is the sum of the inputs weighted by a column of W^a.

    Place: Sec. 3, Eq. 2, first equality
    Printed: x W^a = (sum_{i=1}^{C} w^a_{ic'} x_i)_{c'=1}^{C'}
    Bound: gamma_C times the sum of the terms' magnitudes
    """
    # Hold what the module's first layer gives against the printed sums.
    x, wa = arithmetic.vector(case.x), arithmetic.matrix(case.wa)
    printed = [total(wa[i][j] * x[i] for i in range(len(x))) for j in range(len(wa[0]))]
    hidden = under_phi(case.wa, arithmetic)(arithmetic.tensor(case.x))
    return equal(hidden, printed, **{"x": case.x, "W^a": case.wa})


@claim(mlps(), proof=Proof("all numbers and any phi", Mlp.sizes))
def eq2_activation(case: Mlp, arithmetic: Arithmetic) -> Trial:
    """phi(x W^a) is phi of each of the sums that x W^a consists of.

    Place: Sec. 3, Eq. 2, second equality
    Printed: phi(x W^a) = (phi(sum_{i=1}^{C} w^a_{ic'} x_i))_{c'=1}^{C'}
    Bound: gamma_C times the magnitudes under phi, times its largest slope
    """
    # Hold what the module's activation gives against the printed elements.
    x, wa = arithmetic.vector(case.x), arithmetic.matrix(case.wa)
    printed = [gelu(total(wa[i][j] * x[i] for i in range(len(x)))) for j in range(len(wa[0]))]
    hidden = after_phi(case.wa, arithmetic)(arithmetic.tensor(case.x))
    return equal(hidden, printed, **{"x": case.x, "W^a": case.wa})


@claim(mlps(), proof=Proof("all numbers and any phi", Mlp.sizes))
def eq2_output(case: Mlp, arithmetic: Arithmetic) -> Trial:
    """Each output of the MLP is the sum of its hidden units weighted by a column of W^b.

    Place: Sec. 3, Eq. 2, third equality
    Printed: y = phi(x W^a) W^b = (sum_{j=1}^{C'} w^b_{jc} phi(sum_{i=1}^{C} w^a_{ij} x_i))_{c=1}^{C}
    Bound: gamma_C times the magnitudes under phi, times its largest slope, then gamma_{C'+1} times those of the sum
    """
    # Hold the matrix form against the printed sums.
    x, wa, wb = arithmetic.vector(case.x), arithmetic.matrix(case.wa), arithmetic.matrix(case.wb)
    hidden = [gelu(total(wa[i][j] * x[i] for i in range(len(x)))) for j in range(len(wb))]
    printed = [total(wb[j][c] * hidden[j] for j in range(len(wb))) for c in range(len(x))]
    return equal(case.matrix_form(arithmetic), printed, **case.shown())


@claim(mlps(), proof=Proof("all numbers and any phi", Mlp.sizes))
def eq2_scale_and_bias(case: Mlp, arithmetic: Arithmetic) -> Trial:
    """The MLP's matrix form is, for each output, a sum over hidden units of phi of a scale times x_c plus a bias.

    Place: Sec. 3, Eq. 2, last equality
    Printed: phi(x W^a) W^b = (sum_{j=1}^{C'} w^b_{jc} phi(m_{cj} x_c + n_{cj}))_{c=1}^{C}, m_{cj} = w^a_{cj}, n_{cj} =
        sum_{i=1, i != c}^{C} w^a_{ij} x_i
    Bound: gamma_{C+1} times the magnitudes under phi, times its largest slope, then gamma_{C'+1} times those of the sum
    """
    # Hold the matrix form against the printed sum.
    x, wa, wb = arithmetic.vector(case.x), arithmetic.matrix(case.wa), arithmetic.matrix(case.wb)

    def m(c: int, j: int) -> Rounded:
        return wa[c][j]

    def n(c: int, j: int) -> Rounded:
        return total([arithmetic.number(0), *(wa[i][j] * x[i] for i in range(len(x)) if i != c)])

    printed = [total(wb[j][c] * gelu(m(c, j) * x[c] + n(c, j)) for j in range(len(wb))) for c in range(len(x))]
    return equal(case.matrix_form(arithmetic), printed, **case.shown())
