"""The names of publishers' code: mapped as timm's own converters do it, where the models compute the same."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
import torch
from timm.models.metaformer import GroupNorm1, MetaFormer
from timm.models.metaformer import checkpoint_filter_fn as filter_poolformer
from timm.models.swin_transformer import SwinTransformer
from timm.models.swin_transformer import checkpoint_filter_fn as filter_swin
from torch import Tensor, nn

from imlp_audit.checkpoint.fitting import POOLFORMER, SWIN, fit
from imlp_audit.errors import CheckpointError
from imlp_audit.evaluate.weights import Weights, with_weights
from imlp_audit.inspect.matching_rows import find_candidates
from imlp_audit.spec.load import load
from imlp_audit.spec.paper import find_row
from tests.checkpoint.reading import load_into, parse

DIMS = (8, 12, 16, 20)


class Block(nn.Module):
    """PoolFormer's block as its authors name and compute it (sail-sg/poolformer, models/poolformer.py)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.GroupNorm(1, width), nn.GroupNorm(1, width)
        self.mlp = nn.ModuleDict({"fc1": nn.Conv2d(width, 4 * width, 1), "fc2": nn.Conv2d(4 * width, width, 1)})
        self.layer_scale_1, self.layer_scale_2 = nn.Parameter(torch.ones(width)), nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        normed = self.norm1(x)
        pooled = nn.functional.avg_pool2d(normed, 3, 1, 1, count_include_pad=False) - normed
        x = x + self.layer_scale_1[:, None, None] * pooled
        mixed = self.mlp["fc2"](nn.functional.gelu(self.mlp["fc1"](self.norm2(x))))
        made: Tensor = x + self.layer_scale_2[:, None, None] * mixed
        return made


class Embedding(nn.Module):
    """A convolution called `proj`."""

    def __init__(self, held: int, made: int, kernel: int, stride: int, padding: int) -> None:
        super().__init__()
        self.proj = nn.Conv2d(held, made, kernel, stride, padding)

    def forward(self, x: Tensor) -> Tensor:
        made: Tensor = self.proj(x)
        return made


class PoolFormer(nn.Module):
    """PoolFormer as its authors have it: the last norm comes before the mean over the image."""

    def __init__(self, dims: Sequence[int] = DIMS, depths: Sequence[int] = (2, 2, 2, 2)) -> None:
        super().__init__()
        self.patch_embed = Embedding(3, dims[0], 7, 4, 2)
        stages = [
            nn.Sequential(*(Block(width) for _ in range(depth))) for width, depth in zip(dims, depths, strict=True)
        ]
        between = [Embedding(held, made, 3, 2, 1) for held, made in pairwise(dims)]
        order = [part for pair in zip(stages, [*between, None], strict=True) for part in pair if part is not None]
        self.network = nn.ModuleList(order)
        self.norm, self.head = nn.GroupNorm(1, dims[-1]), nn.Linear(dims[-1], 10)

    def forward(self, x: Tensor) -> Tensor:
        x = self.patch_embed(x)
        for part in self.network:
            x = part(x)
        scores: Tensor = self.head(self.norm(x).mean([-2, -1]))
        return scores


def randomise(model: nn.Module) -> nn.Module:
    torch.manual_seed(0)
    for parameter in model.parameters():
        parameter.data.add_(torch.randn_like(parameter) / 4)
    return model.eval()


def timms_poolformer() -> MetaFormer:
    settings = {"downsample_norm": None, "mlp_act": nn.GELU, "mlp_bias": True, "norm_layers": GroupNorm1}
    scales = {"layer_scale_init_values": 1e-5, "res_scale_init_values": None, "use_mlp_head": False}
    return MetaFormer(num_classes=10, depths=(2, 2, 2, 2), dims=DIMS, **settings, **scales).eval()


def test_poolformers_names_are_mapped_but_timm_computes_something_else(tmp_path: Path) -> None:
    theirs, ours = randomise(PoolFormer()), timms_poolformer()
    torch.save({"state_dict": theirs.state_dict()}, tmp_path / "c.pth")
    parsed = parse(tmp_path / "c.pth")
    found = fit(parsed.shapes, ours)
    assert found.dialect.layout is POOLFORMER
    load_into(ours, parsed)
    converted = filter_poolformer(theirs.state_dict(), ours)
    assert all(torch.equal(converted[name], value) for name, value in ours.state_dict().items())
    x = torch.randn(8, 3, 96, 96)
    with torch.inference_mode():
        assert not torch.allclose(ours(x), theirs(x), atol=0.1)  # another function of the same weights


def to_swins_names(state: dict[str, Tensor], model: nn.Module) -> dict[str, Tensor]:
    """Name timm's tensors as the authors do, who also save two buffers (microsoft/Swin-Transformer)."""
    buffers = {
        name: value
        for name, value in model.named_buffers()
        if name.endswith(("relative_position_index", "attn_mask")) and value is not None
    }
    back = {
        re.sub(r"layers\.(\d)\.downsample", lambda found: f"layers.{int(found[1]) - 1}.downsample", name): value
        for name, value in state.items()
    }
    return {**{name.replace("head.fc.", "head."): value for name, value in back.items()}, **buffers}


def test_swins_names_are_mapped_as_timm_does(tmp_path: Path) -> None:
    def build() -> SwinTransformer:
        return SwinTransformer(
            img_size=64, window_size=4, embed_dim=8, depths=(2, 2, 2, 2), num_heads=(1, 2, 4, 8), num_classes=10
        )

    theirs, ours = randomise(build()), build()
    named = to_swins_names(dict(theirs.state_dict()), theirs)
    assert {"layers.0.downsample.reduction.weight", "head.weight", "layers.0.blocks.1.attn_mask"} <= named.keys()
    torch.save({"model": {f"module.{name}": value for name, value in named.items()}}, tmp_path / "c.pth")
    notes = load_into(ours, parse(tmp_path / "c.pth"))
    assert fit(parse(tmp_path / "c.pth").shapes, ours).dialect.layout is SWIN
    assert any("of the layout Swin's (microsoft/Swin-Transformer) mapped to ours" in note for note in notes)
    converted = filter_swin(named, ours)
    assert converted.keys() == ours.state_dict().keys()
    for name, value in ours.state_dict().items():
        assert torch.equal(converted[name], value)
        assert torch.equal(theirs.state_dict()[name], value)


def test_inspect_finds_poolformer_and_eval_refuses_what_timm_computes_of_it(tmp_path: Path) -> None:
    spec = """\
paper: pool
about: {title: Pool, authors: A, version: v1}
tables:
  - table: "1"
    title: Images
    source: {section: "1"}
    columns: {top1: {measure: score, unit: "%", metric: top1, data: x, heading: Top-1 (%), needs: weights}}
    rows: [{id: s12, label: S12, model: {timm: poolformer_s12, image: 64, classes: 10}, printed: {top1: 10.0}}]
"""
    (tmp_path / "pool.yaml").write_text(spec, encoding="utf-8")
    row = find_row(load([str(tmp_path / "pool.yaml")]).papers, "pool/1/s12")
    assert row is not None
    theirs = randomise(PoolFormer((64, 128, 320, 512), (2, 2, 6, 2)))
    torch.save({"state_dict": theirs.state_dict()}, tmp_path / "c.pth")
    shapes = parse(tmp_path / "c.pth").shapes
    (fitting,) = find_candidates(shapes, load([str(tmp_path / "pool.yaml")]), lambda _: lambda _: None).exact
    assert fitting.places == ("pool/1/s12",)
    words = r"c\.pth: PoolFormer's authors norm before they pool, timm after.*give the row the authors' own"
    with pytest.raises(CheckpointError, match=words), with_weights(Weights(row, tmp_path / "c.pth")):
        pass
