"""Files with authors' names load into timm's models; those with a library's own names say which model they fit."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from timm.models.mlp_mixer import Affine, MlpMixer, ResBlock
from timm.models.vision_transformer import VisionTransformer
from torch import nn
from torchvision.models import vision_transformer as torchvisions
from transformers import ViTConfig, ViTForImageClassification

from imlp_audit.errors import CheckpointError
from tests.checkpoint.reading import load_into, parse


def randomise(model: nn.Module) -> nn.Module:
    torch.manual_seed(0)
    for parameter in model.parameters():
        parameter.data.add_(torch.randn_like(parameter) / 4)
    return model.eval()


def test_the_authors_resmlp_is_timms(tmp_path: Path) -> None:
    """Its names in facebookresearch/deit, whose affine layers have vectors where timm's have (1, 1, width)."""
    theirs, ours = (
        MlpMixer(10, 32, patch_size=8, num_blocks=2, embed_dim=12, mlp_ratio=4, block_layer=ResBlock, norm_layer=Affine)
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


def vit_of_transformers() -> nn.Module:
    sizes = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 48}
    made: nn.Module = ViTForImageClassification(ViTConfig(**sizes, image_size=32, patch_size=8, num_labels=10))
    return made


def vit_of_torchvision() -> nn.Module:
    made: nn.Module = torchvisions.VisionTransformer(32, 8, 2, 3, 24, 48, num_classes=10)
    return made


@pytest.mark.parametrize(
    ("theirs", "library"), [(vit_of_transformers, "transformers"), (vit_of_torchvision, "torchvision")]
)
def test_a_librarys_names_say_which_model_they_fit(tmp_path: Path, theirs: type[nn.Module], library: str) -> None:
    torch.save(theirs().state_dict(), tmp_path / "c.pth")
    load_into(theirs(), parse(tmp_path / "c.pth"))
    sizes = {"embed_dim": 24, "depth": 2, "num_heads": 3, "mlp_ratio": 2}
    timms = VisionTransformer(img_size=32, patch_size=8, **sizes, num_classes=10)
    with pytest.raises(CheckpointError, match=rf"the names of {library}: give the row its model \(`{library}: \.\.\."):
        load_into(timms, parse(tmp_path / "c.pth"))
