"""Sec. 2, Eq. 1: the affine transformation Aff, and how layers start."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Proof, Trial, at_most, claim, equal
from imlp_audit.equations.dependence import jacobian
from imlp_audit.equations.matrix import RoundedMatrix
from imlp_audit.equations.strategies import Matrix, Vector, matrices, vectors
from imlp_audit.models.resmlp import EquationLayer, LayerScale

from ._layer import (
    PATCHES,
    WIDTHS,
    AffCase,
    CrossPatchCase,
    FeedForwardCase,
    Values,
    affs,
    batch_of,
    each_of,
    loaded,
    matrix_of,
)

_COLUMNS = each_of(lambda d: st.tuples(affs(d), vectors(d)), (1, 2, 3))


@claim(_COLUMNS, proof=Proof("all numbers", lambda case: {"d": len(case[1])}))
def eq1_aff(case: tuple[AffCase, Vector], arithmetic: Arithmetic) -> Trial:
    """Aff(x) is the product of the diagonal matrix of alpha with x, plus beta.

    Place: Sec. 2, Eq. 1
    Printed: Aff(x) = Diag(alpha) x + beta
    Bound: gamma_{d+1} times the magnitudes of row i's d products and beta_i
    """
    # Hold the module against the matrix product.
    aff, x = case
    diagonal = [[alpha if i == j else 0.0 for j in range(len(x))] for i, alpha in enumerate(aff.alpha)]
    scaled = arithmetic.matrix(diagonal) @ arithmetic.vector(x)
    printed = [scaled[i] + aff.beta[i] for i in range(len(x))]
    return equal(aff.module(arithmetic)(arithmetic.tensor(x)), printed, alpha=aff.alpha, beta=aff.beta, x=x)


@claim(
    each_of(lambda d, patches: st.tuples(affs(d), matrices(d, patches)), WIDTHS, PATCHES),
    proof=Proof("all numbers", lambda case: {"d": len(case[1]), "N^2": len(case[1][0])}),
)
def aff_acts_on_each_column(case: tuple[AffCase, Matrix], arithmetic: Arithmetic) -> Trial:
    """Aff(X) is Aff of each column of X, that is of each patch's d features, on its own.

    Place: Sec. 2, after Eq. 1
    Printed: we denote by Aff(X) the Affine operation applied independently to each column of the matrix X
    Bound: gamma_2 times |alpha_i x_ij| + |beta_i|
    """
    # Hold Aff of a matrix against Aff of its columns, side by side.
    aff, x = case
    whole = matrix_of(aff.module(arithmetic)(batch_of(x, arithmetic)))
    by_column = arithmetic.matrix(x).T.map_rows(lambda column: aff.of(column, arithmetic)).T
    return equal(whole, by_column, alpha=aff.alpha, beta=aff.beta, X=x)


@claim(each_of(lambda d: st.tuples(affs(d), vectors(d)), (1, 2, 3)))
def aff_rescales_and_shifts(case: tuple[AffCase, Vector], arithmetic: Arithmetic) -> Trial:
    """Aff only rescales and shifts its input element by element: whatever the input is, an output's only derivative is
    alpha, by the input element in its own place, and at zero the output is beta.

    Place: Sec. 2, after Eq. 1
    Printed: This operation only rescales and shifts the input element-wise
    Bound: none: a derivative is one element of alpha or zero, and beta is added to zero
    """
    # Hold derivatives and the value at zero against alpha and beta.
    aff, values = case
    module, x = aff.module(arithmetic), arithmetic.tensor(values)
    slopes, shift = jacobian(module, x), module(torch.zeros_like(x))
    holds = torch.equal(slopes, torch.diag(module.alpha)) and torch.equal(shift, module.beta)
    shown = {"alpha": aff.alpha, "beta": aff.beta, "x": values}
    return Trial(holds, {**shown, "derivatives": slopes.tolist(), "at zero": shift.tolist()})


@claim(each_of(lambda d: matrices(d, 1), (1, 2, 3)))
def aff_starts_as_the_identity(values: Matrix, arithmetic: Arithmetic) -> Trial:
    """As a pre-normalization Aff starts as the identity.

    Place: Sec. 2, after Eq. 1
    Printed: Here, we initialize alpha = 1, and beta = 0
    Bound: none: a product with 1 and a sum with 0 are exact
    """
    # Hold the output of a new layer's first Affs against their input.
    layer, x = EquationLayer(len(values), len(values[0])), batch_of(values, arithmetic)
    arithmetic.place(layer)
    before_a, before_b = layer.pre1(x), layer.pre2(x)
    holds = torch.equal(before_a, x) and torch.equal(before_b, x)
    return Trial(holds, {"X": values, "before A": before_a[0].T.tolist(), "before B": before_b[0].T.tolist()})


@dataclass(frozen=True)
class NewLayer:
    """A layer whose Affs are as they start, alpha after its sublayers, X, A, B and C."""

    alpha: float
    x: Matrix
    a: Matrix
    b: Matrix
    c: Matrix

    def module(self, arithmetic: Arithmetic) -> EquationLayer:
        """Return the layer; its Affs are those of its constructor."""
        weights: dict[str, Values] = {
            "across_patches.a.weight": self.a,
            "across_channels.b.weight": self.b,
            "across_channels.c.weight": self.c,
        }
        return loaded(EquationLayer(len(self.x), len(self.a), scale=self.alpha), weights, arithmetic)

    def printed(self, arithmetic: Arithmetic) -> RoundedMatrix:
        """Return Y by Eq. 2 and 3."""
        d = len(self.x)
        first, last = AffCase((1.0,) * d, (0.0,) * d), AffCase((self.alpha,) * d, (0.0,) * d)
        z = CrossPatchCase(self.x, self.a, first, last).printed(arithmetic)
        return FeedForwardCase(self.x, self.b, self.c, first, last).of(z, arithmetic)

    def distance(self, arithmetic: Arithmetic) -> RoundedMatrix:
        """Return alpha (|X| |A|^T + |C| |B| (|X| + alpha |X| |A|^T))."""
        x, a, b, c = (_magnitudes(matrix, arithmetic) for matrix in (self.x, self.a, self.b, self.c))
        first = x.map_rows(lambda channel: a @ channel).scale(self.alpha)
        mixed = (x + first).T.map_rows(lambda column: c @ (b @ column))
        return first + mixed.T.scale(self.alpha)

    def shown(self) -> dict[str, object]:
        """Return the symbols that a counterexample shows."""
        return {"alpha": self.alpha, "X": self.x, "A": self.a, "B": self.b, "C": self.c}


def _magnitudes(matrix: Matrix, arithmetic: Arithmetic) -> RoundedMatrix:
    return arithmetic.matrix([[abs(number) for number in row] for row in matrix])


def _layers(d: int, patches: int) -> st.Strategy[NewLayer]:
    alpha, x, a = st.sampled_from((0.0, 0.25, 2.0**-10)), matrices(d, patches), matrices(patches, patches)
    return st.builds(NewLayer, alpha, x, a, matrices(4 * d, d), matrices(d, 4 * d))


@claim(each_of(_layers, WIDTHS, PATCHES))
def layer_starts_near_the_identity(case: NewLayer, arithmetic: Arithmetic) -> Trial:
    """A layer starts near the identity, the nearer the smaller the alpha that the Affs after its sublayers start with:
    read as |Y - X| at most alpha times the magnitudes that A, B and C give, and Y = X where that alpha is zero.

    Place: Sec. 2, after Eq. 1
    Printed: As a post-normalization, Aff is similar to LayerScale and we initialize alpha with the same small value; |Y
        - X| <= alpha (|X| |A|^T + |C| |B| |Z|), with |Z| <= |X| + alpha |X| |A|^T, as |GELU(t)| <= |t|
    Bound: those of Eq. 2 and Eq. 3, one within the other
    """
    # Hold the layer against the equations, then their distance from X against the bound.
    printed, shown = case.printed(arithmetic), case.shown()
    trials = [equal(matrix_of(case.module(arithmetic)(batch_of(case.x, arithmetic))), printed, **shown)]
    for ys, xs, bounds in zip(printed, arithmetic.matrix(case.x), case.distance(arithmetic), strict=True):
        for y, x, bound in zip(ys, xs, bounds, strict=True):
            trials += [at_most(y - x, bound, **shown), at_most(x - y, bound, **shown)]
    return next((trial for trial in trials if not trial.holds), trials[0])


@claim(_COLUMNS, proof=Proof("all numbers", lambda case: {"d": len(case[1])}))
def aff_is_layer_scale_plus_bias(case: tuple[AffCase, Vector], arithmetic: Arithmetic) -> Trial:
    """Aff is LayerScale with an additional bias.

    Place: Sec. 2, after Eq. 1
    Printed: The closer operator to Aff is the LayerScale, with an additional bias term
    Bound: gamma_2 times |alpha_i x_i| + |beta_i|
    """
    # Hold LayerScale plus beta against Aff.
    aff, x = case
    scale = loaded(LayerScale(len(x), 1.0), {"alpha": aff.alpha}, arithmetic)
    with_bias = scale(arithmetic.tensor(x)) + arithmetic.tensor(aff.beta)
    return equal(with_bias, aff.of(arithmetic.vector(x), arithmetic), alpha=aff.alpha, beta=aff.beta, x=x)
