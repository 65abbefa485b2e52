"""Plants causes in 20 models of timm and torchvision and looks for them as `count --printed` does; then random numbers.

    python benchmarks/causes.py [MODEL ...]

Planted numbers come from plain torch, a factor, another counter or a slip of the pen, with three and four digits in
turn. A cause is right if it has that number. Of the numbers within a factor of two of the model's own, on a logarithmic
scale, which have no cause, the part that gets one is summed exactly, over those that some tried value prints as.
"""

from __future__ import annotations

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import floor, log, log10

import timm
import torch
from torchvision.models import get_model

from imlp_audit.count.changed_models import count_changes
from imlp_audit.count.request import Changes, Given, ModelRequest
from imlp_audit.explain.cause_search import collect_changes
from imlp_audit.explain.causes import find_causes
from imlp_audit.explain.tries import CountedQuantity, Question, Recounts, list_tries
from imlp_audit.numbers.parsing import NumberForm, parse_printed
from imlp_audit.records.counted import CountReport

DOUBLED: dict[str, dict[str, object]] = {  # widths, where an argument gives them
    "convnext_tiny": {"dims": (192, 384, 768, 1536)},
    "deit_base_patch16_224": {"embed_dim": 1536},
    "deit_small_patch16_224": {"embed_dim": 768},
    "resnet18": {"channels": (128, 256, 512, 1024)},
    "swin_tiny_patch4_window7_224": {"embed_dim": 192},
    "vit_tiny_patch16_224": {"embed_dim": 384},
    "torchvision:mobilenet_v2": {"width_mult": 2.0},
    "torchvision:resnet50": {"width_per_group": 128},
}
OTHERS = """efficientnet_b0 mixer_s32_224 mobilenetv3_large_100 poolformer_s12 regnety_008 torchvision:densenet121
torchvision:googlenet torchvision:inception_v3 torchvision:mnasnet1_0 torchvision:shufflenet_v2_x1_0
torchvision:squeezenet1_1 torchvision:vgg11"""
PARAMETERS, FLOPS = CountedQuantity
FORM = NumberForm("", nouns=("params",))


def count(name: str) -> tuple[CountReport, Recounts]:
    """Count a model, and under changes."""
    library, _, architecture = name.rpartition(":")
    side = 299 if "inception" in name else 224
    request = ModelRequest(library or "timm", architecture, inputs=(Given(shape=(1, 3, side, side)),))
    every = tuple(Fraction(10**digits) for digits in range(6, 14))
    _, _, counted = next(changes := count_changes(Changes(request, flops=every)))
    assert isinstance(counted, CountReport), counted
    return counted, collect_changes(changes)


def build(name: str, **arguments: object) -> Fraction:
    """Return the parameters of a model as its library builds it."""
    library, _, architecture = name.rpartition(":")
    with torch.device("meta"):
        model = (get_model if library else timm.create_model)(architecture, **arguments)
    return Fraction(sum(one.numel() for one in model.parameters()))


def plant(name: str, model: CountReport) -> Iterator[tuple[str, CountedQuantity, Fraction]]:
    """Yield numbers with a cause: its name, what is counted, and the number."""
    whole, flops = build(name), model.flops or {}
    parts = [part for part in model.parts if 0 < part.depth <= 2 and part.parameters > 0]
    twins = max(parts, key=lambda part: (part.copies > 1) * part.parameters)
    counter = next(one for one in ("thop", "fvcore", "torch") if flops[one] != flops["macs"])
    yield "other classes", PARAMETERS, build(name, num_classes=100)
    if name in DOUBLED:
        yield "doubled width", PARAMETERS, build(name, **DOUBLED[name])
    yield "dropped head", PARAMETERS, whole - parts[-1].parameters
    yield "frozen stem", PARAMETERS, whole - parts[0].parameters
    if twins.copies > 1:
        yield "one of some twins", PARAMETERS, whole - twins.parameters
    yield "two of them", PARAMETERS, 2 * whole
    yield "units of 2^20", PARAMETERS, whole * 10**6 / 2**20
    yield "mebibytes", PARAMETERS, 4 * whole * 10**6 / 2**20
    yield "two for each", FLOPS, Fraction(2 * flops["macs"])
    yield "eight frames", FLOPS, Fraction(8 * flops["macs"])
    yield "three crops", FLOPS, Fraction(3 * flops["macs"])
    yield f"counted by {counter}", FLOPS, Fraction(flops[counter])
    yield "typo", PARAMETERS, whole


def write(value: Fraction, digits: int) -> str:
    """Write a number with so many digits, in millions or billions, rounded half up."""
    unit, scale = ("G", 10**9) if value >= 10**9 else ("M", 10**6)
    places = max(0, digits - 1 - floor(log10(value / scale)))
    return f"{floor(value / scale * 10**places + Fraction(1, 2)) / 10**places:.{places}f}{unit}"


def find_planted(name: str, model: CountReport, again: Recounts) -> Iterator[str]:
    """Yield where each planted cause is found."""
    for at, (label, measure, value) in enumerate(plant(name, model)):
        text = write(value, 3 + at % 2)
        text = re.sub(r"(\d)(\.?)(\d)M", r"\3\2\1M", text) if label == "typo" else text
        (found,) = find_causes([Question(parse_printed(text, FORM), measure)], model, again)
        named = [*found.causes, *found.possible]
        right = ["exchanged" in one.text if label == "typo" else float(one.value) // 1 == value // 1 for one in named]
        where = "possible" if found.possible else "first" if right[:1] == [True] else "among five"
        if found.follows:  # it prints as the model's own
            continue
        yield where if any(right) else "not named"
        if not any(right[:1]):
            print(f"  {label} {text}: {'; '.join(f'{one.text} {one.chance:.1%}' for one in named[:3])}")


def rate(measure: CountedQuantity, digits: int, model: CountReport, again: Recounts) -> float:
    """Return the part of the numbers within a factor of two of the model's own that get a cause."""
    own = Fraction(model.parameters["all"] if measure is PARAMETERS else (model.flops or {})["macs"])
    part, question = 0.0, Question(parse_printed(write(own, digits), FORM), measure)
    tried = {one.value for one in list_tries(question, model, again) if own / 2 <= one.value <= 2 * own}
    for printed in (parse_printed(text, FORM) for text in {write(value, digits) for value in tried}):
        inside = printed.interval()
        if own not in inside and find_causes([Question(printed, measure)], model, again)[0].causes:
            part += log(min(inside.high, 2 * own) / max(inside.low, own / 2)) / log(4)
    return part


def main() -> None:
    """Print what is found, model by model, and together."""
    planted, rates = Counter[str](), defaultdict[int, list[float]](list)
    for name in sys.argv[1:] or sorted([*DOUBLED, *OTHERS.split()]):
        model, again = count(name)
        planted += (found := Counter(find_planted(name, model, again)))
        for digits, measure in product((2, 3, 4), CountedQuantity):
            rates[digits].append(rate(measure, digits, model, again))
        print(name, dict(found), *(f"{one[-2]:.1%} {one[-1]:.1%}" for one in rates.values()), flush=True)
    print(dict(planted))
    for digits, every in rates.items():
        print(f"{digits} digits, no cause: {sum(every) / len(every):.1%} get one, at most {max(every):.1%}")


if __name__ == "__main__":
    main()
