"""What the parts of a model are called, told from the dotted paths of its modules and parameters."""

from __future__ import annotations

import re

# The first that is found in a path without its numbers names the part.
_RULES = (
    (r"\b(cls_token|dist_token)\b|^pool\.token\b", "class token"),
    (r"\b(pos_embed|positions|position_embeddings)\b", "positions"),
    (r"\b(embedding|word_embeddings)\b", "token embedding"),
    (r"\btoken_type_embeddings\b", "segment embedding"),
    (r"\bembeddings\b", "norm of the embedding"),
    (r"\bpatch_embed\b|^stem\.proj\b|^backbone\.(proj|norm)\b", "patch embedding"),
    (r"^(stem|conv_stem|conv1|bn1)\b", "stem"),
    (r"\bfpn\b", "feature pyramid"),
    (r"\bbackbone\.(body\.)?norms\b", "norms of the features"),
    (r"\brpn\b", "proposal head"),
    (r"\broi_heads\b", "box and mask heads"),
    (r"^(decode|auxiliary)_head\b", "segmentation heads"),
    (r"\bdownsample\b", "downsampling"),
    (r"\b(attn_last|se)\b", "squeeze and excitation"),
    (r"\battn|\battention\b|\baggregate\b", "attention"),
    (r"\bacross_(patches|tokens)\b", "mixing of the tokens"),
    (r"\bacross_channels\b", "mixing of the channels"),
    (r"\bintermediate\b", "MLP: FC1"),
    (r"\blayer\.output\.dense\b", "MLP: FC2"),
    (r"\bu\b", "FC1, from C to D_C"),
    (r"\bsgu\.norm\b", "gate: norm"),
    (r"\bsgu\b", "gate: mixing of the tokens"),
    (r"\bv\b", "FC2, back to C"),
    (r"\b(layer_scale|ls|gamma_|post)\d?\b", "scales after the sublayers"),
    (r"^(aux_)?head(_dist)?\.norm\b|^(fc_)?norm\b|^pool\b|^\w+_aff\b|^global_pool\b", "last norm and pooling"),
    (r"^(aux_)?head|^classifier\b|^fc\b", "classifier head"),
    (r"\bpooler\b", "pooler"),
    (r"^output\b", "output layer"),
    (r"\b(norm|pre|LayerNorm)\d?\b", "norms of the blocks"),
)

_MLP_NAMES = {
    "token_mixing.mlp": "token MLP",
    "mlp_tokens": "token MLP",
    "channel_mixing.mlp": "channel MLP",
    "mlp_channels": "channel MLP",
    "mlp": "MLP",
}
_MLP = re.compile(rf"(?<!across_patches\.)\b({'|'.join(map(re.escape, _MLP_NAMES))})\b\.?(.*)")

_IN_MLP = (
    (r"^(fc1|b)\b", "FC1"),
    (r"^act\.norm\b", "norm after the concatenation"),
    (r"^act\.(agelu\d|alpha|beta|gamma|theta)\b|^agelus\b", "AGeLU"),
    (r"^act\b", "activation"),
    (r"^spatial\.conv\b|^depconv\b", "depthwise convolution"),
    (r"^spatial\.norm\b", "norm of the convolution"),
    (r"^spatial\.act\b", "activation of the convolution"),
    (r"^spatial\b", "skip around the convolution"),
    (r"^gate\.norm\b", "norm of the gate"),
    (r"^gate\b", "gate"),
    (r"^(fc2|c)\b", "FC2"),
    (r"^norm\b", "output norm"),
)


def part_of(path: str) -> str:
    """Name the part of a model that a module, or a parameter of one, is in; by its first module where none is known."""
    plain = ".".join(name for name in path.split(".") if not name.isdigit())
    inside = _MLP.search(plain)
    if inside is not None:
        within = _first(_IN_MLP, inside[2])
        return f"{_MLP_NAMES[inside[1]]}: {within or 'elsewhere'}"
    return _first(_RULES, plain) or plain.partition(".")[0] or "between the modules"


def _first(rules: tuple[tuple[str, str], ...], path: str) -> str | None:
    return next((name for pattern, name in rules if re.search(pattern, path)), None)
