from __future__ import annotations

import subprocess
import sys

import pytest

from imlp_audit.count.call import Operation as Op
from imlp_audit.count.conventions import Convention, WeightKey, parse_weight_key, total
from imlp_audit.count.record import Ledger, Site

LEDGER = Ledger(
    {("blocks.0.norm", Op.LAYER_NORM): 10, ("layers.1.downsample.norm", Op.LAYER_NORM): 3, ("head", Op.LINEAR): 7}, {}
)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("layer_norm", WeightKey(Op.LAYER_NORM)),
        ("layer_norm@downsample", WeightKey(Op.LAYER_NORM, Site.DOWNSAMPLE)),
        ("fvcore_excess@head", WeightKey(Op.FVCORE_EXCESS, Site.HEAD)),
    ],
)
def test_keys_read_as_they_are_written(text: str, key: WeightKey) -> None:
    assert parse_weight_key(text) == key
    assert str(key) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("layernorm", "no operation is called 'layernorm'; did you mean 'layer_norm'?"),
        ("layer_norm@downsampl", "no site is called 'downsampl'; did you mean 'downsample'?"),
        ("layer_norm@", "no site is called ''; known: stem, downsample, block, head"),
        ("", "no operation is called ''; known: linear"),
        ("Linear", "did you mean 'linear'?"),
        ("zzz", "known: linear, product"),
    ],
)
def test_a_wrong_key_names_the_near_miss(text: str, message: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the message is compared below
        parse_weight_key(text)
    assert message in str(caught.value)


def test_a_sites_weight_overrides_the_general_one() -> None:
    weights = {WeightKey(Op.LAYER_NORM): 5, WeightKey(Op.LAYER_NORM, Site.DOWNSAMPLE): 0}
    assert total(LEDGER, Convention("paper", weights)) == 50


def test_total_within_modules() -> None:
    everything = Convention("paper", {WeightKey(op): 1 for op in Op})
    assert total(LEDGER, everything) == 20
    assert total(LEDGER.within(["head", "blocks"]), everything) == 17
    assert total(LEDGER.within([]), everything) == 0


def test_conventions_and_records_need_no_torch() -> None:
    code = "import sys, imlp_audit.count.conventions, imlp_audit.count.formulas; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
