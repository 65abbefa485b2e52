"""What ResMLP says about its learned weights (Sec. 1, 3.3 and 5), and how that is measured and judged."""

from __future__ import annotations

from imlp_audit.inspect.statements import HALF, Sentence

_PAPER = "resmlp"
_PLACE = "Sec. 3.3, Visualisations of the cross-patch sublayers"
_SPARSITY = "Sec. 3.3, Measuring sparsity of the weights"
_EARLY = "More than one half in more than half of the early layers, the first quarter of all"
_WEIGHT = "weight is squared, and the patch's own is left out"
_RATE = "the share of numbers whose absolute value is lower than 5 % of the matrix's maximum"

LOCAL = Sentence(
    "early_layers_are_local", _PAPER, _PLACE,
    "The early layers show convolution-like patterns: the weights [...] have local support.",
    f"share of A's weight within 2 rows and columns of the patch, or 1 on grids of less than 9 x 9; {_WEIGHT}",
    f"{_EARLY}. {HALF}; weight at random places has at most a quarter there.",
)  # fmt: skip
SHIFTED = Sentence(
    "early_layers_are_shifted_versions", _PAPER, _PLACE,
    "The early layers show convolution-like patterns: the weights resemble shifted versions of each other",
    "share of A's weight that the nearest matrix has whose rows are one filter, shifted: the mean over all pairs of "
    f"patches with the same shift; {_WEIGHT}",
    f"{_EARLY}. {HALF}.",
)  # fmt: skip
AXES = Sentence(
    "support_extends_along_both_axes", _PAPER, _PLACE,
    "in many layers, the support also extends along both axes; see layer 7",
    "how many times more of A's weight lies along the patch's row, and along its column, than if it were spread evenly "
    f"over each ring of patches at one walking distance of 2 or more; the lesser of the two; {_WEIGHT}",
    "At least 2 in at least a quarter of all layers. Weight that falls off with distance alone has at most 1, so twice "
    "that needs the axes; fewer layers than a quarter are not many.",
)  # fmt: skip
SPIKE = Sentence(
    "last_layers_are_spike_and_diffuse", _PAPER, _PLACE,
    "The last 7 layers of the network are different: they consist of a spike for the patch itself and a diffuse "
    "response across other patches",
    "share of rows whose largest weight, by absolute value, is the patch's own (the spike)",
    "In each of the last 7 of 24 layers (7/24 of the depth, rounded up), and in less than half of those before, more "
    "than one half of the rows have the spike and no more than one half of the other patches' weight is local, as "
    f"measured for the early layers. {HALF}.",
)  # fmt: skip
SPARSER = Sentence(
    "a_is_sparser_than_b_and_c", _PAPER, _SPARSITY,
    "all three matrices are sparse, with the layers implementing the patch communication being significantly more so",
    f"A's rate of small weights: {_RATE}",
    "A's rate is larger than both B's and C's of the same layer in more than half of the layers. The sentence names no "
    "factor, so none is asked for.",
)  # fmt: skip
SPARSE = Sentence(
    "all_three_are_sparse", _PAPER, _SPARSITY,
    "The measurements in Figure 4 show that all three matrices are sparse",
    f"the least, of A, B and C, of the rate of small weights less that of normal numbers; a rate is {_RATE}",
    "Above 0 in more than half of the layers. Independent normal numbers have a rate too, and no structure.",
)  # fmt: skip
NO_ZEROS = Sentence(
    "no_exact_zeros", _PAPER, _SPARSITY,
    "Since there are no exact zeros, we measure the rate of components [...]",
    "how many numbers of A, B and C are 0",
    "None in any layer.",
)  # fmt: skip
LONG = Sentence(
    "long_range_in_the_second_layer", _PAPER, "Sec. 5, Conclusion",
    "we also observe sparse long-range interactions as early as the second layer of the network",
    "the largest weight over more than half of the grid's side, by absolute value, over A's maximum",
    "At least 5 % in layer 2, where more than one half of A's weights are below 5 % of the maximum: by the paper's "
    "rule that weight is no zero, and the matrix is sparse.",
)  # fmt: skip
LONGER = Sentence(
    "longer_range_in_the_last_layers", _PAPER, "Sec. 1, Introduction",
    "filters that are similar to convolutions on the lower layers, and longer range in the last layers",
    f"mean distance over which patches exchange weight, in patches; {_WEIGHT}",
    "At least 1 patch larger on average over the last quarter of the layers than over the first: less is no step.",
)  # fmt: skip
