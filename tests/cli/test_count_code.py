"""`imlp-audit count`: causes in the code of a model, and old code that no longer runs as it is."""

from __future__ import annotations

from pathlib import Path

import pytest
import timm

from .running import call
from .test_count import causes, count

UNET = """
from torch import nn
class Up(nn.Module):
    def __init__(self, width, bilinear=True, *, bias=False):
        super().__init__()
        self.up = nn.Upsample(scale_factor=2) if bilinear else nn.ConvTranspose2d(width, width, 2)
        self.conv = nn.Conv2d(width, width, 5, padding=2, bias=bias)
class Net(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.stem, self.up, self.head = nn.Linear(1000, 700), Up(width), nn.Linear(700, 333)
    def forward(self, x):
        return self.up.up(self.up.conv(x))
"""
STEM, HEAD = 1001 * 700, 701 * 333
OWN = STEM + HEAD + 24 * 24 * 25


@pytest.mark.parametrize(
    ("printed", "cause"),
    [
        (OWN + 24 * 24 * 4 + 24, "Up with bilinear=False, which is True by default"),
        (OWN + 24, "with a bias in every convolution"),  # which is said of any model
        (OWN - 24 * 24 * 16, "kernels of 3, not 5"),
        (OWN + 24 * 24 * 11, "6, not 5, in the code of Up"),
        (1001 * 350 + 351 * 333 + 24 * 24 * 25, "350, not 700, in the code of Net"),
    ],
)
def test_a_default_or_a_number_in_the_code(tmp_path: Path, printed: int, cause: str) -> None:
    (tmp_path / "net.py").write_text(UNET)
    found = count(f"{tmp_path}/net.py:Net", "--printed", f"params={printed}", code=1)
    assert found["parameters"]["all"] == OWN
    assert causes(found)[0] == cause


@pytest.mark.parametrize(("printed", "tried"), [("481.6K", False), ("481.63K", True)])
def test_the_code_is_changed_for_exact_numbers_alone(tmp_path: Path, printed: str, tried: bool) -> None:
    """481,633 has another number in the code: of four digits, some usual value prints alike by chance."""
    (tmp_path / "net.py").write_text(UNET)
    assert 1001 * 350 + 351 * 333 + 24 * 24 * 25 == 481_633
    (found,) = count(f"{tmp_path}/net.py:Net", "--printed", printed, code=1)["printed"]
    texts = [one["text"] for one in (*found.get("causes", ()), *found.get("possible", ()))]
    assert ("350, not 700, in the code of Net" in texts) is tried


def test_weights_of_four_bits() -> None:
    """Llama 3.1 8B, of which a framework printed 4,540,600,320: two weights of its linear layers lie in a byte."""
    sizes = {"vocab_size": 1283, "hidden_size": 64, "num_hidden_layers": 3, "num_attention_heads": 4}
    given = [f"--arg={name}={value}" for name, value in {**sizes, "intermediate_size": 176}.items()]
    found = count("transformers:LlamaForCausalLM", *given, "--arg=num_key_value_heads=2")
    linear = 3 * (64 * (64 + 2 * 32 + 64) + 3 * 64 * 176)
    whole = linear + 2 * 1283 * 64 + 7 * 64
    assert found["parameters"]["all"] == whole
    packed = f"params={whole - linear * 3 // 4}"
    found = count("transformers:LlamaForCausalLM", *given, "--arg=num_key_value_heads=2", "--printed", packed, code=1)
    assert causes(found)[0] == "weights of linear layers in 4 bits, 4 counted as one"


def test_a_size_comes_before_the_factor_of_its_area(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(
        "from torch import nn\ndef net():\n    return nn.Sequential(nn.Conv2d(3, 77, 3, 1, 1, bias=False))\n"
    )
    work = 27 * 77 * 360 * 640
    found = count(f"{tmp_path}/net.py:net", "--input", "3,720,1280", "--printed", f"flops={work}", code=1)
    first, second, *_ = causes(found)
    assert first.startswith("images of ")
    assert "360 x 640" in first
    assert second == "divided by 4"


def test_another_size_by_old_thop(tmp_path: Path) -> None:
    """thop 0.0.31 counts two for each number that a batch norm normalises, and one for each bias."""
    (tmp_path / "net.py").write_text(
        "from torch import nn\ndef net():\n"
        "    return nn.Sequential(nn.Conv2d(3, 17, 3, 1, 1), nn.BatchNorm2d(17), nn.Conv2d(17, 5, 3, 1, 1))\n"
    )
    whole = count(f"{tmp_path}/net.py:net", "--input", "3,640,640")["flops"]["thop_old"]
    assert whole == 640 * 640 * ((27 + 1 + 2) * 17 + (9 * 17 + 1) * 5)
    asked = f"flops={whole * 3 // 4}"
    found = count(f"{tmp_path}/net.py:net", "--input", "3,640,640", "--printed", asked, code=1)
    assert causes(found)[0] == "images of 480 x 640, and counted by thop 0.0.31, with biases of convolutions"


OLD = """
import sys
import torch
import timm
from nowhere.layers import add_layer, default_init_weights, init_weights
from timm.models.helpers import build_model_with_cfg
from timm.models.vision_transformer import VisionTransformer
stream = torch.cuda.current_stream().cuda_stream
from versions import require_version_core
require_version_core("tokenizers<0.11")
bits = int(sys.argv[1]) if len(sys.argv) > 1 else 32
class Config:
    from_pretrained = None
    def __init__(self, width=3, **others):
        self.width, self.others = width, others
class Net(torch.nn.Linear):
    config_class = Config
    def __init__(self, config):
        assert type(config) is Config
        super().__init__(config.width, bits)
        default_init_weights([self], 0.1)
class Other(torch.nn.Linear):
    def __init__(self, given):
        super().__init__(3, 3)
        if given:
            self.more = init_weights(3)
        add_layer(self)
def vit():
    return build_model_with_cfg(
        VisionTransformer, "somebodys", False, default_cfg={"num_classes": 7}, depth=1, embed_dim=48, num_heads=3
    )
def stages():
    return timm.create_model("resnet18", features_only=True, out_indices=[1])
def mobile():
    network = timm.create_model("mobilenetv2_035")
    return torch.nn.Sequential(network.conv_stem, network.bn1, network.act1)
"""


VERSIONS = """
import pkg_resources
def require_version_core(wanted):
    raise pkg_resources.VersionConflict(wanted)
"""


@pytest.fixture
def old(tmp_path: Path) -> Path:
    (tmp_path / "versions.py").write_text(VERSIONS)
    (tmp_path / "old.py").write_text(OLD)
    return tmp_path / "old.py"


def test_old_code_that_asks_for_other_versions(old: Path) -> None:
    found = count(f"{old}:Net", "--arg", "width=5", "--argv", "6 'and more'")
    assert found["parameters"]["all"] == 6 * (5 + 1)
    for words in ("require_version_core, which checks versions", "default_init_weights is missing; what it sets"):
        assert any(words in note for note in found["notes"]), words
    assert count(f"{old}:Net", "--arg", "width=4")["parameters"]["all"] == 32 * (4 + 1)
    vit = timm.create_model("vit_tiny_patch16_224", depth=1, embed_dim=48, num_heads=3)
    assert count(f"{old}:vit")["parameters"]["all"] == sum(one.numel() for one in vit.parameters())
    found = count(f"{old}:mobile", "--input", "3,64,64")
    assert found["parameters"]["all"] == 27 * 16 + 2 * 16
    assert any("act1" in note for note in found["notes"])
    found = count(f"{old}:stages")  # which has an act1 of its own
    assert found["parameters"]["all"] == 147 * 64 + 2 * 64 + 4 * (9 * 64 * 64 + 2 * 64)


@pytest.mark.parametrize(("given", "name"), [("true", "init_weights"), ("false", "add_layer")])
def test_what_a_missing_function_gives_or_adds_is_not_left_out(old: Path, given: str, name: str) -> None:
    done = call("count", f"{old}:Other", "--arg", f"given={given}")
    assert done.code == 3
    assert f"the model needs nowhere.layers.{name}, which is missing" in done.err
