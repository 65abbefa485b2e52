"""Judges the claims of papers about learned weights by a checkpoint's; a claim's Python runs only if it is trusted.

The Python of a paper that comes with this package runs in this process, that of any other in one of its own, which is
ended when a claim takes too long.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

from imlp_audit.checkpoint.refusal import escape_name
from imlp_audit.claims.catalogue import WeightClaim, read_weight_claims
from imlp_audit.processes.code import explain_distrust, is_bundled, locate_error
from imlp_audit.processes.workers import StoppedError, yield_apart
from imlp_audit.records.check import Verdict
from imlp_audit.records.checkpoint import Statement
from imlp_audit.spec.load import Selection
from imlp_audit.spec.targets import display_path

if TYPE_CHECKING:
    from torch import Tensor

_PATIENCE = 300.0  # seconds for a claim, with its noise
_MOST_LAYERS = 512

Places: TypeAlias = Mapping[str, Mapping[str, str]]
"""The layers of a checkpoint by their paths: of each letter the name of its tensor."""

_Asked: TypeAlias = tuple[tuple[WeightClaim, Places], ...]


@dataclass(frozen=True)
class WeightsToJudge:
    """What is judged: the tensors, how another process gets them, why they look untrained, and how often to draw."""

    tensors: Mapping[str, Tensor]
    read: Callable[[], Mapping[str, Tensor]]
    untrained: str | None = None
    draws: int = 19


def list_claims(selection: Selection) -> tuple[WeightClaim, ...]:
    """Return what the selected papers claim about learned weights."""
    return tuple(
        claim
        for paper in selection.papers
        if paper.folder is not None
        for claim in read_weight_claims(paper.id, paper.code or paper.folder, display_path(paper.folder))
    )


def find_layers(names: Collection[str], tables: Sequence[Mapping[str, str]]) -> Places:
    """Return the layers of a checkpoint, in their order; a file may list blocks.10 before blocks.2."""
    found: dict[str, dict[str, str]] = {}
    for table in tables:
        first = next(name for name in table.values() if not name.endswith("?"))
        for path in (name.removesuffix(first) for name in names if f".{name}".endswith(f".{first}")):
            all_names = {letter: path + name.removesuffix("?") for letter, name in table.items()}
            held = {letter: name for letter, name in all_names.items() if name in names}
            if path not in found and all(letter in held or name.endswith("?") for letter, name in table.items()):
                found[path] = held
    return {path: found[path] for path in sorted(found, key=_layer_order)}


def _layer_order(path: str) -> tuple[tuple[int, int, str], ...]:
    """Return a sort key that sorts by words, and by value where a part of the path is a number."""
    return tuple((0, int(one), "") if re.fullmatch(r"[0-9]{1,9}", one) else (1, 0, one) for one in path.split("."))


def judge_claims(
    claims: Sequence[WeightClaim], weights: WeightsToJudge, *, trust_code: bool = False, patience: float = _PATIENCE
) -> Iterator[Statement]:
    """Judge the claims about layers that this checkpoint has. Never raises what a paper's Python raises."""
    for folder, own in groupby(claims, key=lambda one: one.code.folder):
        found = [(claim, find_layers(weights.tensors.keys(), claim.layers)) for claim in own]
        asked = tuple((claim, places) for claim, places in found if places)
        if not asked:
            continue
        many = max(len(places) for _, places in asked)
        if many > _MOST_LAYERS:
            reason = f"the checkpoint has {many} such layers; the limit is {_MOST_LAYERS}"
            yield from (_record(claim, Verdict.UNVERIFIABLE, reason) for claim, _ in asked)
        elif is_bundled(folder):
            yield from _judge_all(asked, weights)
        elif trust_code:
            yield from _judge_elsewhere(asked, weights, patience)
        else:
            reason = explain_distrust(folder, asked[0][0].code.shown_as)
            yield from (_record(claim, Verdict.UNVERIFIABLE, reason) for claim, _ in asked)


def _judge_elsewhere(asked: _Asked, weights: WeightsToJudge, patience: float) -> Iterator[Statement]:
    waiting = [claim for claim, _ in asked]
    try:
        with closing(yield_apart(_judge_apart, (asked, replace(weights, tensors={})), patience)) as answers:
            for answer in answers:
                waiting.pop(0)
                yield answer
    except StoppedError as error:
        yield from (_record(one, Verdict.ERROR, f"{one.file}: {error}") for one in waiting)


def _judge_apart(given: tuple[_Asked, WeightsToJudge]) -> Iterator[Statement]:
    """Judge in another process, which reads the tensors itself."""
    asked, weights = given
    return _judge_all(asked, replace(weights, tensors=weights.read()))


def _judge_all(asked: _Asked, weights: WeightsToJudge) -> Iterator[Statement]:
    tensors = weights.tensors
    image = any(value.ndim == 4 and re.search(r"(^|\.)(stem|patch_embed)\.", name) for name, value in tensors.items())
    return (_judge(claim, places, weights, image=image) for claim, places in asked)


def _judge(claim: WeightClaim, places: Places, weights: WeightsToJudge, *, image: bool) -> Statement:
    """Judge a claim; whatever a paper's Python raises is a statement with the verdict error."""
    from imlp_audit.claims.language import load_claim
    from imlp_audit.claims.weights import LayerWeights, judge_weights

    layers = [
        LayerWeights(escape_name(path.removesuffix(".")) or "the module", names, weights.tensors, image)
        for path, names in places.items()
    ]
    try:
        verdict, reason, values = judge_weights(load_claim(claim.code).judge, layers, weights.untrained, weights.draws)
    except (Exception, SystemExit) as error:
        place = locate_error(error, claim.code.folder, claim.code.shown_as) or claim.file
        return _record(claim, Verdict.ERROR, f"{place}: {type(error).__name__}: {error}")
    by_name = {name: tuple(numbers) for name, numbers in values.items()}
    found = {"layers": tuple(layer.name for layer in layers), "values": by_name}
    return _record(claim, verdict, reason).model_copy(update=found)


def _record(claim: WeightClaim, verdict: Verdict, reason: str) -> Statement:
    return Statement(
        id=claim.name, paper=claim.paper, place=claim.place, sentence=claim.printed, measured=claim.measured,
        judged=claim.judged, verdict=verdict, reason=reason,
    )  # fmt: skip
