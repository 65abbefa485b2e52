"""A is N^2 x N^2, B is 4d x d and C is d x 4d, as in a Transformer layer, and Z and Y have the dimensions of X.

Place: Sec. 2, after Eq. 3
Printed: A: N^2 x N^2; B: 4d x d; C: d x 4d; Z has the same dimensions as the input and output matrices, X and Y
Bound: none: dimensions are integers
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.resmlp._layer import loaded, matrix_of
from imlp_audit.equations.resmlp._size import Size, sizes
from imlp_audit.models.resmlp import EquationLayer


def judge(case: Size, arithmetic: Arithmetic) -> Trial:
    """Hold the shapes of the layer's matrices and features against the printed ones."""
    d, patches = case.d, case.patches
    layer, x = loaded(EquationLayer(d, patches), {}, arithmetic), arithmetic.tensor([[[0.0] * d] * patches])
    shapes = {name: tuple(weight.shape) for name, weight in layer.named_parameters() if name.endswith("weight")}
    shapes["Z"] = tuple(matrix_of(layer.cross_patch(x)).shape)
    shapes["Y"] = tuple(matrix_of(layer(x)).shape)
    printed = {
        "across_patches.a.weight": (patches, patches),
        "across_channels.b.weight": (4 * d, d),
        "across_channels.c.weight": (d, 4 * d),
        "Z": (d, patches),
        "Y": (d, patches),
    }
    return Trial(shapes == printed, {"d": d, "N": case.side, "dimensions": shapes, "printed": printed})


CLAIM = Claim(sizes(), judge)
