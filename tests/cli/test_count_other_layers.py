"""`imlp-audit count --printed`: with other layers, with what runs or was added alone, and by old counters."""

from __future__ import annotations

from pathlib import Path

import pytest

from .test_count import causes, count

NET = """
from collections import Iterable
from torch import nn

class Net(nn.Module):
    def __init__(self, args, width=41):
        super().__init__()
        narrow = args.narrow * (args.width == width)  # which is given by name, and in the configuration too
        self.stem = nn.Conv2d(3, narrow, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(narrow)
        self.deep = nn.Conv2d(narrow, width, 5, padding=2, bias=False)
        self.last = nn.LayerNorm(width)
        self.adapter = nn.Linear(width, 7)
        self.branch = nn.Conv2d(width, width, 1)
        self.adaptive_pool = nn.Linear(50, 60)  # is not used

    def forward(self, x):
        self.deep.weight.data = self.deep.weight * 2 + self.branch.weight.sum()
        return self.adapter(self.last(self.deep(self.norm(self.stem(x))).mean((2, 3))))
"""
V, W = 30, 41
STEM, NORM, DEEP, LAST, ADAPTER, BRANCH, UNUSED = 27 * V, 2 * V, 25 * V * W, 2 * W, 7 * W + 7, W * W + W, 50 * 60 + 60
WHOLE = STEM + NORM + DEEP + LAST + ADAPTER + BRANCH + UNUSED
PRINTED = {
    WHOLE + V + W: "with a bias in every convolution",
    WHOLE - W: "without biases in convolutions",
    WHOLE - W - 7 - 60: "without a bias in any layer",
    WHOLE - LAST: "without the parameters of LayerNorm",
    WHOLE - 16 * V * W: "kernels of 3, not 5",
    ADAPTER: "what is called adapter alone",
    WHOLE - BRANCH - UNUSED: "only parameters of modules that the forward pass calls",
    WHOLE - V - UNUSED - W: "batch norms folded into the convolutions, and without what the forward pass never uses",
}


@pytest.fixture(scope="module")
def net(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("layers")
    (folder / "net.py").write_text(NET)
    (folder / "config.py").write_text(f"import os\nnarrow = {V}\nwidth = {W}\n_name = os.name\n")
    return f"{folder}/net.py:Net"


@pytest.mark.parametrize("printed", PRINTED)
def test_other_layers(net: str, printed: int) -> None:
    config = str(Path(net.rpartition(":")[0]).with_name("config.py"))
    found = count(net, "--config", config, "--input", "3,8,8", "--printed", f"params={printed}", code=1)
    assert found["parameters"]["all"] == WHOLE
    assert PRINTED[printed] in causes(found)


def test_a_deployed_form_counted_by_twice_thop_and_before_changes_of_layers(net: str) -> None:
    """thop counts 4 for each number of the norm that stays. Without convolutions' biases, 36.7K follows too."""
    config = str(Path(net.rpartition(":")[0]).with_name("config.py"))
    macs = 8 * 8 * (27 * V + 25 * V * W) + 7 * W
    given = ("--config", config, "--input", "3,8,8", "--printed", f"flops={2 * (macs + 4 * W)}", "--printed", "36.7K")
    found = count(net, *given, code=1)
    folded = "batch norms folded into the convolutions"
    assert causes(found)[0] == f"{folded}, and two for each multiply-accumulate of thop"
    (alone,) = count(net, *given[:4], "--printed", "36.7K", code=1)["printed"]
    forms = [
        cause["text"] for cause in (*alone.get("causes", ()), *alone.get("possible", ())) if cause["family"] == "form"
    ]
    assert forms[0] == folded


def test_patches_have_no_other_kernels(tmp_path: Path) -> None:
    """Kernels of 3 in place of 16 would give 112."""
    (tmp_path / "net.py").write_text("from torch import nn\ndef net():\n    return nn.Conv2d(3, 4, 16, 16)\n")
    found = count(f"{tmp_path}/net.py:net", "--printed", "params=112", code=1)
    assert not any(
        "kernels" in cause["text"] for cause in (*found["printed"][0]["causes"], *found["printed"][0]["possible"])
    )


def test_neighbours_of_the_file_come_before_those_of_other_folders(tmp_path: Path) -> None:
    for name, width in (("own", 3), ("other", 5)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "sizes.py").write_text(f"WIDTH = {width}\n")
    (tmp_path / "own" / "net.py").write_text(
        "from torch import nn\nfrom sizes import WIDTH\ndef net():\n    return nn.Linear(WIDTH, 2)\n"
    )
    found = count(f"{tmp_path}/own/net.py:net", "--path", str(tmp_path / "other"))
    assert found["parameters"]["all"] == 3 * 2 + 2


def test_parameters_of_modules_that_hold_no_others() -> None:
    """thop of 2019 counts those alone: not the projections that an attention holds itself, nor tokens."""
    found = count("torchvision:vit_b_16")["parameters"]
    assert found["all"] - found["leaves"] == 12 * (3 * 768 * 768 + 3 * 768) + 197 * 768 + 768


def test_thop_of_before_0_1() -> None:
    """thop 0.0.31 gives 4111514624, the 4.11 G that many print: two for each number of 11.11 M, and a pool of 49."""
    found = count("timm:resnet50", "--printed", "4.1115G", code=1)
    flops = found["flops"]
    assert flops["thop_old"] == flops["macs"] + 2 * 11_113_984 + 2048 * 50 == 4_111_514_624
    assert causes(found)[0].startswith("counted by thop 0.0.31")


def test_old_thop_counts_biases_and_transposed_convolutions_and_no_other_norms(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(
        "from torch import nn\ndef net():\n    return nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.LeakyReLU(), "
        "nn.ConvTranspose2d(8, 6, 2, 2), nn.Upsample(scale_factor=2, mode='bilinear'), nn.GroupNorm(2, 6))\n"
    )
    flops = count(f"{tmp_path}/net.py:net", "--input", "3,16,16")["flops"]
    conv, leaky, up, larger = 256 * 8 * (27 + 1), 256 * 8, 1024 * 6 * (8 * 4 + 1), 4096 * 6 * 11
    assert flops["thop_old"] == conv + leaky + up + larger


ODD = """
from torch import nn

class Conv(nn.Conv2d):
    def __init__(self, wide, kernel):
        super().__init__(3, wide, kernel)
        self.kernel_size = kernel  # no pair, as torch has it
        del self.bias

class Net(nn.Module):
    def __init__(self, wide=8, num_classes=1000, head=True):
        super().__init__()
        self.conv = Conv(wide, 3)
        self.attention = nn.MultiheadAttention(wide, 2)
        self.adaptive_pool = nn.Linear(5, 7)  # adapts nothing
        self.classify = nn.Linear(wide, num_classes) if head is not None else nn.Identity()
        self.half()

    def forward(self, x):
        x = self.classify(x.half())
        self.classify = nn.Identity()
        return x
"""


def test_layers_that_are_not_as_torch_makes_them(tmp_path: Path) -> None:
    """Halves of 4 bytes, an attention's own biases, and a layer that the forward pass takes away after its use."""
    (tmp_path / "net.py").write_text(ODD)
    (tmp_path / "config.py").write_text("head = None\n")
    attention, others = 4 * 8 * 8 + 4 * 8, 27 * 8 + 5 * 7 + 7
    whole = others + attention + 9000
    biases = 4 * 8 + 7 + 1000
    printed = ("--printed", f"params={whole - 8100}", "--printed", f"params={whole - biases}")
    found = count(f"{tmp_path}/net.py:Net", "--input", "8", *printed, code=1)
    assert found["bytes"] == 2 * found["parameters"]["all"]
    assert found["flops"]["macs"] == 8 * 1000
    assert causes(found)[0] == "num_classes=100"
    assert "without a bias in any layer" in causes(found, 1)
    bare = count(f"{tmp_path}/net.py:Net", "--config", str(tmp_path / "config.py"))
    assert bare["parameters"]["all"] == others + attention
