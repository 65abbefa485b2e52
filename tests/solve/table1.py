"""A made-up problem of the shape and the sizes of IMLP's Table 1: 11 hosts, 11 variants, 2304 readings, 9 classes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import ceil, floor
from typing import NamedTuple

import numpy as np

from imlp_audit.numbers.interval import Interval
from imlp_audit.numbers.parsing import parse_printed
from imlp_audit.numbers.printed import Rounding
from imlp_audit.solve.problem import Cell, CountedRow, Integers, Kind, SearchProblem, Space

CLASSES = (
    "linear", "product", "layer_norm", "activation", "softmax", "elementwise", "bias", "batch_norm", "pool",
)  # fmt: skip
SPACE = Space(
    (
        ("agelu_parameters", ("per_channel", "per_layer")),
        ("fc1_bias", ("yes", "no")),
        ("fc2_bias", ("yes", "no")),
        ("concat_norm", ("none", "layer", "batch")),
        ("output_norm", ("none", "layer")),
        ("depthwise_bias", ("yes", "no")),
        ("depthwise_norm", ("none", "batch")),
        ("depthwise_activation", ("none", "gelu", "agelu")),
        ("depthwise_skip", ("yes", "no")),
        ("class_token", ("kept", "removed")),
    )
)
AXES = dict(zip((name for name, _ in SPACE.axes), np.indices(SPACE.shape).reshape(10, -1), strict=True))
READINGS = 2304


class Host(NamedTuple):
    """A host: blocks of a width over tokens, with attention or, in the PoolFormers, with pooling."""

    family: str
    blocks: int
    width: int
    tokens: int


HOSTS = {
    "deit_ti": Host("deit", 12, 192, 197),
    "deit_s": Host("deit", 12, 384, 197),
    "deit_b": Host("deit", 12, 768, 197),
    "swin_ti": Host("swin", 12, 384, 205),
    "swin_s": Host("swin", 24, 400, 196),
    "swin_b": Host("swin", 24, 520, 201),
    "poolformer_s12": Host("poolformer", 12, 320, 211),
    "poolformer_s24": Host("poolformer", 24, 322, 212),
    "poolformer_s36": Host("poolformer", 36, 324, 213),
    "poolformer_m36": Host("poolformer", 36, 448, 214),
    "poolformer_m48": Host("poolformer", 48, 450, 215),
}


def counts(host: Host, parts: Mapping[str, Integers]) -> tuple[Integers, Integers]:
    """Return a model's parameters and its work, (readings, classes), from amounts of a block in units of its width."""
    attention = host.family != "poolformer"
    width, elements = host.width, host.width * host.tokens
    square = parts["square"] + (4 if attention else 0)
    same = np.ones_like(square)
    work = np.stack(
        [
            square * width * elements,
            same * (2 * elements * host.tokens if attention else 0),
            (parts["layer_norm"] + 2) * elements,
            parts["activation"] * elements,
            same * (host.tokens**2 * width // 64 if attention else 0),
            (parts["elementwise"] + 2) * elements,
            (parts["bias"] + 4) * elements,
            parts["batch_norm"] * elements,
            same * (0 if attention else elements),
        ],
        axis=-1,
    )
    vectors: Integers = host.blocks * width * (square * width + parts["vectors"]) + 1000 * width
    return vectors, host.blocks * work


def baseline(host: Host) -> tuple[Integers, Integers]:
    """Return what a host has with plain MLPs of four times its width."""
    amounts = {
        "square": 8, "layer_norm": 0, "activation": 4, "elementwise": 0, "bias": 5, "batch_norm": 0, "vectors": 13,
    }  # fmt: skip
    return counts(host, {name: np.full(1, amount, dtype=np.int64) for name, amount in amounts.items()})


def variant(host: Host) -> tuple[Integers, Integers]:
    """Return what a host has with the block, under every reading."""
    on = {(name, value): AXES[name] == i for name, values in SPACE.axes for i, value in enumerate(values)}
    agelu = on["depthwise_activation", "agelu"]
    layer, batch = on["concat_norm", "layer"], on["concat_norm", "batch"]
    norms = 8 * (layer | batch) + 2 * on["output_norm", "layer"] + 8 * on["depthwise_norm", "batch"]
    biases = 2 * on["fc1_bias", "yes"] + 1 * on["fc2_bias", "yes"] + 4 * on["depthwise_bias", "yes"]
    coefficients = np.where(on["agelu_parameters", "per_channel"], 8 + 16 * agelu, 0)
    removed = on["class_token", "removed"] & (host.family == "deit")
    parameters, work = counts(
        host,
        {
            "square": np.full(READINGS, 6, dtype=np.int64),
            "layer_norm": 4 * layer + 1 * on["output_norm", "layer"],
            "activation": 4 + 4 * (1 - on["depthwise_activation", "none"]),
            "elementwise": 8 + 8 * agelu + 4 * on["depthwise_skip", "yes"],
            "bias": biases,
            "batch_norm": 4 * batch + 4 * on["depthwise_norm", "batch"],
            "vectors": norms + biases + coefficients + 45,
        },
    )
    shorter = np.where(removed, host.tokens - 1, host.tokens)[:, np.newaxis]
    return parameters - removed * 2 * host.width, work // host.tokens * shorter


def printed_cell(row: int, name: str, kind: Kind, value: int, rounding: Rounding) -> Cell:
    """Return a value as it prints with two decimals in M or G, under a rule."""
    unit = "M" if kind == "parameters" else "G"
    hundredths = {"M": 10**4, "G": 10**7}[unit]
    near = value // hundredths
    for units in range(max(0, near - 1), near + 3):
        cell = parse_printed(f"{units // 100}.{units % 100:02d}", unit)
        if value in cell.interval(rounding):
            ranges = {rule: integers(cell.interval(rule)) for rule in Rounding}
            return Cell(f"{name}/{kind}", row, kind, ranges, cell.step * cell.scale)
    raise AssertionError(f"{value} prints as nothing")


def integers(interval: Interval) -> tuple[int, int]:
    """Return the least and the largest integer of an interval."""
    least, most = ceil(interval.low), floor(interval.high)
    return (
        least + (least == interval.low and not interval.low_closed),
        most - (most == interval.high and not interval.high_closed),
    )


def rows() -> Iterator[CountedRow]:
    """Yield each host and its variant."""
    for name, host in HOSTS.items():
        for suffix, group, (parameters, work) in (("", "", baseline(host)), ("_imlp", "imlp", variant(host))):
            yield CountedRow(
                f"imlp/1/{name}{suffix}", group, {"all": parameters, "no_head": parameters - 999 * 8}, work
            )


ROWS = tuple(rows())


def planted(reading: int, weights: tuple[int, ...], rounding: Rounding = Rounding.HALF_UP) -> SearchProblem:
    """Return the table that a reading and weights print."""
    cells = []
    for place, row in enumerate(ROWS):
        own = reading if row.group else 0
        flops = int(row.work[own] @ np.array(weights))
        cells.append(printed_cell(place, row.id, "parameters", int(row.parameters["all"][own]), rounding))
        cells.append(printed_cell(place, row.id, "flops", flops, rounding))
    return SearchProblem(
        rows=ROWS,
        cells=tuple(cells),
        spaces={"imlp": SPACE},
        classes=CLASSES,
        named={"released": {"imlp": 161}},
    )
