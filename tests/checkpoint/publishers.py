"""Small models of publishers' code that is installed, with random weights, and timm's models of the same sizes.

`python -m tests.checkpoint.publishers` compares them on 200 images, and prints the lines of docs/checkpoints.md.
"""

# timm, torchvision and transformers have no types
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

import torch
import transformers
from timm.models.convnext import ConvNeXt
from timm.models.deit import VisionTransformerDistilled
from timm.models.metaformer import GroupNorm1, MetaFormer
from timm.models.resnet import Bottleneck, ResNet
from timm.models.swin_transformer import SwinTransformer
from timm.models.swin_transformer_v2 import SwinTransformerV2
from timm.models.vision_transformer import VisionTransformer
from torch import Tensor, nn
from torchvision.models import convnext as tv_convnext
from torchvision.models import resnet as tv_resnet
from torchvision.models import swin_transformer as tv_swin
from torchvision.models import vision_transformer as tv_vit

from imlp_audit.checkpoint.fitting import fit
from imlp_audit.evaluate.weights import compute_as_published
from tests.checkpoint.reading import load_into, parse

Build: TypeAlias = Callable[[], nn.Module]
CLASSES = 20
WIDTHS, DEPTHS, HEADS = (8, 12, 16, 20), (1, 1, 2, 1), (1, 2, 4, 8)


@dataclass(frozen=True)
class Pair:
    """A publisher's model and timm's, for images of a side; `layout` is what the names are recognised as.

    Models of Hugging Face are saved by `save_pretrained`, or as `state_dict()` has them.
    """

    layout: str | None
    theirs: Build
    ours: Build
    side: int
    save_pretrained: bool = True


def randomise(model: nn.Module) -> nn.Module:
    """Give a model weights with which its outputs depend on the image and on every part."""
    torch.manual_seed(0)
    for parameter in model.parameters():
        if parameter.dim() > 1:
            parameter.data.normal_(0, 1.5 * parameter[0].numel() ** -0.5)
        else:
            parameter.data.add_(torch.randn_like(parameter) / 4)
    for name, buffer in model.named_buffers():
        if name.endswith("running_mean"):
            buffer.normal_(0, 0.2)
        if name.endswith("running_var"):
            buffer.uniform_(0.5, 1.5)
    return model.eval()


def save(model: nn.Module, folder: Path, save_pretrained: bool = True) -> Path:
    """Save a model as its publisher does."""
    if save_pretrained and isinstance(model, transformers.PreTrainedModel):
        model.save_pretrained(folder)
        return folder / "model.safetensors"
    torch.save(model.state_dict(), folder / "c.pth")
    return folder / "c.pth"


def compute(model: nn.Module, images: Tensor) -> Tensor:
    """Return a model's scores."""
    scores = model(images)
    return scores if isinstance(scores, Tensor) else scores.logits


def vit(cls: type[nn.Module] = VisionTransformer) -> nn.Module:
    sizes = {"img_size": 32, "patch_size": 8, "embed_dim": 24, "depth": 2, "num_heads": 3, "mlp_ratio": 2}
    return cls(**sizes, num_classes=CLASSES)


def hugging_face_vit(distilled: bool) -> nn.Module:
    sizes = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 48}
    picture = {"image_size": 32, "patch_size": 8, "num_labels": CLASSES}
    if distilled:
        made = transformers.DeiTForImageClassificationWithTeacher(transformers.DeiTConfig(**sizes, **picture))
    else:
        made = transformers.ViTForImageClassification(transformers.ViTConfig(**sizes, **picture))
    return made


def torchvision_vit() -> nn.Module:
    return tv_vit.VisionTransformer(32, 8, 2, 3, 24, 48, num_classes=CLASSES)


def swin() -> nn.Module:
    sizes = {"img_size": 128, "window_size": 4, "embed_dim": 8, "depths": (2, 2, 2, 2), "num_heads": HEADS}
    return SwinTransformer(**sizes, num_classes=CLASSES)


def hugging_face_swin() -> nn.Module:
    sizes = {"image_size": 128, "window_size": 4, "embed_dim": 8, "depths": [2, 2, 2, 2], "num_heads": list(HEADS)}
    return transformers.SwinForImageClassification(transformers.SwinConfig(**sizes, num_labels=CLASSES))


def torchvision_swin() -> nn.Module:
    return tv_swin.SwinTransformer([4, 4], 8, [2, 2, 2, 2], list(HEADS), [4, 4], num_classes=CLASSES)


SWIN_V2 = {"window_size": 2, "embed_dim": 8}


def swin_v2() -> nn.Module:
    return SwinTransformerV2(img_size=64, **SWIN_V2, depths=(2, 2), num_heads=(1, 2), num_classes=CLASSES)


def hugging_face_swin_v2() -> nn.Module:
    config = transformers.Swinv2Config(image_size=64, **SWIN_V2, depths=[2, 2], num_heads=[1, 2], num_labels=CLASSES)
    return transformers.Swinv2ForImageClassification(config)


def torchvision_swin_v2() -> nn.Module:
    code = {"block": tv_swin.SwinTransformerBlockV2, "downsample_layer": tv_swin.PatchMergingV2}
    return tv_swin.SwinTransformer([4, 4], 8, [2, 2], [1, 2], [2, 2], num_classes=CLASSES, **code)


def poolformer() -> nn.Module:
    settings = {"downsample_norm": None, "mlp_act": nn.GELU, "mlp_bias": True, "norm_layers": GroupNorm1}
    scales = {"layer_scale_init_values": 1e-5, "res_scale_init_values": None, "use_mlp_head": False}
    return MetaFormer(num_classes=CLASSES, depths=DEPTHS, dims=WIDTHS, **settings, **scales)


def hugging_face_poolformer() -> nn.Module:
    config = transformers.PoolFormerConfig(hidden_sizes=list(WIDTHS), depths=list(DEPTHS), num_labels=CLASSES)
    return transformers.PoolFormerForImageClassification(config)


def convnext() -> nn.Module:
    return ConvNeXt(num_classes=CLASSES, depths=DEPTHS, dims=WIDTHS)


def hugging_face_convnext() -> nn.Module:
    config = transformers.ConvNextConfig(hidden_sizes=list(WIDTHS), depths=list(DEPTHS), num_labels=CLASSES)
    return transformers.ConvNextForImageClassification(config)


def convnext_v2() -> nn.Module:
    return ConvNeXt(num_classes=CLASSES, depths=DEPTHS, dims=WIDTHS, use_grn=True, ls_init_value=None)


def hugging_face_convnext_v2() -> nn.Module:
    config = transformers.ConvNextV2Config(hidden_sizes=list(WIDTHS), depths=list(DEPTHS), num_labels=CLASSES)
    return transformers.ConvNextV2ForImageClassification(config)


def torchvision_convnext() -> nn.Module:
    blocks = [
        tv_convnext.CNBlockConfig(width, after, depth)
        for width, after, depth in zip(WIDTHS, (*WIDTHS[1:], None), DEPTHS, strict=True)
    ]
    return tv_convnext.ConvNeXt(blocks, num_classes=CLASSES)


def resnet() -> nn.Module:
    return ResNet(Bottleneck, (1, 1, 1, 1), num_classes=CLASSES)


def hugging_face_resnet() -> nn.Module:
    config = transformers.ResNetConfig(depths=[1, 1, 1, 1], num_labels=CLASSES)
    return transformers.ResNetForImageClassification(config)


def torchvision_resnet() -> nn.Module:
    return tv_resnet.ResNet(tv_resnet.Bottleneck, [1, 1, 1, 1], num_classes=CLASSES)


PAIRS = {
    "Hugging Face's ViT": Pair("Hugging Face's ViT and DeiT", lambda: hugging_face_vit(distilled=False), vit, 32),
    "Hugging Face's DeiT": Pair(
        "Hugging Face's ViT and DeiT",
        lambda: hugging_face_vit(distilled=True),
        lambda: vit(VisionTransformerDistilled),
        32,
    ),
    "Hugging Face's Swin": Pair("Hugging Face's Swin", hugging_face_swin, swin, 128),
    "Hugging Face's PoolFormer": Pair("Hugging Face's PoolFormer", hugging_face_poolformer, poolformer, 64),
    "Hugging Face's ConvNeXt": Pair("Hugging Face's ConvNeXt and ConvNeXt V2", hugging_face_convnext, convnext, 64),
    "Hugging Face's ResNet": Pair("Hugging Face's ResNet", hugging_face_resnet, resnet, 64),
    "Hugging Face's Swin in transformers 5": Pair("Hugging Face's Swin", hugging_face_swin, swin, 128, False),
    "Hugging Face's DeiT in transformers 5": Pair(
        "Hugging Face's ViT and DeiT",
        lambda: hugging_face_vit(distilled=True),
        lambda: vit(VisionTransformerDistilled),
        32,
        False,
    ),
    "Hugging Face's Swin V2": Pair("Hugging Face's Swin V2", hugging_face_swin_v2, swin_v2, 64),
    "Hugging Face's ConvNeXt V2": Pair(
        "Hugging Face's ConvNeXt and ConvNeXt V2", hugging_face_convnext_v2, convnext_v2, 64
    ),
    "torchvision's ViT": Pair("torchvision's ViT", torchvision_vit, vit, 32),
    "torchvision's Swin": Pair("torchvision's Swin", torchvision_swin, swin, 128),
    "torchvision's ConvNeXt": Pair("torchvision's ConvNeXt", torchvision_convnext, convnext, 64),
    "torchvision's ResNet": Pair(None, torchvision_resnet, resnet, 64),
    "torchvision's Swin V2": Pair("torchvision's Swin V2", torchvision_swin_v2, swin_v2, 64),
}


def compare(pair: Pair, images: Tensor) -> str:
    """Return the cells of the page's table: equal top-1, equal order of the first five, and the largest difference."""
    theirs, ours = randomise(pair.theirs()), pair.ours()
    with TemporaryDirectory() as folder, torch.inference_mode():
        parsed = parse(save(theirs, Path(folder), pair.save_pretrained))
        load_into(ours.eval(), parsed)
        compute_as_published(ours, fit(parsed.shapes, ours).layout)
        scores = [torch.cat([compute(model, one) for one in images.chunk(25)]) for model in (theirs, ours)]
    first, second = (one.argsort(dim=1, descending=True, stable=True)[:, :5] for one in scores)
    same = first == second
    difference = float((scores[0] - scores[1]).abs().max() / scores[0].std())
    return f"{int(same[:, 0].sum())} | {int(same.all(1).sum())} | {difference:.0e} | {len(set(first[:, 0].tolist()))}"


def draw_images(count: int, side: int) -> Tensor:
    """Return random images of many brightnesses and coarsenesses, so that models tell them apart."""
    torch.manual_seed(1)
    coarse = [torch.randn(1, 3, 2 ** (1 + at % 4), 2 ** (1 + at % 4)) for at in range(count)]
    return torch.cat([nn.functional.interpolate(one, side, mode="bicubic") * 2 * torch.rand(()) for one in coarse])


if __name__ == "__main__":
    for code, pair in PAIRS.items():
        print(f"| {code} | {compare(pair, draw_images(200, pair.side))} |", flush=True)
