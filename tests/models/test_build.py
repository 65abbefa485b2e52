from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from pydantic import ValidationError
from torch import nn

from imlp_audit.errors import BuildError
from imlp_audit.models.blocks import Activation, ImlpRecipe, Part
from imlp_audit.models.build import Builder, build_host, describe_failure, mlps_of
from imlp_audit.models.imlp import AGeLU, Imlp
from imlp_audit.models.readings import ClassToken, Reading
from imlp_audit.models.recipe import Recipe, Replacement
from tests.models import formulas
from tests.models.readings import AS_WRITTEN, RELEASED


def recipe(host: object, kernel: int = 3, ratio: float = 2, part: Part = Part.CHANNEL_AND_SPATIAL) -> Recipe:
    return Recipe.of(timm=host, mlp=Replacement(imlp=ImlpRecipe(ratio=ratio, kernel=kernel, part=part)))


NORMED = {"architecture": "vit_tiny_patch16_224", "arguments": {"scale_mlp_norm": True}}


def count(model: nn.Module) -> int:
    return sum(p.numel() for p in model.parameters())


def test_a_model_that_does_not_take_the_images_says_which_it_takes() -> None:
    error = RuntimeError("shapes")
    for name, side, own in (("levit_256", 230, 224), ("maxvit_tiny_tf_224", 230, 224)):
        assert describe_failure(Recipe.of(timm=name, image=side), error) == (
            f"timm: {name}, image: {side} could not be built or counted: RuntimeError: shapes; "
            f"timm has it for {own} x {own}: remove `image`, or give a size that it takes"
        )
        assert describe_failure(Recipe.of(timm=name, image=own), error).endswith("RuntimeError: shapes")
    other = Recipe.of(torchvision="maxvit_t", image=230)
    assert "torchvision has it for 224 x 224" in describe_failure(other, error)


HOSTS: dict[str, tuple[int, list[int]]] = {
    # host: parameters by closed formula, and the width of each of its MLPs
    "deit_tiny_patch16_224": (formulas.deit(192), [192] * 12),
    "deit_small_patch16_224": (formulas.deit(384), [384] * 12),
    "deit_base_patch16_224": (formulas.deit(768), [768] * 12),
    "swin_tiny_patch4_window7_224": (
        formulas.swin(96, (2, 2, 6, 2), (3, 6, 12, 24)),
        [96] * 2 + [192] * 2 + [384] * 6 + [768] * 2,
    ),
    "swin_small_patch4_window7_224": (
        formulas.swin(96, (2, 2, 18, 2), (3, 6, 12, 24)),
        [96] * 2 + [192] * 2 + [384] * 18 + [768] * 2,
    ),
    "swin_base_patch4_window7_224": (
        formulas.swin(128, (2, 2, 18, 2), (4, 8, 16, 32)),
        [128] * 2 + [256] * 2 + [512] * 18 + [1024] * 2,
    ),
    "poolformer_s12": (
        formulas.poolformer((64, 128, 320, 512), (2, 2, 6, 2)),
        [64] * 2 + [128] * 2 + [320] * 6 + [512] * 2,
    ),
    "poolformer_s24": (
        formulas.poolformer((64, 128, 320, 512), (4, 4, 12, 4)),
        [64] * 4 + [128] * 4 + [320] * 12 + [512] * 4,
    ),
    "poolformer_s36": (
        formulas.poolformer((64, 128, 320, 512), (6, 6, 18, 6)),
        [64] * 6 + [128] * 6 + [320] * 18 + [512] * 6,
    ),
    "poolformer_m36": (
        formulas.poolformer((96, 192, 384, 768), (6, 6, 18, 6)),
        [96] * 6 + [192] * 6 + [384] * 18 + [768] * 6,
    ),
    "poolformer_m48": (
        formulas.poolformer((96, 192, 384, 768), (8, 8, 24, 8)),
        [96] * 8 + [192] * 8 + [384] * 24 + [768] * 8,
    ),
}


@pytest.fixture(scope="module")
def builder() -> Builder:
    return Builder()


def test_deit_ti_has_5_717_416_parameters() -> None:
    assert formulas.deit(192) == 5_717_416


@pytest.mark.daily(4)
@pytest.mark.parametrize("host", HOSTS)
def test_baselines_follow_their_closed_formulas(builder: Builder, host: str) -> None:
    with builder.variant(Recipe.of(timm=host), None) as variant:
        assert count(variant.model) == HOSTS[host][0]


@pytest.mark.daily(11)
@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("reading", [AS_WRITTEN, RELEASED], ids=["as_written", "released"])
@pytest.mark.parametrize("part", Part)
def test_variants_follow_the_host_and_the_blocks(builder: Builder, host: str, part: Part, reading: Reading) -> None:
    parameters, widths = HOSTS[host]
    ratio = 4 if part is Part.SPATIAL else 2
    blocks = sum(formulas.imlp(w, ratio * w, 5, part, reading) - formulas.mlp(w) for w in widths)
    # a class token that is removed takes its own vector and its position's along
    token = 2 * widths[0] if host.startswith("deit") and reading.class_token is ClassToken.REMOVED else 0
    with builder.variant(recipe(host, 5, ratio, part), reading) as variant:
        assert count(variant.model) == parameters + blocks - token
        assert len(variant.mlps) == len(widths)


@pytest.mark.parametrize("host", ["deit_tiny_patch16_224", "swin_tiny_patch4_window7_224", "poolformer_s12"])
def test_swap_changes_the_mlps_and_nothing_else(builder: Builder, host: str) -> None:
    with builder.variant(Recipe.of(timm=host), None) as before:
        outside = {
            n: p for n, p in before.model.named_parameters() if not n.startswith(tuple(f"{m}." for m in before.mlps))
        }
        modules = dict(before.model.named_modules())
    with builder.variant(recipe(host), AS_WRITTEN) as variant:
        kept = {
            n: p for n, p in variant.model.named_parameters() if not n.startswith(tuple(f"{m}." for m in variant.mlps))
        }
        assert kept.keys() == outside.keys()
        assert all(kept[name] is outside[name] for name in kept)
        assert all(isinstance(variant.model.get_submodule(path), Imlp) for path in variant.mlps)
    with builder.variant(Recipe.of(timm=host), None) as after:
        assert dict(after.model.named_modules()) == modules


@pytest.mark.daily(2)
@pytest.mark.parametrize("reading", [AS_WRITTEN, RELEASED], ids=["as_written", "released"])
@pytest.mark.parametrize("host", ["deit_tiny_patch16_224", "swin_tiny_patch4_window7_224", "poolformer_s12"])
def test_variants_compute_with_real_weights(host: str, reading: Reading) -> None:
    torch.manual_seed(0)
    with Builder("cpu").variant(recipe(host), reading) as variant:
        logits = variant.model(torch.randn(1, 3, 224, 224))
        assert logits.shape == (1, 1000)
        assert torch.isfinite(logits).all()
        (logits**2).sum().backward()
        assert [n for n, p in variant.model.named_parameters() if p.grad is None] == []
        state = variant.model.state_dict()
        variant.model.load_state_dict(state, strict=True)


def test_released_deit_averages_its_patches_after_the_norm() -> None:
    """As the released code does: no class token, 196 positions, norm, then mean."""
    model = build_host(Recipe.of(timm="deit_tiny_patch16_224"), None, ClassToken.REMOVED)
    assert dict(model.named_parameters())["pos_embed"].shape == (1, 196, 192)
    normed: list[torch.Tensor] = []
    model.get_submodule("norm").register_forward_hook(lambda _, __, out: normed.append(out))
    logits = model(torch.randn(1, 3, 224, 224))
    assert torch.allclose(logits, model.get_submodule("head")(normed[0].mean(1)), atol=1e-5)


def test_another_activation_in_the_hosts_own_mlps() -> None:
    with Builder("cpu").variant(
        Recipe.of(timm="deit_tiny_patch16_224", activation=Activation.SOFTPLUS), None
    ) as variant:
        mlps = mlps_of(variant.model).values()
        assert len(mlps) == 12
        assert all(isinstance(mlp.act, nn.Softplus) for mlp in mlps)
        assert count(variant.model) == 5_717_416


@pytest.mark.parametrize("host", HOSTS)
def test_agelu_in_the_hosts_own_mlps(builder: Builder, host: str) -> None:
    """Table 3, row AGeLU, ratio 4: four coefficients for each hidden channel and nothing else."""
    parameters, widths = HOSTS[host]
    with builder.variant(Recipe.of(timm=host, agelu=True), None) as variant:
        assert count(variant.model) == parameters + sum(4 * 4 * width for width in widths)
        assert all(isinstance(mlp.act, AGeLU) for mlp in mlps_of(variant.model).values())


@pytest.mark.daily(4)
@pytest.mark.parametrize("reading", [AS_WRITTEN, RELEASED], ids=["as_written", "released"])
@pytest.mark.parametrize("part", [Part.CHANNEL, Part.CHANNEL_AND_SPATIAL])
@pytest.mark.parametrize("host", ["deit_tiny_patch16_224", "swin_tiny_patch4_window7_224", "poolformer_s12"])
def test_plain_leaves_the_coefficients_out(builder: Builder, host: str, part: Part, reading: Reading) -> None:
    """Table 3, row GeLU+concat, ratio 2: the block without its two AGeLUs' coefficients."""
    plain = Recipe.of(timm=host, mlp=Replacement(imlp=ImlpRecipe(plain=True, part=part)))
    with builder.variant(recipe(host, part=part), reading) as variant:
        ours = count(variant.model)
    with builder.variant(plain, reading) as variant:
        assert count(variant.model) == ours - sum(2 * formulas.agelu(2 * width, reading) for width in HOSTS[host][1])
        assert all(isinstance(variant.model.get_submodule(f"{path}.act.agelu1"), nn.GELU) for path in variant.mlps)


def test_sites_are_the_mlps_that_are_replaced(builder: Builder) -> None:
    block = ImlpRecipe()
    first_and_last = Replacement(imlp=block, sites=("blocks.0.*", "blocks.11.mlp"))
    with builder.variant(Recipe.of(timm="deit_tiny_patch16_224", mlp=first_and_last), AS_WRITTEN) as variant:
        replaced = [path for path in variant.mlps if isinstance(variant.model.get_submodule(path), Imlp)]
        assert replaced == ["blocks.0.mlp", "blocks.11.mlp"]
        assert len(variant.mlps) == 12
        each = formulas.imlp(192, 384, 3, Part.CHANNEL_AND_SPATIAL, AS_WRITTEN) - formulas.mlp(192)
        assert count(variant.model) == formulas.deit(192) + 2 * each


def test_an_unknown_site_is_reported(builder: Builder) -> None:
    nowhere = Replacement(imlp=ImlpRecipe(), sites=("blocks.12.mlp",))
    asked = Recipe.of(timm="deit_tiny_patch16_224", mlp=nowhere)
    told = r"sites: the host has no MLP at 'blocks.12.mlp'; its MLPs are at blocks.0.mlp, "
    with pytest.raises(BuildError, match=told), builder.variant(asked, None):
        pass


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"agelu": True, "mlp": {"imlp": {}}}, "agelu: it goes into the host's own MLPs, but these are replaced"),
        (
            {"mlp": {"imlp": {"plain": True, "part": "spatial"}}},
            "plain: a block of only the spatial part has no AGeLUs",
        ),
        ({"mlp": {}}, "give exactly one of imlp, python"),
        ({"arguments": {"depth": "2"}}, "arguments: they stand in the host, as timm: "),
        ({"mixer": {}}, "give exactly one host of .*; given: "),
    ],
)
def test_recipe_that_would_lose_something_is_refused(asked: dict[str, object], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        Recipe.model_validate({"timm": "deit_tiny_patch16_224", **asked})


def test_activation_is_the_base_of_the_agelus() -> None:
    chosen = recipe("deit_tiny_patch16_224").model_copy(update={"activation": Activation.SOFTPLUS})
    with Builder().variant(chosen, AS_WRITTEN) as variant:
        block = variant.model.get_submodule(variant.mlps[0])
        assert isinstance(block.act.agelu1.phi, nn.Softplus)  # type: ignore[union-attr]  # an Imlp's


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (lambda b: b.variant(Recipe.of(timm="deit_tinny_patch16_224"), None), "did you mean 'deit_tiny_patch16_224'"),
        (lambda b: b.variant(recipe("resnet18"), AS_WRITTEN), "has no timm.layers.Mlp"),
        (lambda b: b.variant(recipe("deit_tiny_patch16_224"), None), "needs a reading of the IMLP block"),
        (lambda b: b.variant(recipe("efficientformer_l1"), AS_WRITTEN), "MLPs of another kind"),
        (lambda b: b.variant(recipe("deit_tiny_patch16_224", ratio=0.005), AS_WRITTEN), "less than one channel"),
        (lambda b: b.variant(Recipe.of(gmlp_text={"layers": 1, "width": 8}), None), "a reading of language models"),
        (lambda b: b.variant(Recipe.of(resmlp={"layers": 1, "width": 8}), None), "needs a reading of its form"),
        (lambda b: b.variant(Recipe.of(torchvision="vit_b_16", image=(224, 256)), None), "takes square images, not"),
        (lambda b: b.variant(recipe(NORMED), AS_WRITTEN), r"a norm inside its MLP blocks\.0"),
    ],
)
def test_what_cannot_be_built_says_why(builder: Builder, ask: Callable[[Builder], object], told: str) -> None:
    with pytest.raises(BuildError, match=told), ask(builder):  # type: ignore[attr-defined]  # a context manager
        pass


def test_nothing_is_initialised_or_allocated_on_meta(builder: Builder) -> None:
    with builder.variant(recipe("poolformer_m48"), RELEASED) as variant:
        assert all(p.is_meta for p in variant.model.parameters())


def test_a_host_is_kept_until_it_is_dropped() -> None:
    wanted, other = Recipe.of(timm="test_vit"), Recipe.of(timm="test_resnet")
    builder = Builder()

    def built(recipe: Recipe) -> nn.Module:
        with builder.variant(recipe, None) as variant:
            return variant.model

    first, beside = built(wanted), built(other)
    assert built(wanted) is first
    builder.drop(wanted)
    assert built(wanted) is not first
    assert built(other) is beside


def test_a_host_that_mixes_tokens_is_told_which_mlps_have_a_grid() -> None:
    for change in ({}, {"sites": ["*.mlp_tokens"]}):
        recipe = Recipe.of(timm="mixer_s32_224", mlp={"imlp": {}, **change})
        with Builder().variant(recipe, RELEASED) as variant, pytest.raises(BuildError) as refused:
            variant.model(torch.zeros(1, 3, 224, 224, device="meta"))
        assert str(refused.value).startswith("mlp: 512 tokens do not form a grid; the MLP at blocks.0.mlp_tokens ")
        assert "replace only others with sites, or give part: channel" in str(refused.value)
    for advised in ({"imlp": {}, "sites": ["*.mlp_channels"]}, {"imlp": {"part": "channel"}}):
        with Builder().variant(Recipe.of(timm="mixer_s32_224", mlp=advised), RELEASED) as variant:
            variant.model(torch.zeros(1, 3, 224, 224, device="meta"))


def test_channels_whose_number_is_a_square_are_not_taken_for_a_grid() -> None:
    recipe = Recipe.of(timm="mixer_l32_224", mlp={"imlp": {}, "sites": ["blocks.0.mlp_tokens"]})
    with Builder().variant(recipe, RELEASED) as variant, pytest.raises(BuildError, match="1024 tokens do not form a"):
        variant.model(torch.zeros(1, 3, 224, 224, device="meta"))
