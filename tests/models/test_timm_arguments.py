"""Architectures of timm with other arguments: sizes by closed formulas, and what is refused."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from imlp_audit.errors import BuildError
from imlp_audit.models.build import Builder, build_host
from imlp_audit.models.recipe import Recipe


def build(arguments: dict[str, object], **more: object) -> torch.nn.Module:
    host = {"architecture": "deit_tiny_patch16_224", "arguments": arguments}
    recipe = Recipe.model_validate({"timm": host, **more})
    with torch.device("meta"):
        return build_host(recipe, None)


@settings(max_examples=5, deadline=None)
@given(depth=st.integers(1, 3), heads=st.integers(1, 4), ratio=st.integers(1, 4), classes=st.integers(2, 20))
def test_a_vit_of_other_sizes_has_the_parameters_of_its_closed_formula(
    depth: int, heads: int, ratio: int, classes: int
) -> None:
    width = 8 * heads
    model = build({"embed_dim": width, "depth": depth, "num_heads": heads, "mlp_ratio": ratio}, classes=classes)
    embedding = 3 * 16 * 16 * width + width + width + 197 * width  # patches, class token, positions
    attention, mlp = 4 * width * width + 4 * width, 2 * ratio * width * width + ratio * width + width
    block = attention + mlp + 2 * 2 * width  # with two norms
    assert (
        sum(one.numel() for one in model.parameters())
        == embedding + depth * block + 2 * width + width * classes + classes
    )


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("num_classes", "write `classes` beside the host instead"),
        ("img_size", "write `image` beside the host instead"),
        ("pretrained", "nothing is read or downloaded"),
        ("checkpoint_path", "nothing is read or downloaded"),
        ("pretrained_cfg", "nothing is read or downloaded"),
        ("hf_hub_id", "nothing is read or downloaded"),
        ("cache_dir", "nothing is read or downloaded"),
    ],
)
def test_what_is_said_elsewhere_or_reads_files_is_refused(name: str, instead: str) -> None:
    with pytest.raises(ValidationError, match=f"{name}: .*{instead}"):
        build({name: 1})


@pytest.mark.parametrize("arguments", [{"embed_dmi": 64}, {"embed_dim": 65}, {"depth": "many"}])
def test_an_argument_that_timm_does_not_take_is_an_error_of_that_model(arguments: dict[str, object]) -> None:
    with pytest.raises(BuildError, match="deit_tiny_patch16_224 with "):
        build(arguments)


def test_patches_that_do_not_divide_the_model_s_own_images_are_refused() -> None:
    with pytest.raises(BuildError, match="image: patches of 15 do not divide 224"):
        build({"patch_size": 15})


def test_patches_that_overlap_need_not_divide_the_image() -> None:
    """PVT v2 embeds 7 x 7 with strides of 4, and is published for 224 and used on 384 and 256."""
    with Builder().variant(Recipe.of(timm="pvt_v2_b0", image=256), None) as variant:
        assert tuple(variant.model.patch_embed.patch_size) == (7, 7)  # type: ignore[union-attr, arg-type]
