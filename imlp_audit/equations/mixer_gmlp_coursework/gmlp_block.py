"""A gMLP block projects by U, applies GELU, gates, projects by V and adds its input, with the product unit.

Read as: with U and V of the printed shapes, element by element; norms and biases left out, as the text says.

Place: Sec. 3.1, equations of the block
Printed: Z = GELU(X U), Z~ = s(Z), Y = Z~ V + X, U in R^{C x D_C}, V in R^{D_C x C}, s(Z) = Z * (W Z + b)
Bound: that of X U times the largest slope of GELU, carried through s and the sums over S and D_C
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.functions import gelu
from imlp_audit.equations.mixer_gmlp_coursework._gmlp import Block, blocks, elementwise, product, projected
from imlp_audit.models.hosts.gmlp import Gate


def judge(case: Block, arithmetic: Arithmetic) -> Trial:
    """Hold the package's block against the printed formulas."""
    x, u, v = (arithmetic.matrix(matrix) for matrix in (case.x, case.u, case.v))
    z = [[gelu(entry) for entry in row] for row in product(x, u)]
    f = projected(arithmetic.matrix(case.w), arithmetic.vector(case.b), z)
    gated = elementwise(lambda a, b: a * b, z, f)
    printed = elementwise(lambda a, b: a + b, product(gated, v), x)
    return equal(case.y(arithmetic, Gate.PRODUCT), printed, **case.shown())


CLAIM = Claim(blocks(Gate.PRODUCT), judge)
