"""Files with publishers' names load into timm's models, which then compute what the publishers' code does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch
from timm.models.mlp_mixer import Affine, MlpMixer, ResBlock
from timm.models.swin_transformer import PatchMerging
from torch import nn

from imlp_audit.checkpoint.fitting import fit
from imlp_audit.checkpoint.layouts import LAYOUTS, NameLayout
from imlp_audit.checkpoint.loading import name_tensors
from imlp_audit.evaluate.weights import compute_as_published
from tests.checkpoint.publishers import (
    CLASSES,
    PAIRS,
    compute,
    hugging_face_swin_v2,
    poolformer,
    randomise,
    save,
    swin,
    swin_v2,
    vit,
)
from tests.checkpoint.reading import load_into, parse


@pytest.mark.parametrize("name", PAIRS)
def test_the_same_weights_give_the_same_scores(tmp_path: Path, name: str) -> None:
    pair = PAIRS[name]
    theirs, ours = randomise(pair.theirs()), pair.ours().eval()
    parsed = parse(save(theirs, tmp_path, pair.save_pretrained))
    found = fit(parsed.shapes, ours)
    assert (found.layout.name if found.layout is not None else None) == pair.layout
    load_into(ours, parsed)
    images = torch.randn(8, 3, pair.side, pair.side)
    with torch.inference_mode():
        compute_as_published(ours, found.layout)
        expected, scores = compute(theirs, images), compute(ours, images)
    spread = float(expected.std(dim=0).mean())
    assert spread > 1e-3  # the scores depend on the image
    torch.testing.assert_close(scores, expected, rtol=0, atol=2e-5 * spread + 2e-6 * float(expected.abs().max()))
    assert torch.equal(scores.argsort(dim=1), expected.argsort(dim=1))


def to_mmpretrain(state: dict[str, torch.Tensor], names: tuple[tuple[str, str], ...]) -> dict[str, torch.Tensor]:
    """Name timm's tensors as mmpretrain does; what is no head is its backbone."""
    renamed = {}
    for name, tensor in state.items():
        for ours, theirs in names:
            name = name.replace(ours, theirs)
        renamed[name if name.startswith("head.") else f"backbone.{name}"] = tensor
    return renamed


FEED_FORWARD = ((".mlp.fc1.", ".ffn.layers.0.0."), (".mlp.fc2.", ".ffn.layers.1."))


@pytest.mark.parametrize("norms", [("ln1", "ln2"), ("norm1", "norm2")])  # now, and in mmcls
def test_mmpretrains_vit(norms: tuple[str, str]) -> None:
    model = randomise(vit())
    parts = (
        (".norm1.", f".{norms[0]}."),
        (".norm2.", f".{norms[1]}."),
        ("patch_embed.proj.", "patch_embed.projection."),
    )
    named = to_mmpretrain(dict(model.state_dict()), (*FEED_FORWARD, *parts, ("blocks.", "layers.")))
    theirs = {
        name.replace("backbone.norm.", f"backbone.{norms[0]}.").replace("head.", "head.layers.head."): one
        for name, one in named.items()
    }
    found = fit({name: tuple(one.shape) for name, one in theirs.items()}, model)
    assert found.exact
    tensors = name_tensors(found, theirs)
    assert all(torch.equal(tensors[name], one) for name, one in model.state_dict().items())


def test_mmpretrains_swin_lists_the_channels_of_merged_patches_as_unfold_does() -> None:
    """Its PatchMerging is an nn.Unfold, a norm and a linear layer; timm gathers the four patches by itself."""
    norm, reduction = nn.LayerNorm(32), nn.Linear(32, 16, bias=False)
    randomise(nn.ModuleList([norm, reduction]))
    model = swin()
    names = (("layers.", "stages."), (".attn.", ".attn.w_msa."), ("patch_embed.proj.", "patch_embed.projection."))
    state = to_mmpretrain(dict(model.state_dict()), (*names, *FEED_FORWARD))
    theirs = {
        name.replace("backbone.norm.", "backbone.norm3.")
        .replace("stages.1.downsample", "stages.0.downsample")
        .replace("stages.2.downsample", "stages.1.downsample")
        .replace("stages.3.downsample", "stages.2.downsample"): one
        for name, one in state.items()
    }
    for part, layer in (("norm", norm), ("reduction", reduction)):
        theirs |= {f"backbone.stages.0.downsample.{part}.{name}": one for name, one in layer.state_dict().items()}
    found = fit({name: tuple(one.shape) for name, one in theirs.items()}, model)
    assert found.exact
    assert found.layout is not None
    assert found.layout.name == "mmpretrain's Swin"
    model.load_state_dict(name_tensors(found, theirs), strict=False)
    merging = model.get_submodule("layers.1.downsample")
    assert isinstance(merging, PatchMerging)
    x = torch.randn(2, 8, 6, 6)
    with torch.inference_mode():
        expected = reduction(norm(nn.Unfold(2, stride=2)(x).transpose(1, 2)))
        torch.testing.assert_close(merging(x.permute(0, 2, 3, 1)).flatten(1, 2), expected, rtol=1e-5, atol=1e-5)


def test_a_poolformer_names_whose_function_it_computes() -> None:
    model = randomise(poolformer())
    x = torch.randn(4, 3, 64, 64)
    with torch.inference_mode():
        plain = model(x)
        found = compute_as_published(model, None)
        assert torch.equal(model(x), plain)
        assert found.settings == {"function": "timm: the pooling before the last norm"}
        (layout,) = (one for one in LAYOUTS if one.name == "Hugging Face's PoolFormer")
        found = compute_as_published(model, layout)
        assert not torch.allclose(model(x), plain, atol=0.1)
        assert found.settings == {"function": "PoolFormer's authors' code: the last norm before the pooling"}


def load_pair(theirs: nn.Module, ours: nn.Module, folder: Path) -> NameLayout | None:
    parsed = parse(save(theirs, folder))
    load_into(ours.eval(), parsed)
    return fit(parsed.shapes, ours).layout


def test_hugging_faces_swin_v2_adds_its_mask_twice(tmp_path: Path) -> None:
    """Where attention is multiplied by nearly 100, a mask of -100 does not hide everything."""
    theirs, ours = randomise(hugging_face_swin_v2()), swin_v2()
    for name, parameter in theirs.named_parameters():
        if name.endswith("logit_scale"):
            parameter.data.fill_(4.6)
    layout, x = load_pair(theirs, ours, tmp_path), torch.randn(8, 3, 64, 64)
    with torch.inference_mode():
        expected, timms = compute(theirs, x), ours(x)
        assert not torch.allclose(timms, expected, atol=0.05)
        found = compute_as_published(ours, layout)
        torch.testing.assert_close(ours(x), expected, rtol=0, atol=2e-4)
        assert found.settings["function"] == "Hugging Face's code: the mask of shifted windows added twice"


def test_the_authors_resmlp_is_timms(tmp_path: Path) -> None:
    """Its names in facebookresearch/deit, whose affine layers have vectors where timm's have (1, 1, width)."""
    theirs, ours = (
        MlpMixer(
            CLASSES, 32, patch_size=8, num_blocks=2, embed_dim=12, mlp_ratio=4, block_layer=ResBlock, norm_layer=Affine
        )
        for _ in range(2)
    )
    names = (("stem.", "patch_embed."), ("linear_tokens", "attn"), ("mlp_channels", "mlp"), (".ls", ".gamma_"))
    named = {}
    for name, tensor in randomise(theirs).state_dict().items():
        for timms, authors in names:
            name = name.replace(timms, authors)
        named[name] = tensor.flatten() if "norm" in name else tensor
    assert {"blocks.0.attn.bias", "blocks.0.norm1.alpha", "blocks.1.gamma_2", "norm.beta"} <= named.keys()
    torch.save(named, tmp_path / "c.pth")
    load_into(ours.eval(), parse(tmp_path / "c.pth"))
    x = torch.randn(4, 3, 32, 32)
    with torch.inference_mode():
        assert torch.equal(ours(x), theirs(x))


def test_no_names_are_of_two_layouts() -> None:
    assert len({layout.name for layout in LAYOUTS}) == len(LAYOUTS) - 1  # ResMLP's are mapped to timm's and to ours
    for name, pair in PAIRS.items():
        names = pair.theirs().state_dict()
        matches = [layout.name for layout in LAYOUTS if any(re.search(layout.mark, one) for one in names)]
        assert len(matches) <= 1, name
