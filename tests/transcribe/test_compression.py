"""Models that were pruned, quantized or scaled are not those of their labels; a plain table keeps its models."""

from __future__ import annotations

import pytest

from tests.transcribe.test_draft import recipes, table

_PLAIN = "{timm: deit_small_patch16_224}"


@pytest.mark.parametrize(
    ("heading", "changed", "usual"),
    [
        ("Keep ratio", "0.7", "1.0"),
        ("Keep rate (%)", "70", "100"),
        ("Token ratio", "0.5", "1"),
        ("Remaining (%)", "45", "100%"),
        ("Ratio", "0.7", "-"),
        ("Bits", "4", "32"),
        ("Bit-width", "8", "32/32"),
        ("#Bits (W)", "1", "32"),
        ("Sparsity (%)", "50", "0"),
        ("Sparsity", "0.9", "0.0"),
        ("Pruned (%)", "40", "0"),
        ("Pruning rate", "0.4", "-"),
        ("Compression", "2.5x", "1x"),
        ("LoRA rank", "8", "-"),
        ("Rank", "64", "-"),
        ("Width mult.", "0.5", "1.0"),
        ("Depth multiplier", "0.5", "1"),
        ("Channel ratio", "0.75", "1.0"),
        ("MLP ratio", "3", "4"),
        ("Expansion", "6", "4"),
    ],
)
def test_a_number_that_changes_a_model_leaves_its_row_open(heading: str, changed: str, usual: str) -> None:
    rows = (f"DeiT-S | {changed} | 22.1", f"DeiT-Ti | {usual} | 5.7")
    draft = table(f"Model | {heading} | Params (M)", *rows)
    assert recipes(draft) == [None, "{timm: deit_tiny_patch16_224}"]
    assert draft.rows[0].model.reason == f"the column {heading!r} says {changed!r}, which may change the model"
    assert draft.rows[0].model.candidates == (_PLAIN,)


@pytest.mark.parametrize(
    ("heading", "text"),
    [
        ("Throughput", "940"), ("Epochs", "300"), ("Top-1", "79.8"), ("Drop path rate", "0.1"), ("Batch size", "1024"),
        ("Layers", "12"), ("Tokens", "196"), ("Latency ratio", "1.4"), ("Warmup", "5"), ("Rank", "1"), ("Res.", "224"),
        ("Speed-up", "1.5x"), ("Weight decay", "0.05"), ("Heads", "6"), ("Year", "2021"),
    ],
)  # fmt: skip
def test_other_numbers_change_none(heading: str, text: str) -> None:
    (recipe,) = recipes(table(f"Model | {heading} | Params (M)", f"DeiT-S | {text} | 22.1"))
    assert recipe is not None


@pytest.mark.parametrize(
    "caption",
    [
        "Token pruning on ImageNet", "Pruned networks on ImageNet", "Quantised and compressed models on ImageNet",
        "Post-training quantization on ImageNet", "Sparse training on ImageNet", "ImageNet: token reduction",
        "ImageNet at 90% sparsity", "Binarized networks on ImageNet", "Low-rank approximation on ImageNet",
        "ImageNet with distilled tokens",
    ],
)  # fmt: skip
def test_a_caption_may_say_that_all_models_are_smaller(caption: str) -> None:
    draft = table("Model | Params (M)", "DeiT-S | 2.8", caption=caption)
    assert recipes(draft) == [None]
    assert "the caption speaks of" in draft.rows[0].model.reason


@pytest.mark.parametrize(
    "caption",
    [
        "", "Results on ImageNet", "Networks with a distillation token on ImageNet", "Throughput in mixed precision",
        "Sparse attention and other mixers", "Comparison of the complexity of networks",
    ],
)  # fmt: skip
def test_other_captions_say_nothing_of_the_kind(caption: str) -> None:
    assert recipes(table("Model | Params (M)", "DeiT-S | 22.1", caption=caption)) == [_PLAIN]


def test_the_column_that_says_what_was_done_tells_the_plain_model_from_the_pruned_ones() -> None:
    lines = ("DeiT-S | - | 22.1", "DeiT-S | Taylor | 22.1", "ResNet-50 | 0 | 25.6")
    draft = table("Model | Method | Params (M)", *lines[:2], caption="Pruning on ImageNet")
    assert recipes(draft) == [_PLAIN, None]
    draft = table("Model | Sparsity | Params (M)", lines[2], caption="Pruning on ImageNet")
    assert recipes(draft) == ["{timm: resnet50}"]
