"""LVT + IMLP's 4.98 M (imlp, Table 1) over all that Eq. 5 and the host allow, sizes and FLOPs together.

Each of the ten MLPs stays, or is replaced with a first layer of 2C channels (r = 2, Sec. 5.1) or of C'/2 (Eq. 5, C' the
MLP's own hidden width), which differ in the second stage alone, where C' is 8C. Closed formulas; `test_lvt.py` holds
those for sizes against models that were built.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations_with_replacement, product

import pytest

from imlp_audit.models.reading import Family, axes_of


@dataclass(frozen=True)
class Kind:
    """Two MLPs of a stage: channels, ratio of the hidden width, positions, and whether they convolve."""

    width: int
    ratio: int
    tokens: int
    convolves: bool


KINDS = (
    Kind(64, 4, 56**2, False),
    Kind(64, 8, 28**2, True),
    Kind(160, 4, 14**2, True),
    Kind(256, 4, 7**2, True),
    Kind(256, 4, 1, False),  # of the class token
)
HOST = 5_521_844
# thop's counts of LVT-R1 to R4, and what the rows with IMLP print, in units of 0.01 G
WORK = {758_851_840: 68, 839_823_360: 76, 920_794_880: 84, 1_001_766_400: 92}
RELEASED = {
    "agelu_parameters": "per_channel", "fc1_bias": "yes", "fc2_bias": "yes", "concat_norm": "layer",
    "output_norm": "layer", "depthwise_bias": "yes", "depthwise_norm": "batch", "depthwise_activation": "gelu",
}  # fmt: skip
AS_WRITTEN = {**RELEASED, "concat_norm": "none", "output_norm": "none"}
Reading = Mapping[str, str]
Totals = tuple[int, int]  # parameters, and work by thop's rules: a norm's elements count four times


def change(kind: Kind, hidden: int, kernel: int, reading: Reading) -> Totals:
    """What one replaced MLP adds."""
    c, h, t, both = kind.width, hidden, kind.tokens, 2 * hidden
    own = c * kind.ratio
    per = h if reading["agelu_parameters"] == "per_channel" else 1
    concat = reading["concat_norm"] != "none"
    out, norm = reading["output_norm"] == "layer", reading["depthwise_norm"] == "batch"
    size = 3 * c * h + h * (reading["fc1_bias"] == "yes") + c * (reading["fc2_bias"] == "yes") + 8 * per
    size += kernel**2 * both + both * (reading["depthwise_bias"] == "yes") + 2 * both * (concat + norm) + 2 * c * out
    size += 4 * (both if per == h else 1) * (reading["depthwise_activation"] == "agelu")
    work = t * (3 * c * h + kernel**2 * both + 4 * both * (concat + norm) + 4 * c * out)
    return size - (2 * c * own + own + c + 10 * own * kind.convolves), work - t * (2 * c + 9 * kind.convolves) * own


def widths(kind: Kind) -> tuple[int, int]:
    return 2 * kind.width, kind.width * kind.ratio // 2


def at_sites(reading: Reading, kernel: int) -> Iterator[Totals]:
    """Every choice for the ten MLPs; the order of a stage's two makes no difference."""
    each = [[(0, 0), *(change(kind, h, kernel, reading) for h in widths(kind))] for kind in KINDS]
    pairs = [[(a[0] + b[0], a[1] + b[1]) for a, b in combinations_with_replacement(one, 2)] for one in each]
    for chosen in product(*pairs):
        yield HOST + sum(size for size, _ in chosen), sum(work for _, work in chosen)


def prints_498(size: int) -> bool:
    return 4_975_000 <= size < 4_985_000


def gives_the_flops(work: int) -> bool:
    return all(abs(host + work - printed * 10**7) < 5_000_000 for host, printed in WORK.items())


def of_all_ten(reading: Reading, place: int) -> Totals:
    changes = [change(kind, widths(kind)[place], 5, reading) for kind in KINDS]
    return HOST + 2 * sum(size for size, _ in changes), 2 * sum(work for _, work in changes)


def test_the_formulas_give_what_the_audit_measures() -> None:
    assert [HOST + 2 * sum(change(k, 2 * k.width, 5, one)[0] for k in KINDS) for one in (RELEASED, AS_WRITTEN)] == [
        4_970_420,
        4_954_420,
    ]
    size, work = of_all_ten(RELEASED, 0)
    assert (size, min(WORK) + work) == (4_970_420, 679_933_184)
    assert gives_the_flops(work)


@pytest.mark.parametrize("reading", [RELEASED, AS_WRITTEN], ids=["released", "as_written"])
def test_no_choice_of_sites_and_widths_gives_498_with_the_marked_kernels(reading: Reading) -> None:
    sizes = [size for size, _ in at_sites(reading, 5)]
    assert len(sizes) == 6**5
    assert not any(map(prints_498, sizes))


@pytest.mark.parametrize(("reading", "fitting"), [(RELEASED, 144), (AS_WRITTEN, 270)], ids=["released", "as_written"])
def test_with_kernels_of_3_some_give_the_size_and_none_the_flops(reading: Reading, fitting: int) -> None:
    found = [(size, work) for size, work in at_sites(reading, 3) if prints_498(size)]
    assert len(found) == fitting
    assert not any(gives_the_flops(work) for _, work in found)


def test_eight_readings_of_all_ten_give_both_and_all_end_the_depthwise_block_with_an_agelu() -> None:
    """Of 2304 readings; the skip and the class token change neither number here, which makes four of each."""
    axes = {name: tuple(map(str, axis.values)) for name, axis in axes_of(Family.IMLP).items() if name in RELEASED}
    readings = [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]
    assert len(readings) == 2304 // 4
    by_width = [[one for one in readings if prints_498(of_all_ten(one, place)[0])] for place in (0, 1)]
    assert [len(found) for found in by_width] == [38, 60]
    both = [[one for one in found if gives_the_flops(of_all_ten(one, i)[1])] for i, found in enumerate(by_width)]
    assert [len(found) for found in both] == [8, 0]
    assert {(one["depthwise_activation"], one["depthwise_bias"]) for one in both[0]} == {("agelu", "no")}
