"""Class-MLP can replace average pooling: from a class token of zero, with 1 / N^2 as the aggregator's weight for each
patch, Affs and the first LayerScale as the identity, and the MLP's LayerScale zero, it gives the average of patches.

Place: Sec. 2, Class-MLP as an alternative to average-pooling
Printed: the purpose of these few layers is to replace average pooling
Bound: gamma_{N^2} times the mean of |x_n|: weights of 1 and 1/4 are exact
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.resmlp._class_mlp import ClassMlpCase, class_mlps
from imlp_audit.equations.resmlp._layer import Values, columns, loaded
from imlp_audit.equations.rounded import total
from imlp_audit.models.resmlp import ClassMlp


def judge(case: ClassMlpCase, arithmetic: Arithmetic) -> Trial:
    """Hold class-MLP with those weights against the average."""
    patches, width = len(case.patches), len(case.token)
    weights: dict[str, Values] = {
        "layers.0.aggregate.weight": ((0.0, *(1 / patches,) * patches),),
        "layers.0.aggregate.bias": (0.0,),
        "layers.0.post2.alpha": (0.0,) * width,
    }
    module = loaded(ClassMlp(width, patches, depth=1, scale=1.0), weights, arithmetic)
    average = [1 / patches * total(channel) for channel in columns(case.patches, arithmetic)]
    return equal(module(arithmetic.tensor([case.patches]))[0], average, patches=case.patches)


CLAIM = Claim(class_mlps(), judge)
