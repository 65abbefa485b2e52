"""Each output of the FFN is the linear combination of C' different nonlinear functions of x_c, whatever the weights.

Tested where a wrong answer is no fault of the weights: the units' weights differ, none is zero, nor is an input.

Place: "FFN Module is a Non-linearity Generator", corollary, first sentence
Printed: Each element y_c in y is the linear combination of C' different nonlinear functions to the input element x_c
Nearest: corollary_different_functions_corrected
Bound: two functions are different where their values differ by more than the bounds of both; those of GeLU and of its
    argument, exact here
"""

from __future__ import annotations

from imlp_audit.equations.imlp import corollary1_different_functions

CLAIM = corollary1_different_functions.CLAIM
