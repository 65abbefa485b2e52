from __future__ import annotations

import pytest

from imlp_audit.explain.parts import part_of
from imlp_audit.models.recipe import HOSTS


@pytest.mark.parametrize(
    ("host", "path", "part"),
    [
        ("timm", "cls_token", "class token"),
        ("timm", "pos_embed", "positions"),
        ("timm", "patch_embed.proj.weight", "patch embedding"),
        ("lvt", "backbone.0.0.proj.weight", "patch embedding"),
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
        ("mask_rcnn", "detector.backbone.body.body.layers_0.blocks.0.mlp.fc1.weight", "MLP: FC1"),
        ("mask_rcnn", "detector.backbone.fpn.inner_blocks.0.0.weight", "feature pyramid"),
        ("mask_rcnn", "detector.roi_heads.box_head.fc6.weight", "box and mask heads"),
        ("upernet", "decode_head.bottleneck.batch_norm.weight", "segmentation heads"),
        ("timm", "layer1.0.conv1.weight", "layer1"),  # what no rule knows goes by its first module
        ("timm", "", "between the modules"),
    ],
)
def test_parts_are_called_what_they_are(host: str, path: str, part: str) -> None:
    assert part_of(path, HOSTS[host].traits().parts) == part
