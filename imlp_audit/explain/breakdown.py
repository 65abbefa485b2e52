"""Where a model's number comes from: what each of its parts has."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from imlp_audit.count.build_and_count import attempt, count_work
from imlp_audit.count.conventions import Convention, ParameterConvention
from imlp_audit.count.facts import Failure, ModelKey
from imlp_audit.count.measuring import each_outside
from imlp_audit.count.parameters import parameter_sizes
from imlp_audit.count.record import Ledger, site_of
from imlp_audit.errors import BuildError
from imlp_audit.models.build import Builder
from imlp_audit.models.host import PartNames
from imlp_audit.models.readings import AnyReading
from imlp_audit.models.recipe import Recipe
from imlp_audit.records.explanation import Amount

# The names that timm's models share with others. The first that is found in a path without its numbers names the part.
_COMMON: PartNames = (
    (r"\b(cls_token|dist_token)\b|^pool\.token\b", "class token"),
    (r"\b(pos_embed|positions)\b", "positions"),
    (r"\bpatch_embed\b|^stem\.proj\b", "patch embedding"),
    (r"^(stem|conv_stem|conv1|bn1)\b", "stem"),
    (r"\bdownsample\b", "downsampling"),
    (r"\b(attn_last|se)\b", "squeeze and excitation"),
    (r"\battn|\battention\b|\baggregate\b", "attention"),
    (r"\b(layer_scale|ls|gamma_)\d?\b", "scales after the sublayers"),
    (r"^(aux_)?head(_dist)?\.norm\b|^(fc_)?norm\b|^pool\b|^\w+_aff\b|^global_pool\b", "last norm and pooling"),
    (r"^(aux_)?head|^classifier\b|^fc\b", "classifier head"),
    (r"\b(norm|pre)\d?\b", "norms of the blocks"),
)
_MLP_NAMES = {
    "token_mixing.mlp": "token MLP",
    "mlp_tokens": "token MLP",
    "channel_mixing.mlp": "channel MLP",
    "mlp_channels": "channel MLP",
    "mlp": "MLP",
}
_MLP = re.compile(rf"(?<!across_patches\.)\b({'|'.join(map(re.escape, _MLP_NAMES))})\b\.?(.*)")
_IN_MLP = (
    (r"^(fc1|b)\b", "FC1"),
    (r"^act\.norm\b", "norm after the concatenation"),
    (r"^act\.(agelu\d|alpha|beta|gamma|theta)\b|^agelus\b", "AGeLU"),
    (r"^act\b", "activation"),
    (r"^spatial\.conv\b|^depconv\b", "depthwise convolution"),
    (r"^spatial\.norm\b", "norm of the convolution"),
    (r"^spatial\.act\b", "activation of the convolution"),
    (r"^spatial\b", "skip around the convolution"),
    (r"^gate\.norm\b", "norm of the gate"),
    (r"^gate\b", "gate"),
    (r"^(fc2|c)\b", "FC2"),
    (r"^norm\b", "output norm"),
)


def find_part(path: str, own: PartNames) -> str | None:
    """Name the part of a model that a module, or a parameter of one, is in; None where no rule knows it.

    `own` are the names of its host, which go before the common ones. Other parts of MLPs go by their first module.
    """
    plain = ".".join(name for name in path.split(".") if not name.isdigit())
    inside = _MLP.search(plain)
    if inside is not None:
        within = _first(_IN_MLP, inside[2]) or inside[2].partition(".")[0]
        return f"{_MLP_NAMES[inside[1]]}: {within or 'elsewhere'}"
    return _first((*own, *_COMMON), plain)


def _first(rules: PartNames, path: str) -> str | None:
    return next((name for pattern, name in rules if re.search(pattern, path)), None)


@dataclass(frozen=True)
class Body:
    """The sizes of a model's parameters by convention, and its work; `part_names` are the host's own of its parts."""

    sizes: Mapping[ParameterConvention, Mapping[str, int]]
    ledger: Ledger
    part_names: PartNames = ()

    def by_part(self, counting: ParameterConvention | Convention) -> Mapping[str, int]:
        """Return what a convention counts in each part, in their order; the amounts add up to the model's number."""
        sums = Counter[str]()
        if isinstance(counting, ParameterConvention):
            for path, size in self.sizes[counting].items():
                sums[self._part_of(path)] += size
            return sums
        for (path, operation), amount in self.ledger.work.items():
            if counted := amount * counting.weight(operation, site_of(path)):
                sums[self._part_of(path)] += counted
        return sums

    def _part_of(self, path: str) -> str:
        return find_part(path, self.part_names) or path.partition(".")[0] or "between the modules"


def dissect(recipe: Recipe, reading: AnyReading | None, builder: Builder | None = None) -> Body:
    """Return the parts of a model, built on the meta device. Raises BuildError, or whatever a host's code raises.

    Code from outside runs in a process of its own, with a time limit.
    """
    if not recipe.runs_code:
        return _dissect(recipe, reading, builder or Builder())
    key = ModelKey(recipe, reading)
    body = dict(each_outside(_dissect_each, {key: None}))[key]
    if isinstance(body, Failure):
        raise BuildError(body.message)
    return body


def _dissect_each(models: Mapping[ModelKey, None]) -> Iterator[tuple[ModelKey, Body | Failure]]:
    return ((key, attempt(key.recipe, partial(_dissect, key.recipe, key.reading, Builder()))) for key in models)


def _dissect(recipe: Recipe, reading: AnyReading | None, builder: Builder) -> Body:
    with builder.variant(recipe, reading) as variant:
        model = variant.model
        ledger = count_work(model)
        return Body(parameter_sizes(model), ledger, recipe.host.parts)


def set_beside(ours: Mapping[str, int], base: Mapping[str, int] | None) -> tuple[Amount, ...]:
    """Return the amounts of one model by part, with those of its baseline if there is one.

    Parts are in the order of the model, with the baseline's own in their place.
    """
    names, before = list(ours), -1
    for part in base or ():
        if part not in names:
            names.insert(before + 1, part)
        before = names.index(part)
    return tuple(
        Amount(name=one, amount=ours.get(one, 0), baseline=None if base is None else base.get(one, 0)) for one in names
    )
