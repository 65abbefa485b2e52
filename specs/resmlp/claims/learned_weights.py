"""What ResMLP says about its learned weights (Sec. 1, 3.3 and 5).

The paper shows ResMLP-S24; parts of its depth are taken in proportion.
"""

from collections.abc import Mapping, Sequence
from math import ceil, sqrt

from imlp_audit.claims import claim
from imlp_audit.inspect.learned_weights import Judgement, Layers, UndecidedError, above_half, format_number

from ..patterns import Pattern, Sparsity, find_pattern, measure_sparsity

LAYERS = (
    {"A": "linear_tokens.weight", "B": "mlp_channels.fc1.weight", "C": "mlp_channels.fc2.weight"},  # timm
    {"A": "attn.weight", "B": "mlp.fc1.weight", "C": "mlp.fc2.weight"},  # the authors (facebookresearch/deit)
    {"A": "across_patches.a.weight", "B": "across_channels.b.weight", "C": "across_channels.c.weight"},  # Algorithm 1
    {  # timm's MLP-Mixer: W1 and W2 across patches, W3 and W4 across channels
        "W1": "mlp_tokens.fc1.weight", "W2": "mlp_tokens.fc2.weight", "b1": "mlp_tokens.fc1.bias?",
        "W3": "mlp_channels.fc1.weight", "W4": "mlp_channels.fc2.weight",
    },
    {  # our MLP-Mixer
        "W1": "token_mixing.mlp.fc1.weight", "W2": "token_mixing.mlp.fc2.weight", "b1": "token_mixing.mlp.fc1.bias?",
        "W3": "channel_mixing.mlp.fc1.weight", "W4": "channel_mixing.mlp.fc2.weight",
    },
    {  # ResMLP with an MLP in A's place
        "W1": "across_patches.mlp.b.weight", "W2": "across_patches.mlp.c.weight", "b1": "across_patches.mlp.b.bias?",
        "W3": "across_channels.b.weight", "W4": "across_channels.c.weight",
    },
)  # fmt: skip
_FEWEST = 4
_CHANNELS = ("B", "C", "W3", "W4")


@claim(
    learned=LAYERS,
    place="Sec. 3.3, Visualisations of the cross-patch sublayers",
    printed="The early layers show convolution-like patterns: the weights [...] have local support.",
    measured="share of A's weight within 2 rows and columns of the patch, or 1 on grids of less than 9 x 9; weight is "
    "squared, and the patch's own is left out",
    judged="More than one half in more than half of the early layers, the first quarter of all. One half is where "
    "what is named has more than all the rest together; weight at random places has at most a quarter there.",
)
def early_layers_are_local(layers: Layers) -> Judgement:
    """The cross-patch weights of the early layers have local support."""
    patterns = _find_patterns(layers)
    return _judge_early(layers, "local", [one.local() for one in patterns])


@claim(
    learned=LAYERS,
    place="Sec. 3.3, Visualisations of the cross-patch sublayers",
    printed="The early layers show convolution-like patterns: the weights resemble shifted versions of each other",
    measured="share of A's weight that the nearest matrix has whose rows are one filter, shifted: the mean over all "
    "pairs of patches with the same shift; weight is squared, and the patch's own is left out",
    judged="More than one half in more than half of the early layers, the first quarter of all. One half is where "
    "what is named has more than all the rest together.",
)
def early_layers_are_shifted_versions(layers: Layers) -> Judgement:
    """The rows of the early layers' cross-patch matrices are shifted versions of each other."""
    patterns = _find_patterns(layers)
    return _judge_early(layers, "shifted", [one.shifted() for one in patterns])


@claim(
    learned=LAYERS,
    place="Sec. 3.3, Visualisations of the cross-patch sublayers",
    printed="in many layers, the support also extends along both axes; see layer 7",
    measured="how many times more of A's weight lies along the patch's row, and along its column, than if it were "
    "spread evenly over each ring of patches at one walking distance of 2 or more; the lesser of the two; "
    "weight is squared, and the patch's own is left out",
    judged="At least 2 in at least a quarter of all layers. Weight that falls off with distance alone has at most "
    "1, so twice that needs the axes; fewer layers than a quarter are not many.",
)
def support_extends_along_both_axes(layers: Layers) -> Judgement:
    """In many layers the support extends along both axes."""
    patterns = _find_patterns(layers)
    factors = [one.axes() for one in patterns]
    holds = [factor is not None and factor >= 2 for factor in factors]
    return _judge(layers, 4 * sum(holds) >= len(holds), f"{_count(holds)} layers{_list_layers(holds)}", axes=factors)


@claim(
    learned=LAYERS,
    place="Sec. 3.3, Visualisations of the cross-patch sublayers",
    printed="The last 7 layers of the network are different: they consist of a spike for the patch itself and a "
    "diffuse response across other patches",
    measured="share of rows whose largest weight, by absolute value, is the patch's own (the spike)",
    judged="In each of the last 7 of 24 layers (7/24 of the depth, rounded up), and in less than half of those "
    "before, more than one half of the rows have the spike and no more than one half of the other patches' "
    "weight is local, as measured for the early layers. One half is where what is named has more than all "
    "the rest together.",
)
def last_layers_are_spike_and_diffuse(layers: Layers) -> Judgement:
    """The last layers are a spike for the patch itself and a diffuse response across the others."""
    patterns = _find_patterns(layers)
    spikes = [one.spiked() for one in patterns]
    local = [one.local()[0] for one in patterns]
    holds = [above_half(spike) and not above_half(share) for spike, share in zip(spikes, local, strict=True)]
    last = ceil(len(holds) * 7 / 24)
    before, after = holds[:-last], holds[-last:]
    reason = f"{sum(after)} of the last {last} layers and {sum(before)} of the {len(before)} before"
    true = all(after) and 2 * sum(before) < len(before)
    return _judge(layers, true, reason + _list_layers(holds), spike=spikes, local=local)


@claim(
    learned=LAYERS,
    place="Sec. 3.3, Measuring sparsity of the weights",
    printed="all three matrices are sparse, with the layers implementing the patch communication being significantly "
    "more so",
    measured="A's rate of small weights: the share of numbers whose absolute value is lower than 5 % of the matrix's "
    "maximum",
    judged="A's rate is larger than both B's and C's of the same layer in more than half of the layers, each time "
    "by more than three standard errors of the difference of two rates: that is the least that "
    '"significantly" can mean.',
)
def a_is_sparser_than_b_and_c(layers: Layers) -> Judgement:
    """A is significantly sparser than B and C."""
    matrices = _measure_sparsity(layers)
    holds = [
        all(_is_clearly_sparser(one[a], one[b]) for a in one if a not in _CHANNELS for b in one if b in _CHANNELS)
        for one in matrices
    ]
    rates = {letter: [one[letter].rate for one in matrices] for letter in matrices[0]}
    return _judge(layers, _most(holds), f"{_count(holds)} layers; on average {_average(rates)}", **rates)


@claim(
    learned=LAYERS,
    place="Sec. 3.3, Measuring sparsity of the weights",
    printed="The measurements in Figure 4 show that all three matrices are sparse",
    measured="the least, of A, B and C, of the rate of small weights less that of normal numbers; a rate is the share "
    "of numbers whose absolute value is lower than 5 % of the matrix's maximum",
    judged="Above 0 in more than half of the layers. Independent normal numbers have a rate too, and no structure.",
)
def all_three_are_sparse(layers: Layers) -> Judgement:
    """A, B and C are sparse."""
    matrices = _measure_sparsity(layers)
    excess = [min(one.rate - one.normal for one in layer.values()) for layer in matrices]
    holds = [value > 0 for value in excess]
    rates = {letter: [one[letter].rate for one in matrices] for letter in matrices[0]}
    normal = ", ".join(f"{letter} {one.normal:.1%}" for letter, one in matrices[0].items())
    reason = f"{_count(holds)} layers; on average {_average(rates)}; normal numbers {normal}"
    return _judge(layers, _most(holds), reason, excess=excess)


@claim(
    learned=LAYERS,
    place="Sec. 3.3, Measuring sparsity of the weights",
    printed="Since there are no exact zeros, we measure the rate of components [...]",
    measured="how many numbers of A, B and C are 0",
    judged="None in any layer.",
)
def no_exact_zeros(layers: Layers) -> Judgement:
    """No number of A, B and C is exactly 0."""
    matrices = _measure_sparsity(layers)
    zeros = [sum(one.zeros for one in layer.values()) for layer in matrices]
    numbers = sum(one.of for layer in matrices for one in layer.values())
    return _judge(layers, not any(zeros), f"{sum(zeros)} of {numbers} numbers are 0", zeros=list(map(float, zeros)))


@claim(
    learned=LAYERS,
    place="Sec. 5, Conclusion",
    printed="we also observe sparse long-range interactions as early as the second layer of the network",
    measured="of A's weight that reaches over more than half of the grid's side, the share that the largest hundredth "
    "of these numbers has; weight is squared",
    judged="In layer 2 more than one half, and the largest of these weights is at least 5 % of A's maximum, which "
    "by the paper's rule is not a zero. One half is where what is named has more than all the rest together.",
)
def long_range_in_the_second_layer(layers: Layers) -> Judgement:
    """Layer 2 already has sparse long-range interactions."""
    patterns = _find_patterns(layers)
    shares = [one.far_in_few() for one in patterns]
    far, share = [one.far() for one in patterns], shares[1]
    reason = (
        f"{format_number(share)} in layer 2, where the largest far weight is {format_number(far[1])} of the maximum"
    )
    holds = above_half(share) and far[1] is not None and 20 * far[1] >= 1
    return _judge(layers, holds, reason, **{"far in few": shares, "far": far})


@claim(
    learned=LAYERS,
    place="Sec. 1, Introduction",
    printed="filters that are similar to convolutions on the lower layers, and longer range in the last layers",
    measured="mean distance over which patches exchange weight, in patches; weight is squared, and the patch's own is "
    "left out",
    judged="At least 1 patch larger on average over the last quarter of the layers than over the first: less is no "
    "step.",
)
def longer_range_in_the_last_layers(layers: Layers) -> Judgement:
    """Patches exchange weight over longer distances in the last layers than in the first."""
    patterns = _find_patterns(layers)
    distances = [one.reach() for one in patterns]
    known = [distance or 0.0 for distance in distances]  # a patch that takes from itself alone reaches nowhere
    part = _count_quarter(known)
    first, last = sum(known[:part]) / part, sum(known[-part:]) / part
    reason = f"{first:.2f} patches on average over the first {part} layers, {last:.2f} over the last {part}"
    return _judge(layers, last - first >= 1, reason, reach=distances)


def _find_patterns(layers: Layers) -> list[Pattern]:
    """Return where each layer has its weights on the grid."""
    _check_depth(layers)
    return [find_pattern(layer) for layer in layers]


def _measure_sparsity(layers: Layers) -> list[dict[str, Sparsity]]:
    """Return how sparse the matrices of each layer are, by letter."""
    _check_depth(layers)
    return [{letter: measure_sparsity(layer, letter) for letter in layer.names if letter != "b1"} for layer in layers]


def _check_depth(layers: Layers) -> None:
    if len(layers) < _FEWEST:
        found = "1 layer has" if len(layers) == 1 else f"{len(layers)} layers have"
        raise UndecidedError(f"{found} no first and last ones; {_FEWEST} do")


def _judge_early(layers: Layers, name: str, measured: Sequence[tuple[float | None, float | None]]) -> Judgement:
    """Judge by more than half of the early layers; `measured` are a share and that of chance."""
    shares = [share for share, _ in measured]
    early = shares[: _count_quarter(shares)]
    holds = [above_half(share) for share in early]
    each = ", ".join(map(format_number, early))
    reason = f"{sum(holds)} of the first {len(early)} layers: {each}; {format_number(measured[0][1])} by chance"
    return _judge(layers, _most(holds), reason, **{name: shares})


def _judge(layers: Layers, holds: bool, reason: str, **values: Sequence[float | None]) -> Judgement:
    """Return a judgement that says so where an MLP mixes the patches and there is no A."""
    mlp = "" if "A" in layers[0] else " (of W1 and W2, or the derivative of their MLP, in A's place)"
    return Judgement(holds, reason + mlp, values)


def _most(holds: Sequence[bool]) -> bool:
    return 2 * sum(holds) > len(holds)


def _is_clearly_sparser(one: Sparsity, other: Sparsity) -> bool:
    """Say whether a rate exceeds another by more than three standard errors of their difference."""
    squares = [matrix.rate * (1 - matrix.rate) / matrix.of for matrix in (one, other)]
    return one.rate - other.rate > 3 * sqrt(sum(squares))


def _count_quarter(layers: Sequence[object]) -> int:
    return ceil(len(layers) / 4)


def _count(holds: Sequence[bool]) -> str:
    return f"{sum(holds)} of {len(holds)}"


def _average(rates: Mapping[str, Sequence[float]]) -> str:
    """Write each matrix's rate, on average over the layers."""
    return ", ".join(f"{letter} {sum(values) / len(values):.1%}" for letter, values in rates.items())


def _list_layers(holds: Sequence[bool]) -> str:
    numbers = ", ".join(str(at) for at, one in enumerate(holds, start=1) if one)
    return f" (layers {numbers})" if numbers else ""
