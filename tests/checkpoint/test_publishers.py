"""Files with publishers' names load into timm's models, which then compute what the publishers' code does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch
from timm.models.swin_transformer import PatchMerging
from torch import nn

from imlp_audit.checkpoint.contents import parse
from imlp_audit.checkpoint.fitting import fit
from imlp_audit.checkpoint.layouts.dialects import LAYOUTS
from imlp_audit.checkpoint.loading import load_into, name_tensors
from imlp_audit.errors import UsageError
from imlp_audit.evaluate.function import Function
from imlp_audit.evaluate.published import as_published
from tests.checkpoint.publishers import PAIRS, compute, convnext, poolformer, randomise, save, swin, vit


@pytest.mark.parametrize("name", PAIRS)
def test_the_same_weights_give_the_same_scores(tmp_path: Path, name: str) -> None:
    pair = PAIRS[name]
    theirs, ours = randomise(pair.theirs()), pair.ours().eval()
    parsed = parse(save(theirs, tmp_path))
    found = fit(parsed.shapes, ours)
    assert (found.layout.name if found.layout is not None else None) == pair.layout
    load_into(ours, parsed)
    images = torch.randn(8, 3, pair.side, pair.side)
    with torch.inference_mode(), as_published(ours, found.layout):
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
        with as_published(model, None) as found:
            assert torch.equal(model(x), plain)
            assert found.settings == {"function": "timm: the pooling before the last norm"}
            assert "which --function published does" in found.notes[0]
        with as_published(model, None, Function.PUBLISHED) as found:
            assert not torch.allclose(model(x), plain, atol=0.1)
            assert found.settings == {"function": "PoolFormer's authors' code: the last norm before the pooling"}
        (layout,) = (one for one in LAYOUTS if one.name == "Hugging Face's PoolFormer")
        with as_published(model, layout, Function.TIMM):
            assert torch.equal(model(x), plain)


def test_a_function_that_does_not_differ_cannot_be_asked_for() -> None:
    words = "--function published: timm and the publisher's code compute the same here"
    with pytest.raises(UsageError, match=words), as_published(convnext(), None, Function.PUBLISHED):
        pass


def test_no_names_are_of_two_layouts() -> None:
    assert len({layout.name for layout in LAYOUTS}) == len(LAYOUTS) - 1  # Mixer's are mapped to timm's and to ours
    for name, pair in PAIRS.items():
        names = pair.theirs().state_dict()
        matches = {layout.name for layout in LAYOUTS if any(re.search(layout.mark, one) for one in names)}
        assert len(matches) <= 1, name
