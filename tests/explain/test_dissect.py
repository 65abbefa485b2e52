from __future__ import annotations

from collections import Counter

import pytest

from imlp_audit.count.conventions import FLOPS_CONVENTIONS, Convention, ParameterConvention, parse_weight_key
from imlp_audit.count.operations import Operation
from imlp_audit.explain.body import Body, ImlpSize, ParameterKind
from imlp_audit.explain.dissect import dissect
from imlp_audit.models.reading import AnyReading, OutputLayer, Presence, SpatialMatrix, TextReading
from imlp_audit.models.recipe import Recipe
from tests.explain.counted import Counts, whole
from tests.models.readings import AS_WRITTEN, RELEASED

TEXT = TextReading(40, 6, 32, SpatialMatrix.FULL, Presence.YES, OutputLayer.MASKED_LM, Presence.YES)
DEIT: dict[str, object] = {"timm": "deit_tiny_patch16_224"}
CASES: tuple[tuple[dict[str, object], AnyReading | None], ...] = (
    (DEIT, None),
    (DEIT | {"mlp": {"imlp": {"kernel": 5}}}, RELEASED),
    (DEIT | {"mlp": {"imlp": {}, "sites": ("blocks.[0-3].mlp",)}}, AS_WRITTEN),
    ({"timm": "deit_tiny_distilled_patch16_224"}, None),
    ({"timm": "swin_tiny_patch4_window7_224", "mlp": {"imlp": {}}}, AS_WRITTEN),
    ({"timm": "poolformer_s12"}, None),
    ({"gmlp_text": {"layers": 2, "width": 16}}, TEXT),
    ({"bert": {"layers": 1, "width": 24, "heads": 2, "hidden": 32}}, TEXT),
)


SLOW = (4, 6)  # the places of cases that take seconds


@pytest.fixture(
    scope="module",
    params=[pytest.param(case, marks=pytest.mark.slow if at in SLOW else ()) for at, case in enumerate(CASES)],
    ids=lambda case: str(Recipe.model_validate(case[0])),
)
def taken_apart(request: pytest.FixtureRequest) -> tuple[Body, Counts]:
    fields, reading = request.param
    recipe = Recipe.model_validate(fields)
    return dissect(recipe, reading), whole(recipe, reading)


@pytest.mark.daily(2)
def test_the_parts_add_up_to_the_model_by_every_convention(taken_apart: tuple[Body, Counts]) -> None:
    body, counts = taken_apart
    for convention in ParameterConvention:
        assert sum(item.amount for item in body.items(convention)) == body.total(convention) == counts[convention]
    for name, weights in FLOPS_CONVENTIONS.items():
        if any(key.site is not None for key in weights.weights):  # the whole model's counts know no sites
            continue
        expected = sum(counts[key.operation] * weight for key, weight in weights.weights.items())
        assert body.total(weights) == expected, name


@pytest.mark.daily(2)
def test_work_of_each_class_is_all_there(taken_apart: tuple[Body, Counts]) -> None:
    body, counts = taken_apart
    for operation in Operation:
        alone = Convention("alone", {parse_weight_key(operation): 1})
        assert body.total(alone) == counts[operation]


def kinds(body: Body) -> Counter[str]:
    sums: Counter[str] = Counter()
    for item in body.items(ParameterConvention.ALL):
        sums[item.kind] += item.amount
    return sums


def test_parameters_are_of_the_kinds_that_the_block_has() -> None:
    body = dissect(Recipe.model_validate(DEIT | {"mlp": {"imlp": {"kernel": 3}}}), RELEASED)
    block = {
        ParameterKind.WEIGHT: 192 * 384 + 9 * 768 + 768 * 192,
        ParameterKind.BIAS: 384 + 768 + 192,
        ParameterKind.COEFFICIENT: 2 * 4 * 384,
        ParameterKind.NORM: 2 * 768 + 2 * 768 + 2 * 192,
    }
    host = {
        ParameterKind.WEIGHT: 3 * 16 * 16 * 192 + 12 * 4 * 192 * 192 + 192 * 1000,
        ParameterKind.BIAS: 192 + 12 * 4 * 192 + 1000,
        ParameterKind.COEFFICIENT: 0,
        ParameterKind.NORM: 12 * 4 * 192 + 2 * 192,
    }
    expected = {kind: 12 * block[kind] + host[kind] for kind in block} | {ParameterKind.TABLE: 196 * 192}
    assert kinds(body) == expected


def test_scales_are_neither_weights_nor_norms() -> None:
    assert kinds(dissect(Recipe.of(timm="poolformer_s12"), None))[ParameterKind.SCALE] == 6656  # two a block, as wide


def test_a_tied_matrix_is_counted_once_and_not_in_the_head() -> None:
    body = dissect(Recipe.model_validate({"gmlp_text": {"layers": 1, "width": 16}}), TEXT)
    tied = [one for one in body.tensors if one.size == 40 * 16]
    assert [(one.path, one.in_head) for one in tied] == [("embedding.weight", False)]


def test_blocks_are_counted_by_their_dimensions() -> None:
    recipe = Recipe.model_validate({"timm": "swin_tiny_patch4_window7_224", "mlp": {"imlp": {"ratio": 1.5}}})
    widths = {96: (56 * 56, 2), 192: (28 * 28, 2), 384: (14 * 14, 6), 768: (7 * 7, 2)}
    body = dissect(recipe, AS_WRITTEN)
    assert body.blocks == {
        ImlpSize(channels=c, hidden=3 * c, tokens=grid, grid=grid, biases=(True, True)): number
        for c, (grid, number) in widths.items()
    }
    kept = dissect(Recipe.model_validate(DEIT | {"mlp": {"imlp": {}}}), AS_WRITTEN)
    assert kept.blocks == {ImlpSize(channels=192, hidden=768, tokens=197, grid=196, biases=(True, True)): 12}


def test_mlps_that_are_not_replaced_belong_to_the_rest() -> None:
    recipe = Recipe.model_validate(DEIT | {"mlp": {"imlp": {}, "sites": ("blocks.0.mlp",)}})
    body = dissect(recipe, AS_WRITTEN)
    assert body.blocks_at == ("blocks.0.mlp",)
    whole = body.total(ParameterConvention.ALL)
    block = 192 * 384 + 384 + 8 * 384 + 9 * 768 + 768 + 2 * 768 + 768 * 192 + 192
    assert body.outside_blocks(ParameterConvention.ALL) == whole - block
