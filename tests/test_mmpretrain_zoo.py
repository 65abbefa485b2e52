"""mmpretrain's published sizes and FLOPs of convolutional nets, transformers and an MLP."""

from __future__ import annotations

from collections import Counter

import pytest

from imlp_audit.pipeline import Options, audit
from imlp_audit.records.check import CellCheck, Verdict
from imlp_audit.records.result import AuditResult
from imlp_audit.spec.load import load
from tests.measured import STORE

ZOO = "mmpretrain_zoo"


def _audit(*only: str) -> AuditResult:
    return audit(
        load([ZOO]), Options(only=tuple(f"{ZOO}/{one}" for one in only), store=STORE), lambda _: lambda _: None
    )


def test_every_row_has_a_model_of_one_of_three_kinds() -> None:
    (paper,) = load([ZOO]).papers
    rows = {located.value.table: located.value.rows for located in paper.tables}
    assert {table: len(inner) for table, inner in rows.items()} == {
        "resnet": 15, "vgg": 8, "regnet": 8, "deit": 9, "vision_transformer": 4, "swin_transformer": 11, "mlp_mixer": 2
    }  # fmt: skip
    libraries = Counter(str(row.model).partition(":")[0] for inner in rows.values() for row in inner)
    assert libraries == {"torchvision": 9 + 8 + 3, "timm": 6 + 5 + 9 + 4 + 11 + 2}


@pytest.mark.slow
def test_mmcvs_counter_on_vgg_11_is_its_rules_on_the_layers() -> None:
    """Multiply-accumulates, biases and ReLU of eight convolutions, five poolings, three linear layers and two ReLU."""
    convolutions = [(3, 64, 224), (64, 128, 112), (128, 256, 56), (256, 256, 56), (256, 512, 28), (512, 512, 28)]
    convolutions += [(512, 512, 14)] * 2
    pooled = [(64, 224), (128, 112), (256, 56), (512, 28), (512, 14)]
    linear = [(512 * 7 * 7, 4096), (4096, 4096), (4096, 1000)]
    expected = sum((9 * inputs + 1 + 1) * outputs * side**2 for inputs, outputs, side in convolutions)
    expected += sum(channels * side**2 for channels, side in pooled)
    expected += sum(inputs * outputs for inputs, outputs in linear) + 2 * 4096
    (check,) = _audit("vgg/vgg11_8xb32_in1k/flops").of_kind(CellCheck)
    measured = {one.convention: one.measured for one in check.also} | {check.convention: check.measured}
    assert measured["mmcv_vgg"] == str(expected)
    assert 7_625_000_000 <= expected < 7_635_000_000, "printed as 7.63"


@pytest.mark.slow
def test_111_of_114_numbers_follow_and_the_other_three_are_misprints() -> None:
    result = _audit("*/params", "*/flops")
    assert len(result.checks) == 114
    assert {check.id.removeprefix(f"{ZOO}/") for check in result.checks if check.verdict is Verdict.DIFFERS} == {
        "resnet/resnet34_8xb32_in1k/params",
        "regnet/regnetx_3_2gf_8xb64_in1k/params",
        "regnet/regnetx_3_2gf_8xb64_in1k/flops",
    }
    assert {check.convention for check in result.of_kind(CellCheck) if "/deit/" in check.id} == {"all", "mmengine"}
