"""What ResMLP says about its learned weights (Sec. 1, 3.3 and 5).

The paper shows ResMLP-S24; parts of its depth are taken in proportion.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, sqrt

from imlp_audit.inspect.sentences import Judgement, Undecided, above_half, format_number, most, sentence
from imlp_audit.records.inspection import CrossPatchLayer, Inspection, Pattern, Sparsity

Layers = Sequence[CrossPatchLayer]

_FEWEST = 4


@sentence(about="cross_patch")
def early_layers_are_local(inspection: Inspection) -> Judgement | Undecided:
    """The early layers show convolution-like patterns: the weights [...] have local support.

    Place: Sec. 3.3, Visualisations of the cross-patch sublayers

    Measured: share of A's weight within 2 rows and columns of the patch, or 1 on grids of less than 9 x 9; weight is
    squared, and the patch's own is left out

    True if: More than one half in more than half of the early layers, the first quarter of all. One half is where what
    is named has more than all the rest together; weight at random places has at most a quarter there.
    """
    patterns = _find_patterns(inspection.cross_patch, by_radius=True)
    if isinstance(patterns, Undecided):
        return patterns
    return _judge_early(inspection, [one.local for one in patterns], patterns[0].local_by_chance)


@sentence(about="cross_patch")
def early_layers_are_shifted_versions(inspection: Inspection) -> Judgement | Undecided:
    """The early layers show convolution-like patterns: the weights resemble shifted versions of each other

    Place: Sec. 3.3, Visualisations of the cross-patch sublayers

    Measured: share of A's weight that the nearest matrix has whose rows are one filter, shifted: the mean over all
    pairs of patches with the same shift; weight is squared, and the patch's own is left out

    True if: More than one half in more than half of the early layers, the first quarter of all. One half is where what
    is named has more than all the rest together.
    """
    patterns = _find_patterns(inspection.cross_patch)
    if isinstance(patterns, Undecided):
        return patterns
    return _judge_early(inspection, [one.shifted for one in patterns], patterns[0].shifted_by_chance)


@sentence(about="cross_patch")
def support_extends_along_both_axes(inspection: Inspection) -> Judgement | Undecided:
    """in many layers, the support also extends along both axes; see layer 7

    Place: Sec. 3.3, Visualisations of the cross-patch sublayers

    Measured: how many times more of A's weight lies along the patch's row, and along its column, than if it were spread
    evenly over each ring of patches at one walking distance of 2 or more; the lesser of the two; weight is squared, and
    the patch's own is left out

    True if: At least 2 in at least a quarter of all layers. Weight that falls off with distance alone has at most 1, so
    twice that needs the axes; fewer layers than a quarter are not many.
    """
    patterns = _find_patterns(inspection.cross_patch)
    if isinstance(patterns, Undecided):
        return patterns
    factors = [one.axes for one in patterns]
    holds = [factor is not None and factor >= 2 for factor in factors]
    return _judge(inspection, 4 * sum(holds) >= len(holds), f"{_count(holds)} layers{_list_layers(holds)}", factors)


@sentence(about="cross_patch")
def last_layers_are_spike_and_diffuse(inspection: Inspection) -> Judgement | Undecided:
    """The last 7 layers of the network are different: they consist of a spike for the patch itself and a diffuse
    response across other patches

    Place: Sec. 3.3, Visualisations of the cross-patch sublayers

    Measured: share of rows whose largest weight, by absolute value, is the patch's own (the spike)

    True if: In each of the last 7 of 24 layers (7/24 of the depth, rounded up), and in less than half of those before,
    more than one half of the rows have the spike and no more than one half of the other patches' weight is local, as
    measured for the early layers. One half is where what is named has more than all the rest together.
    """
    patterns = _find_patterns(inspection.cross_patch, by_radius=True)
    if isinstance(patterns, Undecided):
        return patterns
    holds = [above_half(one.spiked) and not above_half(one.local) for one in patterns]
    last = ceil(len(holds) * 7 / 24)
    before, after = holds[:-last], holds[-last:]
    reason = f"{sum(after)} of the last {last} layers and {sum(before)} of the {len(before)} before"
    spikes = [one.spiked for one in patterns]
    return _judge(inspection, all(after) and 2 * sum(before) < len(before), reason + _list_layers(holds), spikes)


@sentence(about="cross_patch")
def a_is_sparser_than_b_and_c(inspection: Inspection) -> Judgement | Undecided:
    """all three matrices are sparse, with the layers implementing the patch communication being significantly more so

    Place: Sec. 3.3, Measuring sparsity of the weights

    Measured: A's rate of small weights: the share of numbers whose absolute value is lower than 5 % of the matrix's
    maximum

    True if: A's rate is larger than both B's and C's of the same layer in more than half of the layers, each time by
    more than three standard errors of the difference of two rates: that is the least that "significantly" can mean.
    """
    layers = inspection.cross_patch
    if len(layers) < _FEWEST:
        return _too_few(layers)
    rates = [min(_list_rates(one.across)) for one in layers]
    holds = [all(_is_clearly_sparser(a, b) for a in one.across for b in one.channels) for one in layers]
    return _judge(inspection, most(holds), f"{_count(holds)} layers; on average {_average_rates(layers)}", rates)


@sentence(about="cross_patch")
def all_three_are_sparse(inspection: Inspection) -> Judgement | Undecided:
    """The measurements in Figure 4 show that all three matrices are sparse

    Place: Sec. 3.3, Measuring sparsity of the weights

    Measured: the least, of A, B and C, of the rate of small weights less that of normal numbers; a rate is the share of
    numbers whose absolute value is lower than 5 % of the matrix's maximum

    True if: Above 0 in more than half of the layers. Independent normal numbers have a rate too, and no structure.
    """
    layers = inspection.cross_patch
    if len(layers) < _FEWEST:
        return _too_few(layers)
    excess = [min(one.rate - one.normal for one in layer.sparsity) for layer in layers]
    holds = [value > 0 for value in excess]
    normal = ", ".join(f"{one.matrix} {one.normal:.1%}" for one in layers[0].sparsity)
    reason = f"{_count(holds)} layers; on average {_average_rates(layers)}; normal numbers {normal}"
    return _judge(inspection, most(holds), reason, excess)


@sentence(about="cross_patch")
def no_exact_zeros(inspection: Inspection) -> Judgement | Undecided:
    """Since there are no exact zeros, we measure the rate of components [...]

    Place: Sec. 3.3, Measuring sparsity of the weights

    Measured: how many numbers of A, B and C are 0

    True if: None in any layer.
    """
    layers = inspection.cross_patch
    if len(layers) < _FEWEST:
        return _too_few(layers)
    zeros = [sum(one.zeros for one in layer.sparsity) for layer in layers]
    numbers = sum(one.of for layer in layers for one in layer.sparsity)
    return _judge(inspection, not any(zeros), f"{sum(zeros)} of {numbers} numbers are 0", list(map(float, zeros)))


@sentence(about="cross_patch")
def long_range_in_the_second_layer(inspection: Inspection) -> Judgement | Undecided:
    """we also observe sparse long-range interactions as early as the second layer of the network

    Place: Sec. 5, Conclusion

    Measured: of A's weight that reaches over more than half of the grid's side, the share that the largest hundredth of
    these numbers has; weight is squared

    True if: In layer 2 more than one half, and the largest of these weights is at least 5 % of A's maximum, which by
    the paper's rule is not a zero. One half is where what is named has more than all the rest together.
    """
    patterns = _find_patterns(inspection.cross_patch)
    if isinstance(patterns, Undecided):
        return patterns
    shares = [one.far_in_few for one in patterns]
    far, share = patterns[1].far, shares[1]
    reason = f"{format_number(share)} in layer 2, where the largest far weight is {format_number(far)} of the maximum"
    return _judge(inspection, above_half(share) and far is not None and 20 * far >= 1, reason, shares)


@sentence(about="cross_patch")
def longer_range_in_the_last_layers(inspection: Inspection) -> Judgement | Undecided:
    """filters that are similar to convolutions on the lower layers, and longer range in the last layers

    Place: Sec. 1, Introduction

    Measured: mean distance over which patches exchange weight, in patches; weight is squared, and the patch's own is
    left out

    True if: At least 1 patch larger on average over the last quarter of the layers than over the first: less is no
    step.
    """
    patterns = _find_patterns(inspection.cross_patch)
    if isinstance(patterns, Undecided):
        return patterns
    distances = [one.reach for one in patterns]
    known = [distance or 0.0 for distance in distances]  # a patch that takes from itself alone reaches nowhere
    part = _count_quarter(known)
    first, last = sum(known[:part]) / part, sum(known[-part:]) / part
    reason = f"{first:.2f} patches on average over the first {part} layers, {last:.2f} over the last {part}"
    return _judge(inspection, last - first >= 1, reason, distances)


def _find_patterns(layers: Layers, *, by_radius: bool = False) -> list[Pattern] | Undecided:
    """Return where each layer has its weights on the grid; with `by_radius` local must differ from global."""
    if len(layers) < _FEWEST:
        return _too_few(layers)
    without = next((layer for layer in layers if layer.pattern is None), None)
    if without is not None:
        return Undecided(f"{without.name}: {without.why_no_pattern}")
    patterns = [layer.pattern for layer in layers if layer.pattern is not None]
    if by_radius and any(one.radius is None for one in patterns):
        return Undecided("the grid is too small to tell local from global")
    return patterns


def _too_few(layers: Layers) -> Undecided:
    found = "1 layer has" if len(layers) == 1 else f"{len(layers)} layers have"
    return Undecided(f"{found} no first and last ones; {_FEWEST} do")


def _judge_early(inspection: Inspection, shares: Sequence[float | None], chance: float | None) -> Judgement:
    early = shares[: _count_quarter(shares)]
    holds = [above_half(share) for share in early]
    each = ", ".join(map(format_number, early))
    reason = f"{sum(holds)} of the first {len(early)} layers: {each}; {format_number(chance)} by chance"
    return _judge(inspection, most(holds), reason, shares)


def _judge(inspection: Inspection, holds: bool, reason: str, values: Sequence[float | None]) -> Judgement:
    """Return a judgement that says so where an MLP mixes the patches and there is no A."""
    mlp = inspection.cross_patch[0].mlp
    return Judgement(
        holds, reason + (" (of W1 and W2, or the derivative of their MLP, in A's place)" if mlp else ""), values
    )


def _is_clearly_sparser(one: Sparsity, other: Sparsity) -> bool:
    """Say whether a rate exceeds another by more than three standard errors of their difference."""
    squares = [matrix.rate * (1 - matrix.rate) / matrix.of for matrix in (one, other)]
    return one.rate - other.rate > 3 * sqrt(sum(squares))


def _count_quarter(layers: Sequence[object]) -> int:
    return ceil(len(layers) / 4)


def _count(holds: Sequence[bool]) -> str:
    return f"{sum(holds)} of {len(holds)}"


def _list_rates(matrices: Sequence[Sparsity]) -> list[float]:
    return [one.rate for one in matrices]


def _average_rates(layers: Layers) -> str:
    """Write each matrix's rate, on average over the layers."""
    by_letter: dict[str, list[float]] = {}
    for layer in layers:
        for one in layer.sparsity:
            by_letter.setdefault(one.matrix, []).append(one.rate)
    return ", ".join(f"{letter} {sum(rates) / len(rates):.1%}" for letter, rates in by_letter.items())


def _list_layers(holds: Sequence[bool]) -> str:
    numbers = ", ".join(str(at) for at, one in enumerate(holds, start=1) if one)
    return f" (layers {numbers})" if numbers else ""
