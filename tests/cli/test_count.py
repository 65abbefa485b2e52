"""`imlp-audit count`: any model by its name, its totals and parts, and what would give a printed number."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import sys
import tempfile
import time
from itertools import chain
from math import log
from pathlib import Path
from typing import Any

import pytest
import timm
import torch
import torchvision

from imlp_audit.__main__ import main
from imlp_audit.processes import workers

from .running import call

LAYERS = """
import lmdb
import cv2.utils
from mmcv.runner import HOOKS, BaseModule
cv2.setNumThreads(0)
cv2.ocl.setUseOpenCL(False)
from torch._six import container_abcs
import torch
from torch import nn

@HOOKS.register_module()
class Hook(BaseModule):
    pass

class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.Conv2d(width, width, 3, padding=1)
        self.scale = nn.Parameter(torch.ones(width, device="cuda"))

    def forward(self, x):
        return x + self.conv(x) * self.scale[:, None, None]
"""
NET = """
import torch
from torch import nn
from models.layers import Block
from utils import helper

class Net(nn.Module):
    def __init__(self, width=64, num_classes=10, depth=4, twin=False):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 7, 4)
        self.body = nn.Sequential(*[Block(width) for _ in range(depth)])
        self.aux = nn.Linear(width, 100)
        self.twin = nn.Linear(width, width) if twin else None
        self.head = nn.Linear(width, num_classes)
        self.load_state_dict(torch.hub.load_state_dict_from_url("http://nowhere"))

    def forward(self, x):
        return self.head(self.body(self.stem(x)).mean((2, 3)))

class FromConfig(Net):
    def __init__(self, cfg):
        super().__init__(cfg.MODEL.WIDTH, cfg["classes"])

def build(**kwargs):
    return Net(**kwargs)

def reads_values(width=8):
    net = Net(width)
    net.forward = lambda x: net.head((net.stem(x) * net.stem.weight.sum().item()).mean((2, 3)))
    return net
"""
STEM, AUX, HEAD = 3 * 64 * 49 + 64, 64 * 100 + 100, 64 * 10 + 10
BLOCK = 64 * 64 * 9 + 64 + 64
WHOLE = STEM + 4 * BLOCK + AUX + HEAD
SIDE = 55  # of the stem's map: (224 - 7) // 4 + 1
WORK = SIDE * SIDE * (3 * 64 * 49 + 4 * 64 * 64 * 9) + 640


@pytest.fixture(scope="module")
def net(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository whose file imports its neighbours as a script does, and whose constructor wants CUDA and weights."""
    repository = tmp_path_factory.mktemp("repository")
    (repository / ".git").mkdir()
    (repository / "models").mkdir()
    (repository / "utils.py").write_text("helper = None\n")
    (repository / "models" / "layers.py").write_text(LAYERS)
    (repository / "models" / "net.py").write_text(NET)
    return repository / "models" / "net.py"


def count(*arguments: str, code: int = 0) -> dict[str, Any]:
    done = call("count", *arguments, "-f", "json")
    assert done.code == code, done.err
    found: dict[str, Any] = json.loads(done.out)
    return found


def causes(found: dict[str, Any], at: int = 0) -> list[str]:
    return [cause["text"] for cause in found["printed"][at].get("causes", ())]


@pytest.mark.parametrize("name", ["timm:resnet18", "torchvision:vit_b_32", "timm:mixer_s32_224"])
def test_totals_of_libraries_are_those_of_plain_torch(name: str) -> None:
    library, _, architecture = name.partition(":")
    with torch.device("meta"):
        model = timm.create_model(architecture) if library == "timm" else torchvision.models.get_model(architecture)
    found = count(name)
    assert found["parameters"]["all"] == sum(one.numel() for one in model.parameters())
    assert found["buffers"] == sum(one.numel() for one in model.buffers())
    assert found["inputs"] == ["[1, 3, 224, 224] float32"]
    assert found["bytes"] == sum(one.numel() * one.element_size() for one in model.state_dict().values())
    top = [part for part in found["parts"] if part["depth"] == 1]
    own = sum(one.numel() for one in model.parameters(recurse=False))
    assert sum(part["parameters"] * part["copies"] for part in top) + own == found["parameters"]["all"]


def test_a_repository_as_it_is(net: Path) -> None:
    found = count(f"{net}:Net", "--input", "3,224,224")
    assert found["parameters"]["all"] == WHOLE
    assert found["parameters"]["used"] == WHOLE - AUX
    assert found["parameters"]["no_head"] == WHOLE - HEAD
    assert found["flops"]["macs"] == WORK
    blocks = next(part for part in found["parts"] if part["path"] == "body.0-3")
    assert (blocks["copies"], blocks["parameters"], blocks["calls"], blocks["kind"]) == (4, BLOCK, 1, "Block")
    for word in ("--path .", "lmdb", "CUDA", "load_state_dict_from_url"):
        assert any(word in note for note in found["notes"]), word


def test_arguments_and_configurations(net: Path, tmp_path: Path) -> None:
    small = count(f"{net}:build", "--arg", "width=8", "--arg", "depth=1")
    assert small["parameters"]["all"] == 3 * 8 * 49 + 8 + 8 * 8 * 9 + 16 + 900 + 90
    config = tmp_path / "net.yaml"
    config.write_text("MODEL: {WIDTH: 8}\nclasses: 10\n")
    same = count(f"{net}:FromConfig", "--config", str(config))
    assert same["parameters"]["all"] == 3 * 8 * 49 + 8 + 4 * (8 * 8 * 9 + 16) + 900 + 90


BOMB = "a0: &a0 [1, 1]\n" + "".join(f"a{at}: &a{at} [*a{at - 1}, *a{at - 1}]\n" for at in range(1, 24))


@pytest.mark.parametrize("text", [BOMB, "a: &a [*a]\n", "a: &a {b: {c: *a}}\n"])
def test_a_configuration_whose_aliases_grow_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "bomb.yaml").write_text(text)
    done = call("count", "timm:resnet18", "--config", str(tmp_path / "bomb.yaml"))
    assert (done.code, done.out) == (2, "")
    assert f"{tmp_path / 'bomb.yaml'}: an alias" in done.err


def test_a_configuration_may_have_aliases(tmp_path: Path) -> None:
    (tmp_path / "net.yaml").write_text("base: &base {classes: &n 7}\nMODEL: {<<: *base, num_classes: *n}\n")
    taken = ("--config", f"{tmp_path / 'net.yaml'}:MODEL")
    (tmp_path / "net.py").write_text(
        "from torch import nn\ndef build(classes, num_classes): return nn.Linear(classes, num_classes)\n"
    )
    assert count(f"{tmp_path / 'net.py'}:build", *taken)["parameters"]["all"] == 7 * 7 + 7


def test_inputs_by_name_with_the_batch_and_constants(tmp_path: Path) -> None:
    file = tmp_path / "two.py"
    file.write_text(
        "import torch\nfrom torch import nn\nclass Two(nn.Module):\n"
        "    def __init__(self):\n        super().__init__()\n"
        "        self.words, self.fc = nn.Embedding(10, 4), nn.Linear(4, 3)\n"
        "    def forward(self, x, *, ids, times):\n        y = self.words(ids).mean(1)\n"
        "        y = y + torch.arange(4) * self.words.weight[0]\n"  # on the device of the weights
        "        for _ in range(times):\n            y = y + self.fc(x + y) @ self.fc.weight\n        return y\n"
    )
    one = count(f"{file}:Two", "--input", "4", "--input", "ids=7:int64", "--input", "times:=2")
    assert one["flops"]["macs"] == 2 * 2 * 12
    five = count(f"{file}:Two", "--input", "[5,4]", "--input", "ids=[5,7]:int64", "--input", "times:=2")
    assert five["flops"]["macs"] == 5 * one["flops"]["macs"]


def test_parameters_do_not_wait_for_the_forward_pass(net: Path) -> None:
    found = count(f"{net}:build", "--arg", "width=8", "--input", "4,224,224")
    assert found["parameters"]["all"] > 0
    assert "flops" not in found
    line = 1 + next(at for at, text in enumerate(NET.splitlines()) if "self.head(self.body" in text)
    assert f"models/net.py:{line}: RuntimeError" in found["no_flops"]
    assert "no_flops" not in count("timm:resnet18")
    assert "--input" in count(f"{net}:Net")["no_flops"]
    assert "--input 128:int64" in count("transformers:BertModel", "--arg", "num_hidden_layers=1")["no_flops"]


def test_a_model_of_text_is_counted_at_the_tokens_of_its_input() -> None:
    found = count("transformers:BertModel", "--arg", "num_hidden_layers=1", "--input", "7:int64")
    projections, products, pooler = 7 * 12 * 768**2, 2 * 7 * 7 * 768, 768**2
    assert found["flops"]["macs"] == projections + products + pooler


def test_a_forward_pass_that_reads_values_is_counted_on_zeros(net: Path) -> None:
    found = count(f"{net}:reads_values", "--input", "3,224,224")
    stem = 3 * 8 * 49
    assert found["flops"]["macs"] == stem * SIDE * SIDE + 8 * 10
    assert found["flops"]["no_head"] == stem * SIDE * SIDE
    assert found["parameters"]["used"] == stem + 8 + 8 * 10 + 10
    assert any("counted on zeros; what it computes outside of torch" in note for note in found["notes"])


def test_weights_and_databases_of_a_model_do_not_stay_and_programs_are_named(tmp_path: Path) -> None:
    lines = (
        "import os, sqlite3, subprocess, torch",
        "class Net(torch.nn.Linear):",
        "    def __init__(self):",
        "        super().__init__(2, 3)",
        f"        torch.save(self.state_dict(), {str(tmp_path / 'w.pth')!r})",
        f"        sqlite3.connect({str(tmp_path / 'a.db')!r}).execute('create table t (a)')",
        "        subprocess.run(['true'], check=True)",
        "        os.system('true')",
    )
    (tmp_path / "net.py").write_text("\n".join(lines))
    notes = count(f"{tmp_path / 'net.py'}:Net")["notes"]
    assert "torch.save wrote nothing" in notes
    assert sum(note.startswith("the code started") and "true" in note for note in notes) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["net.py"]


def test_files_that_a_model_creates_are_named_and_removed(tmp_path: Path) -> None:
    begun, runs, older = tmp_path / "begun.log", tmp_path / "runs", tmp_path / "older.log"
    kept = tmp_path / "kept.log"
    older.write_text("mine")
    lines = (
        "import os",
        "from torch import nn",
        f"open({str(begun)!r}, 'w')",
        f"os.makedirs({str(runs / 'one')!r})",
        "class Net(nn.Linear):",
        "    def __init__(self):",
        "        super().__init__(2, 3)",
        f"        open({str(runs / 'one' / 'a.log')!r}, 'a+').read()",
        f"        os.replace({str(runs / 'one' / 'a.log')!r}, {str(runs / 'one' / 'b.log')!r})",
        f"        open({str(older)!r}, 'a+').read()",
        f"        os.replace({str(older)!r}, {str(kept)!r})",
        f"        open({str(older)!r}, 'w').write('new')",
        "        open(__file__).read()",
    )
    (tmp_path / "net.py").write_text("\n".join(lines))
    said = [(begun, "are removed"), (runs / "one" / "a.log", "are removed"), (older, "stay")]  # once each
    notes = [f"the code opened {path} for writing; such files {what}" for path, what in said]
    assert count(f"{tmp_path / 'net.py'}:Net")["notes"] == notes
    assert sorted(one.name for one in tmp_path.iterdir()) == ["kept.log", "net.py", "older.log"]
    assert (kept.read_text(), older.read_text()) == ("mine", "new")


def test_files_of_a_model_that_never_ends_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("imlp_audit.explain.cause_search.PATIENCE", 1.0)
    log = tmp_path / "a.log"
    (tmp_path / "net.py").write_text(
        f"import time\ndef make():\n    open({str(log)!r}, 'w').write('x')\n    while True:\n        time.sleep(0.1)\n"
    )
    call("count", f"{tmp_path / 'net.py'}:make")
    assert not log.exists()


MOVES = {
    "a rotated log": ("import logging.handlers as h", "h.RotatingFileHandler('mine', maxBytes=1).emit(RECORD)"),
    "a backup": ("", "os.rename('mine', 'mine.bak')"),
    "there and back": ("", "os.rename('mine', 'other'); os.rename('other', 'mine')"),
    "another program": (
        "import subprocess",
        "open('new', 'w'); os.remove('new'); subprocess.run(['mv', 'mine', 'new'])",
    ),
    "an empty folder": ("", "os.rename('empty', 'full')"),
    "a link in place of a folder": (
        "import shutil, subprocess",
        "os.mkdir('d'); open('d/a', 'w'); shutil.rmtree('d'); open('folder/a', 'a').write('b');"
        " subprocess.run(['ln', '-s', 'folder', 'd'])",
    ),
}


@pytest.mark.parametrize("kind", MOVES)
def test_what_a_model_moves_is_not_removed(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("empty", "folder"):
        (tmp_path / name).mkdir()
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "folder" / "a").write_text("a")
    before, code = MOVES[kind]
    (tmp_path / "net.py").write_text(
        f"import logging, os\n{before}\nfrom torch import nn\nRECORD = logging.makeLogRecord({{'msg': 'long'}})\n"
        f"def make():\n    {code}\n    return nn.Linear(2, 3)\n"
    )
    count("net.py:make")
    kept = [one for one in tmp_path.iterdir() if one.is_file() and one.read_text().startswith("mine")]
    assert len(kept) == 1
    assert (tmp_path / "folder" / "a").read_text().startswith("a")
    assert (tmp_path / "empty").is_dir() or (tmp_path / "full").is_dir()


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="processes are ended in another way here")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_removes_what_a_model_created(
    tmp_path: Path, number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "temporary").mkdir()
    (tmp_path / "net.py").write_text("import time\ndef make():\n    open('begun', 'w')\n    time.sleep(99)\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    process = workers.start.Process(target=main)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "argv", ["imlp-audit", "count", "net.py:make"])
        process.start()
    until = time.monotonic() + 60
    while not (tmp_path / "begun").exists():
        assert time.monotonic() < until
        time.sleep(0.1)
    os.kill(process.pid or 0, number)
    process.join(20)
    assert process.exitcode == 128 + number
    assert sorted(one.name for one in tmp_path.rglob("*")) == ["net.py", "temporary"]


def test_causes_by_name(net: Path) -> None:
    numbers = {
        WHOLE - AUX: "without what the forward pass never uses",
        WHOLE - HEAD: "without the classifier",
        WHOLE - BLOCK: "one of body.0-3 fewer",
        WHOLE + 64 * 90 + 90: "num_classes=100",
        WHOLE + 64 * 64 + 64: "twin=True",
        WHOLE + BLOCK: "depth=5",
        WHOLE * 3: "times 3",
    }
    printed = [word for number in numbers for word in ("--printed", f"params={number}")]
    flops = ["--printed", f"flops={2 * WORK}", "--printed", f"flops={WORK - 640}"]
    found = count(f"{net}:Net", "--input", "3,224,224", *printed, *flops, code=1)
    for at, cause in enumerate(numbers.values()):
        assert cause in causes(found, at), (cause, causes(found, at))
    assert causes(found, -2)[0].startswith("two for each multiply-accumulate")
    assert causes(found, -1)[0] == "without the classifier"


WILD = """
import timm
import timm.optim
from timm.models.gone import helper
from dcn import DeformConv
from transformers import top_k_top_p_filtering, BertModel
import torch
from torch import nn

def load_pretrained(net):
    weights = {k: v for k, v in torch.load("weights.pth").items()}
    net.head.weight.data = weights["head.weight"]

class Wild(nn.Module):
    def __init__(self, __C, table, pretrained=False):
        super().__init__()
        self.width = __C.WIDTH
        self.layers = nn.ModuleList([nn.Linear(__C.WIDTH, __C.WIDTH, bias=False) for _ in range(__C.DEPTH.N)])
        self.deform = DeformConv(3, 3)
        self.table = nn.Parameter(torch.zeros(table.shape[0]))
        self.wave = nn.Parameter(torch.zeros(3, dtype=torch.complex64))
        self.head = nn.Linear(__C.WIDTH, 2, bias=False)
        if pretrained:
            load_pretrained(self)

    def forward(self, xs):
        one, two = xs
        for layer in self.layers:
            one = layer(one) + two
        return self.head(one)

    def fuse(self):
        self.table = None

class Plain(nn.Module):
    def __init__(self, width=16, **kwargs):
        super().__init__()
        self.fc = nn.Linear(width, 50)
        self.extra = nn.Linear(10, 7, bias=False) if kwargs.get("extra") else None

class Pair(nn.Module):
    class Wide:
        def size(two): return 2 * two

    def __init__(self, wide=3):
        super().__init__()
        self.fc = nn.Linear(wide, 2)

    def forward(self, data):
        return self.fc(data["left"] + data["right"])

class Experiment:
    width = 7

    def get_model(self, bias=True):
        return nn.Linear(self.width, 2, bias=bias)

    def get_size(self):
        return self.width

NAMES = []

class Sized:
    def __init__(self, width):
        self.width = width

    def get_model(self):
        return nn.Linear(self.width, 2)

class Outer(nn.Module):
    def __init__(self, inner, wide):
        super().__init__()
        self.inner, self.wide = inner, nn.Linear(wide, wide)

def hub():
    return BertModel.from_pretrained("somebody/bert")
"""
OPTIONS = """
from argparse import ArgumentParser, Namespace
import missing_logger

def get_args():
    import missing_later
    parser = ArgumentParser()
    parser.add_argument("--WIDTH", default=8, type=int)
    args = parser.parse_args()
    args.DEPTH = Namespace(N=1)
    return args
"""


@pytest.fixture(scope="module")
def wild(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository in whose package something fails, with configurations and a script that makes its model."""
    root = tmp_path_factory.mktemp("wild")
    (root / ".git").mkdir()
    (root / "nets").mkdir()
    (root / "config" / "model").mkdir(parents=True)
    (root / "nets" / "__init__.py").write_text("raise OSError('no version file; run setup.py')\n")
    (root / "nets" / "wild.py").write_text(WILD)
    (root / "options.py").write_text(OPTIONS)
    (root / "train.py").write_text("net = wild.Plain(cfg.width, extra=True)\n")
    (root / "config" / "wild.yml").write_text("name: run\nnetwork:\n  WIDTH: 16\n  DEPTH: {N: 3}\n")
    (root / "config" / "model" / "outer.yaml").write_text(
        "_target_: nets.wild.Outer\nwide: ${data.size}\n"
        "inner:\n  _target_: torch.nn.Linear\n  in_features: ${model.wide}\n  out_features: 2\n"
    )
    (root / "config" / "data.yaml").write_text("size: 5\n")
    return root


def test_a_repository_in_the_wild(wild: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(wild)
    given = ("--config", "config/wild.yml:network", "--arg", "table=[9,9]:float32", "--arg", "pretrained=true")
    lists = ("--input", "[]=[2,16]", "--input", "[]=[2,16]")
    found = count("nets/wild.py:Wild", *given, *lists)
    layers, table, head = 3 * 16 * 16, 9, 16 * 2
    assert found["parameters"]["all"] == layers + table + 3 + head
    assert found["parameters"]["layers"] == layers + head
    assert found["parameters"]["real"] == found["parameters"]["all"] + 3
    assert found["flops"]["macs"] == found["flops"]["thop"] == 2 * (layers + head)
    assert found["left_out"] == ["dcn.DeformConv"]
    notes = " ".join(found["notes"])
    for word in ("dcn is missing", "has no 'top_k_top_p_filtering' any more", "without the __init__.py", "torch.load"):
        assert word in notes, word
    assert "load_pretrained, which loads weights, was not run" in notes
    printed = count("nets/wild.py:Wild", *given, "--printed", f"params={found['parameters']['all'] - 9}", code=3)
    assert causes(printed)[0] == "after the model's own fuse()"
    shown = call("count", "nets/wild.py:Wild", *given, "--printed", f"params={found['parameters']['all'] - 9}").out
    assert "without dcn.DeformConv, which could not be counted." in " ".join(shown.split())
    printed = count("nets/wild.py:Plain", "--printed", f"params={17 * 50 + 70}", code=1)
    assert causes(printed)[:2] == ["as in train.py:1: extra=True", "extra=True"]


def test_methods_mappings_and_what_a_class_holds(wild: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(wild)
    made = count("nets/wild.py:Experiment.get_model", "--arg", "bias=false", "--input", "7")
    assert (made["parameters"]["all"], made["flops"]["macs"]) == (7 * 2, 7 * 2)
    wide = ("--arg", "wide={_target_: nets.wild.Pair.Wide.size, two: 4}")
    pair = count("nets/wild.py:Pair", *wide, "--input", "data.left=5,8", "--input", "data.right=5,8")
    assert (pair["parameters"]["all"], pair["flops"]["macs"]) == (8 * 2 + 2, 5 * 8 * 2)
    assert pair["inputs"] == ["data.left: [1, 5, 8] float32", "data.right: [1, 5, 8] float32"]


@pytest.mark.parametrize(
    ("first", "second"), [("data", "data.left"), ("data.left", "data"), ("data.left", "data.left"), ("data[]", "data")]
)
def test_an_input_that_another_would_replace_is_refused(wild: Path, first: str, second: str) -> None:
    done = call("count", f"{wild / 'nets' / 'wild.py'}:Pair", "--input", f"{first}=3", "--input", f"{second}=5")
    assert (done.code, done.out) == (2, "")
    assert f"--input {second.removesuffix('[]')}: {first.removesuffix('[]')} was given before" in done.err


def test_configurations(wild: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(wild)
    table = ("--arg", "table=[1]:float32")
    small = count("nets/wild.py:Wild", "--config", "options.py:get_args", *table)
    assert small["parameters"]["all"] == 8 * 8 + 8 * 2 + 4
    deep = count("nets/wild.py:Wild", "--config", "options.py:get_args", "--arg", "DEPTH.N=2", *table)
    assert deep["parameters"]["all"] == small["parameters"]["all"] + 8 * 8
    outer = count("nets/wild.py:Outer", "--config", "config/model/outer.yaml", "--config", "data=config/data.yaml")
    assert outer["parameters"]["all"] == 5 * 2 + 2 + 5 * 5 + 5


REFUSED = {
    ("--config", "config/wild.yml:net"): "it has no section 'net'; it has name, network",
    ("--config", "config/model/outer.yaml"): "add the file: --config data=FILE",
    ("--config", "options.py:"): "write FILE.py, or FILE.py:NAME",
    ("--config", "config/wild.yml"): "'WIDTH'; it has name, network",
}


@pytest.mark.parametrize("flags", REFUSED)
def test_configurations_that_lack_something(
    wild: Path, flags: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(wild)
    done = call("count", "nets/wild.py:Wild", "--arg", "table=[1]:float32", *flags)
    assert done.code in (2, 3)
    assert REFUSED[flags] in done.err


UNFIT = {
    ("NAMES.foo",): "it defines no 'NAMES.foo'",
    ("Experiment.get_modl",): "it defines no 'Experiment.get_modl'; did you mean 'get_model'?",
    (
        "Sized.get_model",
        "--arg",
        "width=3",
    ): "'width'; Sized.get_model is called of an instance made without arguments; write",
    ("Experiment.get_size",): "returns int, not a torch.nn.Module; name what makes a model",
    ("Pair", "--arg", "two=3"): "unexpected keyword argument 'two'; leave it out, or",
    (
        "Pair",
        "--arg",
        "wide={_target_: no.such.thing}",
    ): "no.such.thing is not installed, or is a module; the argument's",
    ("Pair", "--arg", "wide={_target_: torch.nn.ReLU, a: 1}"): "argument 'a'; the argument's `_target_: torch.nn.ReLU`",
}


@pytest.mark.parametrize("given", UNFIT)
def test_names_and_arguments_that_do_not_fit(
    wild: Path, given: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(wild)
    done = call("count", f"nets/wild.py:{given[0]}", *given[1:])
    assert (done.code, done.out) == (3, "")
    assert UNFIT[given] in done.err


@pytest.mark.slow
def test_a_model_of_the_hub(wild: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The processes are begun as a user's are: a library's switch to stay offline is read when it is imported."""
    monkeypatch.setattr(workers, "start", multiprocessing.get_context("spawn"))
    done = call("count", f"{wild}/nets/wild.py:hub")
    assert done.code == 3
    assert "hf download somebody/bert config.json" in done.err
    found = count(f"{wild}/nets/wild.py:hub", "--stub", "somebody/bert")
    assert found["parameters"]["all"] == 109_482_240
    assert any("defaults of BertConfig" in note for note in found["notes"])


def test_the_chance_of_the_first_value_is_what_prints_so() -> None:
    (printed,) = count("torchvision:alexnet", "--printed", "57M", code=1)["printed"]
    assert (printed["causes"][0]["text"], printed["causes"][0]["value"]) == ("without the classifier", "57003840")
    assert printed["causes"][0]["chance"] == pytest.approx(log(57.5 / 56.5) / log(4), rel=1e-4)


def test_one_or_two_digits_are_left_open() -> None:
    (printed,) = count("torchvision:resnet18", "--printed", "6M", code=1)["printed"]
    assert not printed["causes"]
    assert any(one["text"] == "divided by 2" for one in printed["possible"])
    assert printed["expected"] > 0.5  # of as many values by chance


def test_other_classes_of_a_librarys_model() -> None:
    assert count("timm:resnet18", "--arg", "num_classes=10")["parameters"]["all"] == 11_689_512 - 990 * 513
    assert "num_classes=100" in causes(count("timm:resnet18", "--printed", "11.228M", code=1))


def test_a_factor_and_the_widths_of_all_stages(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(
        "from torch import nn\n"
        "def net(ratio=1.0, drop=0.1, widths=(10, 20)):\n"
        "    return nn.Sequential(nn.Linear(1000, int(500 * ratio)), *[nn.Linear(one, 999) for one in widths])\n"
    )
    (tmp_path / ".git").mkdir()
    (tmp_path / "wider.yaml").write_text("ratio: 1.5\ndrop: 0.3\n")
    printed = [("--printed", f"params={number}") for number in (1032968, 562438, 782718)]
    found = count(f"{tmp_path}/net.py:net", *chain(*printed), code=1)
    assert [causes(found, at)[0] for at in (0, 1)] == ["ratio=2.0", "widths=(20, 40)"]
    assert causes(found, 2)[0] == "as in wider.yaml: ratio=1.5, drop=0.3"


TWO = """
from torch import nn
from parts import Part
class Net(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.part = Part(width)
"""


def test_two_folders_that_define_one_name(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    for folder, bias in (("first", False), ("second", True)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "net.py").write_text(TWO)
        (tmp_path / folder / "parts.py").write_text(
            f"from torch import nn\ndef Part(width):\n    return nn.Linear(width, 100, bias={bias})\n"
        )
    (tmp_path / "second" / "train.py").write_text("model = Net(width=7)\n")
    found = count(f"{tmp_path}/first/net.py:Net", "--printed", "params=500", "--printed", "params=800", code=1)
    assert found["parameters"]["all"] == 400
    assert "as second/net.py defines it" in causes(found)
    assert causes(found, 1)[0] == "as in second/train.py:1: width=7"


LABELS = """
from torch import nn
class Net(nn.Module):
    def __init__(self, label_dim=527, width=8, stem=8):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(100, stem), nn.Linear(stem, width), nn.Linear(width, label_dim))
"""
TRAIN = """
import argparse
from net import Net
try:
    import cPickle
except ImportError, error:
    print "no", error
parser = argparse.ArgumentParser()
parser.add_argument("--n_class", type=int, default=431)
parser.add_argument("--wide", action="store_false")
parser.add_argument("--hidden", default=19)
args = parser.parse_args()
def train(width=11):
    if width <> 11:
        exec "pass"
    model = Net(args.n_class, args.hidden, stem=width * 2)
    model(images.cuda(async=True))
"""


@pytest.mark.parametrize(
    ("changed", "cause"),
    [
        ({"label_dim": 527}, "label_dim=527"),
        ({"label_dim": 431}, "as in train.py:16: label_dim=431"),
        ({"width": 19}, "as in train.py:16: width=19"),
        ({"stem": 22}, "as in train.py:16: stem=22"),
        ({"label_dim": 431, "width": 19, "stem": 22}, "as in train.py:16: label_dim=431, width=19, stem=22"),
    ],
)
def test_one_argument_of_a_call_at_a_time(tmp_path: Path, changed: dict[str, int], cause: str) -> None:
    """What is given may be left at its default, or be what a script passes, even in Python 2 and by another name."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "net.py").write_text(LABELS)
    (tmp_path / "train.py").write_text(TRAIN)
    one = {"label_dim": 3, "width": 11, "stem": 8, **changed}
    printed = 101 * one["stem"] + (one["stem"] + 1) * one["width"] + (one["width"] + 1) * one["label_dim"]
    given = ("--arg", "label_dim=3", "--arg", "width=11")
    assert cause in causes(count(f"{tmp_path}/net.py:Net", *given, "--printed", f"params={printed}", code=1))


@pytest.mark.parametrize(("name", "given"), [("MobileNetV2", ()), ("Backbone", ("--arg", "kind=mobilenetv2_100"))])
def test_the_number_of_a_librarys_model_of_that_name(tmp_path: Path, name: str, given: tuple[str, ...]) -> None:
    (tmp_path / "net.py").write_text(
        f"from torch import nn\ndef {name}(kind=''):\n    return nn.Sequential(nn.Linear(2000, 999), nn.Linear(9, 9))\n"
    )
    found = count(f"{tmp_path}/net.py:{name}", *given, "--printed", "3.505M", code=1)  # 3 504 872, as torchvision says
    assert causes(found)[0] == "timm:mobilenetv2_100 in its place"


def test_a_hundred_times_too_many() -> None:
    assert causes(count("torchvision:resnet18", "--printed", "1168.95M", code=1))[0] == "times 100"


def test_older_ptflops_counts_transposed_convolutions_on_their_output(tmp_path: Path) -> None:
    """ptflops 0.6.9 gives 136183808 for this model."""
    (tmp_path / "net.py").write_text(
        "from torch import nn\ndef net():\n"
        "    return nn.Sequential(nn.Conv2d(3, 64, 3, padding=1), nn.ConvTranspose2d(64, 32, 4, 2, 1))\n"
    )
    conv, up = 32 * 32 * (27 * 64 + 64), 64 * 64 * 32  # with biases
    found = count(f"{tmp_path}/net.py:net", "--input", "3,32,32", "--printed", "136.184M FLOPs", code=1)
    assert found["flops"]["ptflops_hooks"] == conv + 32 * 32 * 64 * 32 * 16 + up
    assert found["flops"]["ptflops_old"] == conv + 64 * 64 * 64 * 32 * 16 + up == 136_183_808
    assert any(cause.startswith("counted by ptflops 0.7.1 or older") for cause in causes(found))


def test_pose_networks_of_a_model_of_depth_are_for_training(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(
        "from torch import nn\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.encoder, self.pose_encoder = nn.Linear(2000, 500), nn.Linear(6000, 900)\n"
        "        self.decoder, self.pose = nn.Linear(500, 4200), nn.Linear(900, 700)\n"
    )
    found = count(f"{tmp_path}/net.py:Net", "--printed", "3.1M", code=1)
    assert causes(found)[0] == "all but pose and pose_encoder"


FAULTY = """
import os
import torch
from torch import nn
from torch.hub import download_url_to_file
from torch.utils.cpp_extension import load
from collections import namedtuple
from net.layers import width
from below import Below

fused = load("fused", sources=["a.cpp", "b.cu"])
Genotype = namedtuple("Genotype", "normal reduce")
DARTS = Genotype([1, 2, 3], [4])

class Net(nn.Module):
    def __init__(self, rows, genotype=None):
        super().__init__()
        download_url_to_file("http://nowhere/weights.pth", "weights.pth")
        self.layer = nn.Linear(rows, width + len(genotype.normal) if genotype else width)
        self.below = Below()

def later(rows=4):
    from registered import Registered
    return Registered(rows)

def of_options(opt):
    return nn.Linear(opt.rows, opt.columns)
"""


@pytest.mark.parametrize(
    ("name", "given", "parameters"),
    [
        ("Net", ("--config", "config.yml:network_g"), 5 * 7 + 4),
        ("Net", ("--arg", "rows=5", "--arg", "genotype={_target_: net.nets.net.DARTS}"), 6 * 10 + 4),
        ("later", (), 5 * 2),
        ("of_options", ("--config", "options.py:Options"), 4 * 6),
        ("of_options", ("--config", "options.py:NAMED"), 9 * 3),
    ],
)
def test_what_repositories_do(
    tmp_path: Path, name: str, given: tuple[str, ...], parameters: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file has the name of its package; weights, extensions, decorators; configurations of other shapes."""
    files = {
        "net/nets/net.py": FAULTY,
        "net/layers.py": "width = 7\n",
        "ext/below/__init__.py": "from torch import nn\ndef Below(): return nn.Linear(1, 2)\n",
        "config.yml": "network_g:\n  type: Net\n  rows: 4\n",
        "registered.py": "from torch import nn\nimport nowhere\nclass Registered(nn.Linear):\n"
        "    def __init__(self, rows): super().__init__(rows, 2)\n    @nowhere.hook\n    def hook(self): pass\n",
        "options.py": "from argparse import ArgumentParser\nfrom collections import namedtuple\n"
        "class Options:\n    def __init__(self):\n        self.parser = ArgumentParser()\n"
        "        self.parser.add_argument('--rows', default=3)\n"
        "        self.parser.add_argument('--columns', default=6)\n"
        "NAMED = namedtuple('Sizes', 'rows columns')(8, 3)\n",
    }
    (tmp_path / ".git").mkdir()
    for file, text in files.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "torch.utils.cpp_extension", raising=False)  # as in a process of a user's
    found = count(f"net/nets/net.py:{name}", *given)
    assert found["parameters"]["all"] == parameters
    assert name != "Net" or "`below` was found in ext, as with --path ext" in found["notes"]


def test_what_is_missing_leaves_a_number_open(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(
        "from nowhere import Layer\nfrom torch import nn\nclass Net(nn.Linear):\n    def __init__(self):\n"
        "        super().__init__(9, 9)\n        self.layer = Layer()\n"
    )
    done = call("count", f"{tmp_path}/net.py:Net", "--printed", "params=500")
    assert done.code == 3
    assert "500 parameters is open: the model has 90 without nowhere.Layer" in done.out


def test_what_other_counters_count_more_of_flops_that_follow() -> None:
    """fvcore counts two for each element of a batch norm and one of what is pooled."""
    found = count("timm:mobilenetv2_100", "--printed", "0.3008G")
    norms = found["beyond"]["fvcore"]["BatchNormAct2d"]
    assert found["flops"]["fvcore"] - found["flops"]["macs"] == norms + 1280 * 7 * 7  # the last pool
    assert found["beyond"]["torch"] == {"Conv2d": found["flops"]["macs"] - 1_280_000, "Linear": 1_280_000}
    for name, more in found["beyond"].items():
        assert sum(more.values()) == found["flops"][name] - found["flops"]["macs"]
    done = call("count", "timm:mobilenetv2_100", "--printed", "0.3008G")
    assert f"(BatchNormAct2d +{norms:_}, Ada".replace("_", " ") in " ".join(done.out.split())


def test_what_follows_has_no_cause_and_a_shared_cause_counts_more() -> None:
    found = count("torchvision:alexnet", "--printed", "61.10M", "--printed", "57.0M", "--printed", "57.004M", code=1)
    assert found["flops"]["macs"] - found["flops"]["no_head"] == 4096 * 1000
    assert found["printed"][0]["follows"]
    assert not causes(found)
    both = found["printed"][1]["causes"][0]
    assert (both["text"], both["explains"]) == ("without the classifier", ["57.0M", "57.004M"])
    (alone,) = count("torchvision:alexnet", "--printed", "57.004M", code=1)["printed"]
    assert both["chance"] == alone["causes"][0]["chance"]  # one number in two ways says no more than one
    two = count("torchvision:alexnet", "--printed", "params=57.004M", "--printed", "flops=710.1M", code=1)["printed"]
    assert two[0]["causes"][0]["explains"] == ["57.004M", "710.1M"]
    assert two[0]["causes"][0]["chance"] < alone["causes"][0]["chance"] / 10
    done = call("count", "torchvision:alexnet", "--printed", "61.10M")
    assert done.code == 0
    assert "61.10M parameters follows" in done.out


def test_thop_counts_the_parameters_of_layers_that_run(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(
        "from torch import nn\nclass Net(nn.Linear):\n    def __init__(self):\n        super().__init__(1, 1)\n"
        "        self.a, self.idle = nn.Linear(3, 8), nn.Linear(100, 100)\n"
        "    def forward(self, x): return self.a(x)\n"
    )
    found = count(f"{tmp_path}/net.py:Net", "--input", "3")["parameters"]
    assert (found["all"], found["layers"]) == (2 + 32 + 10_100, 32)


OLD = """
import os
from dataclasses import dataclass
import torch
from torch import nn
from . import nms_cuda
try:
    from . import roi_cuda
except ImportError:
    pass
roi = roi_cuda

@dataclass
class Rate:
    value: int = 3

@dataclass
class Settings:
    rate: Rate = Rate()

class Net(nn.Module):
    def __init__(self, config=[2, 2], width=128, act=None):
        super().__init__()
        os.write(1, b"made\\n")
        self.layers = nn.Sequential(*[nn.Linear(width, width) for _ in config])
        self.norm = nn.SyncBatchNorm(width)
        self.norm._specify_ddp_gpu_num(1)
        self.table = nn.Parameter(torch.zeros(Settings().rate.value, width)[torch.LongTensor(torch.zeros(4).long())])
        self.last = act() if act else None

    def forward(self, x_in, mask=torch.FloatTensor(1, 8).cuda()):
        return self.layers(x_in) + self.table[torch.LongTensor(torch.zeros(1, device=x_in.device).long())]

assert torch.cuda.is_available()
"""


def test_old_code_that_cannot_even_be_imported_here(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").touch()
    file = tmp_path / "pkg" / "net.py"
    file.write_text(OLD)
    layers = 2 * (64 * 64 + 64)
    found = count(f"{file}:Net", "--arg", "width=64", "--input", "64", "--printed", f"params={2 * layers}", code=1)
    assert found["parameters"]["all"] == layers + 2 * 64 + 4 * 64
    assert found["parameters"]["used"] == layers + 4 * 64
    assert found["flops"]["macs"] == 2 * 64 * 64
    assert capfd.readouterr().err.count("made") < 10 < found["printed"][0]["tried"]
    notes = " ".join(found["notes"])
    last = f"fails after it has defined Net, which was taken (net.py:{len(OLD.splitlines())}: AssertionError)"
    for word in (
        "CUDA was asked for",
        "pkg.nms_cuda is missing",
        "pkg.roi_cuda is",
        "Settings.rate",
        last,
        "counted on zeros",
    ):
        assert word in notes, word
    made = count(f"{file}:Net", "--arg", "width=8", "--arg", "act={_target_: torch.nn.PReLU, _partial_: true}")
    assert made["parameters"]["all"] == 2 * 72 + 2 * 8 + 4 * 8 + 1
    assert "it takes x_in, mask" in count(f"{file}:Net", "--input", "x=64")["no_flops"]
    assert call("count", f"{file}:Other").err.strip().endswith("AssertionError")


@pytest.mark.daily(1)
@pytest.mark.parametrize("heading", ["## On real code", "# Auditing somebody else's repository"])
def test_the_page_shows_what_is_printed(heading: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _, _, section = Path("docs/repository.md").read_text(encoding="utf-8").partition(heading)
    steps, shown = (block.split("\n```")[0] for block in (section.split("```sh\n")[1], section.split("```text\n")[1]))
    if "torchvision.__path__" in steps:
        monkeypatch.chdir(torchvision.__path__[0])
    done = call(*steps.splitlines()[-1].split()[1:])
    assert done.code == 1
    assert shown in done.out


PASSES = {
    "yield self.fc(x)": "net.py: forward of Net returns a generator",
    "return map(self.fc, [x])": "net.py: forward of Net returns a map",
    "raise KeyboardInterrupt": "net.py:7: KeyboardInterrupt",
    "while True: time.sleep(0.1)": "did not end within 2 s",
}


@pytest.mark.parametrize("code", PASSES)
def test_forward_passes_that_are_not_counted(tmp_path: Path, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("imlp_audit.explain.cause_search.PATIENCE", 2.0)
    (tmp_path / "net.py").write_text(
        "import time\nfrom torch import nn\nclass Net(nn.Module):\n    def __init__(self):\n"
        f"        super().__init__(); self.fc = nn.Linear(2, 2)\n    def forward(self, x):\n        {code}\n"
    )
    given = (f"{tmp_path / 'net.py'}:Net", "--input", "2", "--printed", "params=6", "--printed", "flops=4")
    found = count(*given, code=3)
    assert PASSES[code] in found["no_flops"]
    assert found["parameters"]["all"] == 6
    assert [one["follows"] for one in found["printed"]] == [True, False]
    done = call("count", "timm:resnet18", "--arg", "img_size=384")
    assert "write --input 3,384,384 instead" in done.err


def test_flops_that_were_not_counted_cannot_be_told(net: Path) -> None:
    done = call("count", f"{net}:Net", "--printed", "flops=1M")
    assert done.code == 3
    assert "1M FLOPs: it cannot be told whether it follows, because FLOPs were not counted: a model of a" in done.out


def test_a_file_that_interrupts_does_not_end_the_count_of_another(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "net.py").write_text("from torch import nn\ndef make(width=2):\n    return nn.Linear(width, 3)\n")
    (tmp_path / "other.py").write_text("def make(): pass\nraise KeyboardInterrupt\n")
    done = call("count", f"{tmp_path / 'net.py'}:make", "--printed", "params=15", "-f", "json")
    assert (done.code, done.err) == (1, "")
    assert "width=4" in {one["text"] for one in json.loads(done.out)["printed"][0]["possible"]} | {
        one["text"] for one in json.loads(done.out)["printed"][0]["causes"]
    }


def test_a_file_is_imported_by_the_name_that_it_calls_its_own_folder(tmp_path: Path) -> None:
    """Else what registers itself there would not be found: it would be in a second module of the same file."""
    (tmp_path / ".git").mkdir()
    folder = tmp_path / "lib" / "nets" / "mobile"
    folder.mkdir(parents=True)
    for package in (tmp_path / "lib", folder):  # `nets` is none
        (package / "__init__.py").write_text("")
    (folder / "known.py").write_text("LAYERS = {}\n")
    (folder / "layers.py").write_text("import torch\nfrom .known import LAYERS\nLAYERS['fc'] = torch.nn.Linear\n")
    lines = (
        "from .known import LAYERS",
        "from lib.nets.mobile.layers import torch",
        "def net():",
        "    return LAYERS['fc'](2, 3)",
    )
    (folder / "net.py").write_text("\n".join(lines) + "\n")
    assert count(f"{folder}/net.py:net")["parameters"]["all"] == 2 * 3 + 3


def test_the_vocabulary_and_the_depth_of_a_model_of_text_are_tried() -> None:
    """A word of BERT's has 768 numbers and a bias, a layer 12 * 768**2 weights and 13 * 768 biases and norms."""
    one = 109_514_298 - 11 * (12 * 768**2 + 13 * 768)
    printed = [("--printed", f"params={number}") for number in (one + 89_025 * 769, one + 12 * 768**2 + 13 * 768)]
    found = count("transformers:BertForMaskedLM", "--arg", "num_hidden_layers=1", *chain(*printed), code=1)
    assert [causes(found, at)[0] for at in (0, 1)] == ["vocab_size=119547", "num_hidden_layers=2"]


def test_the_model_itself_may_be_the_nearest() -> None:
    (printed,) = count("transformers:BertModel", "--printed", "109.33M", code=1)["printed"]
    assert printed["nearest"] == "the model itself: 109 482 240"


def test_other_inputs(tmp_path: Path) -> None:
    """Multiply-accumulates of one kernel: 8 of 3 channels on an image, 5 on a signal."""
    (tmp_path / "net.py").write_text(
        "from torch import nn\ndef image():\n    return nn.Conv2d(3, 8, 1)\n"
        "def signal():\n    return nn.Conv1d(1, 5, 1)\n"
        "def enlarged(scale=3):\n    return nn.Conv2d(3, 8, 1)\n"
    )
    for name, given, macs, cause in (
        ("image", "3,256,256", 24 * 360 * 640, "images of 480 x 480 or 360 x 640"),
        ("enlarged", "3,256,256", 24 * 240 * 426, "images of 240 x 426"),
        ("image", "3,512,512", 24 * 512 * 1024, "images of 512 x 1024"),
        ("image", "input=[7,3,50,50]", 24 * 50 * 50, "one of the batch of 7"),
        ("signal", "1,32000", 5 * 8000, "inputs of 1 x 8000"),
    ):
        found = count(f"{tmp_path}/net.py:{name}", "--input", given, "--printed", f"flops={macs}", code=1)
        assert cause in causes(found), cause


def test_batch_norms_are_folded_on_the_input_that_is_given(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(
        "from torch import nn\ndef net():\n    first = nn.Conv2d(3, 8, 3, bias=False), nn.BatchNorm2d(8)\n"
        "    return nn.Sequential(*first, nn.Flatten(), nn.Linear(8 * 81, 5))\n"
    )
    folded = 3 * 8 * 9 + 8 + 8 * 81 * 5 + 5  # the batch norm's shift is the convolution's bias
    found = count(f"{tmp_path}/net.py:net", "--input", "3,11,11", "--printed", f"params={folded}", code=1)
    assert "batch norms folded into the convolutions" in causes(found)


def test_what_a_script_freezes(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "net.py").write_text(
        "from torch import nn\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.stem, self.body, self.head = (nn.Linear(size, 7) for size in (31, 57, 97))\n"
    )
    (tmp_path / "train.py").write_text(
        "model = Net()\nfor p in model.stem.parameters():\n    p.requires_grad = False\n"
        "for p in model.module.head.parameters():\n    p.requires_grad = False\n"
        "for p in model.body.parameters():\n    p.requires_grad = True\n"
    )
    found = count(f"{tmp_path}/net.py:Net", "--printed", f"params={58 * 7}", code=1)
    assert causes(found)[0] == "without what train.py freezes: stem, head"


def test_images_of_another_size_of_a_librarys_model() -> None:
    """One block of DeiT-Ti on 24 x 24 patches and a class token, instead of 14 x 14."""
    tokens = 24 * 24 + 1
    work = (tokens - 1) * 192 * 768 + tokens * 192 * 12 * 192 + 2 * tokens**2 * 192 + 192 * 1000
    given = ("--arg", "depth=1", "--printed", f"flops={work}")
    found = count("timm:deit_tiny_patch16_224", *given, code=1)
    assert "images of 384 x 384" in causes(found)


BROKEN = {
    "raises": ("raise ValueError('no')", "net.py:3: ValueError: no"),
    "hangs": ("while True: time.sleep(0.1)", "did not end within"),
    "interrupts": ("raise KeyboardInterrupt", "net.py:3: KeyboardInterrupt"),
    "raises another kind": ("raise type('Odd', (BaseException,), {})('x')", "net.py:3: Odd: x"),
    "leaves a copy": ("os.fork() or time.sleep(99); os._exit(7)", "ended the process (exit code 7)"),
    "exits": ("sys.exit(7)", "its code ended the process"),
    "dies": ("os._exit(7)", "its code ended the process"),
    "allocates": ("torch.empty(10**12, device='cpu').fill_(1)", "net.py:make: it takes more than 8192 MiB of memory"),
    "is no module": ("return 5", "net.py: make returns int, not a torch.nn.Module"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_constructors_that_fail_are_named(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    code, words = BROKEN[kind]
    (tmp_path / "net.py").write_text(f"import os, sys, time, torch\ndef make():\n    {code}\n")
    monkeypatch.setattr("imlp_audit.explain.cause_search.PATIENCE", 3.0)
    done = call("count", f"{tmp_path / 'net.py'}:make")
    assert (done.code, done.out) == (3, "")
    assert words in done.err


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no process can be copied here")
def test_processes_that_a_constructor_starts_end_with_it(tmp_path: Path) -> None:
    """One copy sleeps; another goes on as the constructor does."""
    (tmp_path / "pids").touch()  # a file that the code creates would be removed
    (tmp_path / "net.py").write_text(
        "import os, time\nfrom torch import nn\ndef make():\n    os.fork()\n    if (pid := os.fork()) == 0:\n"
        f"        time.sleep(99)\n    open(r'{tmp_path}/pids', 'a').write(f'{{pid}}\\n')\n    return nn.Linear(2, 3)\n"
    )
    done = call("count", f"{tmp_path / 'net.py'}:make", "-f", "json")
    assert (done.code, done.err, json.loads(done.out)["parameters"]["all"]) == (0, "", 9)
    pids = (tmp_path / "pids").read_text().split()
    assert pids
    until = time.monotonic() + 10
    while any(Path(f"/proc/{pid}/stat").exists() for pid in pids):  # where there is no /proc there is nothing to see
        assert time.monotonic() < until
        time.sleep(0.1)


WRONG = {
    "resnet50": "names no model",
    "tim:resnet50": "'timm'",
    "nothing.py:Net": "there is no such file",
    "timm:resnt50": "did you mean 'resnet50'",
    "torchvision:Resnet": "torchvision has no model 'Resnet'",
}


@pytest.mark.parametrize("model", WRONG)
def test_models_that_are_not_there(model: str) -> None:
    done = call("count", model)
    assert done.code in (2, 3)
    assert WRONG[model] in done.err


@pytest.mark.parametrize(
    ("flag", "value", "words"),
    [
        ("--printed", "many", "many"),
        ("--printed", "width=3", "params=... or flops=..."),
        ("--printed", "params=22.84", "write 22.84M for millions"),
        ("--printed", "97.5MiB", "'MiB'"),
        ("--printed", "1.5 GB", "write a count"),
        ("--printed", "0", "above zero"),
        ("--printed", "-5M", "above zero"),
        ("--arg", "width", "name=value"),
        ("--arg", "act={a: {b}", "--arg act={a: {b}: the value is neither JSON nor YAML; check its brackets"),
        ("--arg", "widths=[1,", "--arg widths=[1,: the value is neither JSON nor YAML"),
        ("--config", "missing.py", "--config missing.py: there is no such file"),
        ("--input", "data.left.x=3", "'data.left.x' is not NAME or NAME.KEY"),
        ("--input", "3x224", "without the batch"),
        ("--input", "3,224:float8", "unknown type"),
        ("--path", "nowhere", "no such folder"),
        ("--argv", "net 'app", "No closing quotation; write it as for a shell"),
        ("--config", "nowhere.yaml", "nowhere.yaml"),
    ],
)
def test_flags_that_cannot_be_read(flag: str, value: str, words: str) -> None:
    done = call("count", "timm:resnet18", flag, value)
    assert (done.code, done.out) == (2, "")
    assert words in done.err


def test_a_name_that_the_file_lacks_and_a_package_that_is_missing(net: Path) -> None:
    done = call("count", f"{net}:Nett")
    assert done.code == 3
    assert "did you mean 'Net'" in done.err
    file = net.parent / "uses.py"
    file.write_text("import cv2\nfrom .net import Net\ndef make():\n    cv2.resize(1)\n    return Net(8)\n")
    done = call("count", f"{file}:make")
    assert done.code == 3
    assert "models/uses.py:4: ImportError: the model needs cv2.resize, which is missing; pip install opencv" in done.err


SETTINGS = """
from torch import nn, zeros
WIDTHS = {"small": 16, "large": 90}

class Conv(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.wide, self.narrow = nn.Conv2d(width, width, 3, bias=False), nn.Conv2d(width, width, 3, bias=False)

class Net(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        width = WIDTHS[cfg.model.variant]
        self.size = cfg.data.size
        self.position = nn.Parameter(zeros(cfg.data.size))
        self.blocks = nn.Sequential(*[Conv(width) for _ in range(sum(cfg.model.depths))])
        self.teacher = nn.Linear(width, width, bias=False) if cfg.use_teacher else None
        self.tokens, self.head = nn.Embedding(33, width), nn.Linear(width, 33, bias=False)
        self.head.weight = self.tokens.weight
        self.shared = self.blocks[0].wide if cfg.model.norm == "share" else nn.Linear(2, 2, bias=False)

    @classmethod
    def build(cls, cfg):
        return cls(cfg)

    def forward(self, x):
        assert x.shape[-1] == self.size
        return self.blocks[0].wide(x[:, :1].expand(-1, 16, -1, -1))

READY = Net.build(type("Cfg", (), {
    "model": type("Model", (), {"variant": "small", "depths": [1], "norm": ""}),
    "data": type("Data", (), {"size": 32}),
    "use_teacher": True,
}))
"""
CONFIG = "model: {variant: small, depths: [2, 2, 6, 2], norm: none}\ndata: {size: 48, epochs: 7}\nuse-teacher: true\n"
CONV, REST = 16 * 16 * 9, 48 + 16 * 16 + 33 * 16 + 4
SMALL = 24 * CONV + REST


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that is made of a nested configuration."""
    root = tmp_path_factory.mktemp("settings")
    (root / ".git").mkdir()
    (root / "net.py").write_text(SETTINGS)
    (root / "net.yaml").write_text(CONFIG)
    return root


def test_what_lies_in_a_configuration_is_changed(settings: Path) -> None:
    numbers = {
        24 * 90 * 90 * 9 + 48 + 90 * 90 + 33 * 90 + 4: "model.variant=large",
        48 * CONV + REST: "model.depths=[2, 2, 18, 2]",
        SMALL - 4: "model.norm=share",
        SMALL - 33 * 16: "without embeddings",
        SMALL + 33 * 16: "with shared parameters counted in each place",
        SMALL - 256: "all but teacher",
    }
    printed = [word for number in numbers for word in ("--printed", f"params={number}")]
    found = count(f"{settings}/net.py:Net", "--config", f"{settings}/net.yaml", *printed, code=1)
    assert found["parameters"]["all"] == SMALL
    for at, cause in enumerate(numbers.values()):
        assert cause in causes(found, at), (cause, causes(found, at))


def test_numbers_of_a_configuration_are_not_exchanged_first(tmp_path: Path) -> None:
    """Who writes two arguments may confuse them; a configuration holds many: half of the width is more usual."""
    (tmp_path / "net.py").write_text(
        "from torch import nn\ndef net(cfg):\n"
        "    return nn.Linear(cfg.model.width * cfg.model.height, 10, bias=False)\n"
        "def plain(width, height, bias=3):\n    return nn.Linear(width * 10 + height, 10, bias=False)\n"
    )
    (tmp_path / "net.yaml").write_text("model: {width: 40, height: 30, depth: 2}\n")
    given = ("--arg", "width=40", "--arg", "height=30", "--printed", f"params={10 * 340}")
    assert causes(count(f"{tmp_path}/net.py:plain", *given, code=1))[0] == "width and height exchanged"
    config = ("--config", f"{tmp_path}/net.yaml", "--printed", f"params={10 * 20 * 30}")
    assert causes(count(f"{tmp_path}/net.py:net", *config, code=1))[0] == "model.width=20"


def test_a_configuration_repeats_the_size_of_the_input(settings: Path) -> None:
    given = ("--config", f"{settings}/net.yaml", "--input", "3,48,48")
    found = count(f"{settings}/net.py:Net", *given, "--printed", f"flops={CONV * 94 * 94}", code=1)
    assert "images of 96 x 96 with data.size=96" in causes(found)


@pytest.mark.parametrize("name", ["Net.build", "READY"])
def test_a_method_or_a_model_that_is_there(settings: Path, name: str) -> None:
    given = ("--config", f"{settings}/net.yaml") if name == "Net.build" else ()
    found = count(f"{settings}/net.py:{name}", *given)
    assert found["parameters"]["all"] == (SMALL if given else 2 * CONV + REST - 16)


def test_an_argument_refers_to_a_configuration(settings: Path) -> None:
    flags = ("--config", f"{settings}/net.yaml", "--arg", "model.depths=[2]", "--arg", "data.size=${sizes.large}")
    (settings / "sizes.yaml").write_text("large: 64\n")
    found = count(f"{settings}/net.py:Net", *flags, "--config", f"sizes={settings}/sizes.yaml")
    assert found["parameters"]["all"] == 4 * CONV + REST + 16


def test_all_widths_and_two_arguments_together(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(
        "from torch import nn\ndef net(dim=64, hidden_dim=200, num_classes=37):\n"
        "    last = nn.Linear(hidden_dim, num_classes, bias=False)\n"
        "    return nn.Sequential(nn.Linear(dim, hidden_dim, bias=False), last)\n"
    )
    printed = ("--printed", f"params={32 * 100 + 100 * 37}", "--printed", f"params={128 * 200 + 200 * 100}")
    found = count(f"{tmp_path}/net.py:net", *printed, code=1)
    assert "dim=32, hidden_dim=100" in causes(found)
    assert "num_classes=100, dim=128" in causes(found, 1)
