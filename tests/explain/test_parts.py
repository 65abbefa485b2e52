from __future__ import annotations

import pytest

from imlp_audit.explain.parts import part_of


@pytest.mark.parametrize(
    ("path", "part"),
    [
        ("cls_token", "class token"),
        ("pos_embed", "positions"),
        ("patch_embed.proj.weight", "patch embedding"),
        ("backbone.0.0.proj.weight", "patch embedding"),  # LVT's
        ("blocks.3.norm1.weight", "norms of the blocks"),
        ("blocks.3.attn.qkv.bias", "attention"),
        ("layers.0.blocks.1.attn.relative_position_bias_table", "attention"),
        ("bert.encoder.layer.0.attention.output.LayerNorm.weight", "attention"),
        ("bert.encoder.layer.0.output.dense.weight", "MLP: FC2"),
        ("bert.encoder.layer.0.output.LayerNorm.weight", "norms of the blocks"),
        ("bert.embeddings.LayerNorm.weight", "norm of the embedding"),
        ("bert.embeddings.word_embeddings.weight", "token embedding"),
        ("blocks.0.mlp.fc1.weight", "MLP: FC1"),
        ("blocks.0.mlp.act", "MLP: activation"),
        ("blocks.0.mlp.act.agelu2.theta", "MLP: AGeLU"),
        ("blocks.0.mlp.act.agelu1.phi", "MLP: AGeLU"),
        ("blocks.0.mlp.act.norm.weight", "MLP: norm after the concatenation"),
        ("blocks.0.mlp.spatial.conv.bias", "MLP: depthwise convolution"),
        ("backbone.1.1.0.mlp.depconv.bias", "MLP: depthwise convolution"),
        ("blocks.0.mlp.spatial.norm.weight", "MLP: norm of the convolution"),
        ("blocks.0.mlp.spatial", "MLP: skip around the convolution"),
        ("blocks.0.mlp.fc2.bias", "MLP: FC2"),
        ("blocks.0.mlp.norm.weight", "MLP: output norm"),
        ("blocks.0.mlp", "MLP: elsewhere"),
        ("blocks.0.mlp_tokens.fc1.weight", "token MLP: FC1"),
        ("blocks.0.token_mixing.mlp.fc1.weight", "token MLP: FC1"),
        ("blocks.0.mlp_channels.gate.proj.weight", "channel MLP: gate"),
        ("blocks.0.across_patches.mlp.b.weight", "mixing of the tokens"),
        ("blocks.0.across_channels.b.weight", "mixing of the channels"),
        ("blocks.0.u.weight", "FC1, from C to D_C"),
        ("blocks.0.sgu.norm.weight", "gate: norm"),
        ("blocks.0.sgu.proj.weight", "gate: mixing of the tokens"),
        ("blocks.0.layer_scale1.scale", "scales after the sublayers"),
        ("blocks.0.gamma_1", "scales after the sublayers"),
        ("layers.1.downsample.norm.weight", "downsampling"),
        ("stages.0.1.attn_last.fc1.weight", "squeeze and excitation"),
        ("norm.weight", "last norm and pooling"),
        ("head.norm.weight", "last norm and pooling"),
        ("head.weight", "classifier head"),
        ("aux_head.bias", "classifier head"),
        ("output.3.bias", "output layer"),
        ("detector.backbone.body.body.layers_0.blocks.0.mlp.fc1.weight", "MLP: FC1"),
        ("detector.backbone.fpn.inner_blocks.0.0.weight", "feature pyramid"),
        ("detector.roi_heads.box_head.fc6.weight", "box and mask heads"),
        ("decode_head.bottleneck.batch_norm.weight", "segmentation heads"),
        ("layer1.0.conv1.weight", "layer1"),  # what no rule knows goes by its first module
        ("", "between the modules"),
    ],
)
def test_parts_are_called_what_they_are(path: str, part: str) -> None:
    assert part_of(path) == part
