"""Where a number comes from: models taken apart, the names of their parts, and two models side by side."""

from __future__ import annotations

import pytest

from imlp_audit.count.call import Operation
from imlp_audit.count.conventions import FLOPS_CONVENTIONS, Convention, ParameterConvention, parse_weight_key
from imlp_audit.explain.breakdown import Body, dissect, find_part, set_beside
from imlp_audit.explain.explanation_document import describe_section
from imlp_audit.models.available_hosts import HOSTS
from imlp_audit.models.readings import AnyReading, OutputLayer, Presence, SpatialMatrix, TextReading
from imlp_audit.models.recipe import Recipe
from imlp_audit.records.explanation import Breakdown
from imlp_audit.report.document import Table, plain_text
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


SLOW = (4,)  # the places of cases that take seconds


@pytest.fixture(
    scope="module",
    params=[pytest.param(case, marks=pytest.mark.slow if at in SLOW else ()) for at, case in enumerate(CASES)],
    ids=lambda case: str(Recipe.model_validate(case[0])),
)
def taken_apart(request: pytest.FixtureRequest) -> tuple[Body, Counts]:
    fields, reading = request.param
    recipe = Recipe.model_validate(fields)
    return dissect(recipe, reading), whole(recipe, reading)


def total(body: Body, counting: ParameterConvention | Convention) -> int:
    return sum(body.by_part(counting).values())


@pytest.mark.daily(2)
def test_the_parts_add_up_to_the_model_by_every_convention(taken_apart: tuple[Body, Counts]) -> None:
    body, counts = taken_apart
    for convention in ParameterConvention:
        assert total(body, convention) == counts[convention]
    for name, weights in FLOPS_CONVENTIONS.items():
        if any(key.site is not None for key in weights.weights):  # the whole model's counts know no sites
            continue
        expected = sum(counts[key.operation] * weight for key, weight in weights.weights.items())
        assert total(body, weights) == expected, name


@pytest.mark.daily(2)
def test_work_of_each_class_is_all_there(taken_apart: tuple[Body, Counts]) -> None:
    body, counts = taken_apart
    for operation in Operation:
        alone = Convention("alone", {parse_weight_key(operation): 1})
        assert total(body, alone) == counts[operation]


def test_a_tied_matrix_is_counted_once_and_not_in_the_head() -> None:
    body = dissect(Recipe.model_validate({"gmlp_text": {"layers": 1, "width": 16}}), TEXT)
    for convention in (ParameterConvention.ALL, ParameterConvention.NO_HEAD):
        (tied,) = (path for path, size in body.sizes[convention].items() if size == 40 * 16)
        assert tied == "embedding.weight"


BASE = {"stem": 10, "class token": 1000, "FC1": 4040, "norm": 20}
OURS = {"stem": 10, "FC1": 2020, "AGeLU": 160, "norm": 20}


def table(ours: dict[str, int], base: dict[str, int]) -> list[list[str]]:
    """Return the table of a breakdown as texts."""
    parts = set_beside(ours, base)
    section = Breakdown(counted="all parameters", reading=None, model="ours", baseline="base", parts=parts)
    (found,) = (block for block in describe_section(section) if isinstance(block, Table))
    return [[plain_text(cell) for cell in row] for row in found.rows]


def numbers(row: list[str]) -> list[int]:
    return [int(cell.replace(" ", "").replace("+", "")) for cell in row[1:]]


def test_differences_add_up_part_by_part() -> None:
    body = [numbers(row) for row in table(OURS, BASE)]
    assert body[-1] == [5070, 2210, -2860]
    assert [sum(column) for column in zip(*body[:-1], strict=True)] == body[-1]
    assert all(ours - base == difference for base, ours, difference in body)
    assert [one.name for one in set_beside(OURS, BASE)] == ["stem", "class token", "FC1", "AGeLU", "norm"]


def test_small_parts_that_stay_share_a_line_and_large_ones_do_not() -> None:
    attention = {"attention": 5000}
    rows = {row[0]: numbers(row) for row in table(OURS | attention, BASE | attention)}
    assert rows["attention"] == [5000, 5000, 0]
    assert rows["other parts, all unchanged"] == [30, 30, 0]
    alone = {part: {name: n for name, n in of.items() if name != "stem"} for part, of in (("o", OURS), ("b", BASE))}
    assert "norm" in [row[0] for row in table(alone["o"], alone["b"])]


@pytest.mark.parametrize(
    ("host", "path", "part"),
    [
        ("timm", "cls_token", "class token"),
        ("timm", "pos_embed", "positions"),
        ("timm", "patch_embed.proj.weight", "patch embedding"),
        ("timm", "blocks.3.norm1.weight", "norms of the blocks"),
        ("timm", "blocks.3.attn.qkv.bias", "attention"),
        ("timm", "layers.0.blocks.1.attn.relative_position_bias_table", "attention"),
        ("bert", "bert.encoder.layer.0.attention.output.LayerNorm.weight", "attention"),
        ("bert", "bert.encoder.layer.0.output.dense.weight", "MLP: FC2"),
        ("bert", "bert.encoder.layer.0.output.LayerNorm.weight", "norms of the blocks"),
        ("bert", "bert.embeddings.LayerNorm.weight", "norm of the embedding"),
        ("bert", "bert.embeddings.word_embeddings.weight", "token embedding"),
        ("timm", "blocks.0.mlp.fc1.weight", "MLP: FC1"),
        ("timm", "blocks.0.mlp.act", "MLP: activation"),
        ("timm", "blocks.0.mlp.act.agelu2.theta", "MLP: AGeLU"),
        ("timm", "blocks.0.mlp.act.agelu1.phi", "MLP: AGeLU"),
        ("timm", "blocks.0.mlp.act.norm.weight", "MLP: norm after the concatenation"),
        ("timm", "blocks.0.mlp.spatial.conv.bias", "MLP: depthwise convolution"),
        ("timm", "backbone.1.1.0.mlp.depconv.bias", "MLP: depthwise convolution"),
        ("timm", "blocks.0.mlp.spatial.norm.weight", "MLP: norm of the convolution"),
        ("timm", "blocks.0.mlp.spatial", "MLP: skip around the convolution"),
        ("timm", "blocks.0.mlp.fc2.bias", "MLP: FC2"),
        ("timm", "blocks.0.mlp.norm.weight", "MLP: output norm"),
        ("timm", "blocks.0.mlp", "MLP: elsewhere"),
        ("timm", "blocks.0.mlp_tokens.fc1.weight", "token MLP: FC1"),
        ("timm", "blocks.0.token_mixing.mlp.fc1.weight", "token MLP: FC1"),
        ("timm", "blocks.0.mlp_channels.gate.proj.weight", "channel MLP: gate"),
        ("resmlp", "blocks.0.across_patches.mlp.b.weight", "mixing of the tokens"),
        ("resmlp", "blocks.0.across_channels.b.weight", "mixing of the channels"),
        ("gmlp", "blocks.0.u.weight", "FC1, from C to D_C"),
        ("gmlp", "blocks.0.sgu.norm.weight", "gate: norm"),
        ("gmlp", "blocks.0.sgu.proj.weight", "gate: mixing of the tokens"),
        ("timm", "blocks.0.layer_scale1.scale", "scales after the sublayers"),
        ("timm", "blocks.0.gamma_1", "scales after the sublayers"),
        ("timm", "layers.1.downsample.norm.weight", "downsampling"),
        ("timm", "stages.0.1.attn_last.fc1.weight", "squeeze and excitation"),
        ("timm", "norm.weight", "last norm and pooling"),
        ("timm", "head.norm.weight", "last norm and pooling"),
        ("timm", "head.weight", "classifier head"),
        ("timm", "aux_head.bias", "classifier head"),
        ("gmlp_text", "output.3.bias", "output layer"),
        ("timm", "layer1.0.conv1.weight", None),
        ("timm", "", None),
    ],
)
def test_parts_are_called_what_they_are(host: str, path: str, part: str | None) -> None:
    assert find_part(path, HOSTS[host].parts) == part
