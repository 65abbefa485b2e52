"""`imlp-audit inspect`: what a checkpoint is, what it fits, and how that ends the run."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
import timm
import torch
from safetensors.torch import save_file
from torch import Tensor

from imlp_audit.models.blocks import ImlpRecipe
from imlp_audit.models.build import Builder
from imlp_audit.models.recipe import Recipe, Replacement
from tests.checkpoint.reading import parse
from tests.models.readings import RELEASED

from .running import call, environment

DEIT = "deit_tiny_patch16_224"


@pytest.fixture(scope="module")
def deit() -> dict[str, Tensor]:
    torch.manual_seed(0)  # some random weights look trained
    state: dict[str, Tensor] = timm.create_model(DEIT).state_dict()
    return state


@pytest.fixture(scope="module")
def block() -> dict[str, Tensor]:
    """DeiT-Ti with the released block; none of the tiny papers declares its reading."""
    torch.manual_seed(0)
    with Builder("cpu").variant(Recipe.of(timm=DEIT, mlp=Replacement(imlp=ImlpRecipe(ratio=2))), RELEASED) as variant:
        return {name: value.clone() for name, value in variant.model.state_dict().items()}


def test_a_checkpoint_that_fits(here: Path, deit: dict[str, Tensor]) -> None:
    save_file(deit, here / "deit.safetensors")
    done = call("inspect", "deit.safetensors", "specs/clean")
    size, sha256 = (here / "deit.safetensors").stat().st_size, hashlib.sha256((here / "deit.safetensors").read_bytes())
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        "deit.safetensors: a safetensors file",
        "",
        f"size     {size:,} bytes",
        f"SHA-256  {sha256.hexdigest()}",
        "holds    152 tensors (float32) with 5,717,416 parameters",
        "",
        "Fits exactly",
        "",
        "- DeiT-Ti  {timm: deit_tiny_patch16_224}",
        "  - clean/1/base",
        "",
        "What the weights show",
        "",
        done.out.splitlines()[-1],
    ]
    assert done.out.splitlines()[-1].startswith("These weights look untrained: ")


def test_a_training_checkpoint_and_the_state_that_is_asked_for(here: Path, deit: dict[str, Tensor]) -> None:
    ten = {name: value[:10] if name.startswith("head") else value for name, value in deit.items()}
    torch.save({"model": deit, "model_ema": ten, "epoch": 3}, here / "deit.pth")
    done = call("inspect", "deit.pth", "specs/clean")
    assert done.code == 0
    assert "note     model is used; the file also holds model_ema (choose with --state)\n" in done.out
    other = call("inspect", "deit.pth", "specs/clean", "--state", "model_ema")
    assert other.code == 1
    assert other.out.partition("\nWhat the weights show\n")[0].splitlines()[-8:] == [
        "Fits no model exactly",
        "",
        "The papers have 1 model; 1 has similar tensor names. The nearest:",
        "",
        "- DeiT-Ti  {timm: deit_tiny_patch16_224}",
        "  - clean/1/base",
        "  - mis-shaped: other shapes: 10 x 192 in the file, 1000 x 192 in the model, 10 in the file, "
        "1000 in the model (2",
        "    tensors: head.weight, head.bias)",
    ]
    assert call("inspect", "deit.pth", "--state", "ema").code == 2


@pytest.mark.parametrize("name", ["resnet18", "swinv2_tiny_window8_256", "levit_128"])
def test_buffers_are_counted_apart(tmp_path: Path, name: str) -> None:
    model = timm.create_model(name)
    save_file(model.state_dict(), tmp_path / "x.safetensors")
    held, buffers = parse(tmp_path / "x.safetensors"), dict(model.named_buffers())
    own = model.state_dict()
    assert held.parameters == sum(value.numel() for value in model.parameters())
    assert held.buffers == sum(own[name].numel() for name in buffers if name in own)


@pytest.mark.slow
def test_json(here: Path, block: dict[str, Tensor]) -> None:
    save_file(block, here / "block.safetensors")
    done = call("inspect", "block.safetensors", "imlp/1/deit_ti*", "-f", "json")
    told = json.loads(done.out)
    assert told["format"] == "imlp-audit/inspect/3"
    assert told["file"]["parameters"] == 4_998_184  # imlp Table 1's "5.00" M under the reading released
    assert told["file"]["dtypes"] == {"float32": len(block) - 12, "int64": 12}
    assert told["models"]["untrusted"] == 0
    (only,) = told["exact"]
    assert (only["places"], only["readings"]) == (["imlp/1/deit_ti_imlp"], ["released"])
    assert told["nearest"] == []
    undeclared = call("inspect", "block.safetensors", "specs/imlp_row", "-f", "json")
    assert (undeclared.code, json.loads(undeclared.out)["exact"]) == (1, [])


def test_problems_in_json(here: Path, deit: dict[str, Tensor]) -> None:
    save_file({name: value for name, value in deit.items() if name != "norm.bias"}, here / "deit.safetensors")
    done = call("inspect", "deit.safetensors", "specs/clean", "--format", "json")
    told = json.loads(done.out)
    assert done.code == 1
    assert told["nearest"][0]["problems"] == [
        {"kind": "missing", "reason": "the file lacks tensors of the model", "details": [], "tensors": ["norm.bias"]}
    ]


def test_models_whose_code_may_not_run_are_not_said_to_differ(here: Path) -> None:
    (here / "own").mkdir()
    (here / "own" / "net.py").write_text("from torch import nn\n\ndef net():\n    return nn.Linear(2, 3)\n")
    (here / "own" / "paper.yaml").write_text(
        "paper: own\nabout: {title: T, authors: A, version: v}\ntables:\n  - table: '1'\n    title: T\n"
        "    source: {section: '1'}\n    columns: {p: {measure: parameters, unit: M, heading: P}}\n    rows:\n"
        "      - {id: a, label: A, model: {python: {file: net.py, name: net, tokens: 2}}, printed: {p: '1'}}\n"
    )
    save_file({"weight": torch.rand(3, 2), "bias": torch.rand(3)}, here / "w.safetensors")
    closed = call("inspect", "w.safetensors", "own")
    assert "1 model could not be compared, because the code is not trusted; pass --trust-code." in closed.out
    assert "none with tensors" not in closed.out
    assert "Fits exactly" in call("inspect", "w.safetensors", "own", "--trust-code").out


def test_a_checkpoint_of_nothing_here(here: Path) -> None:
    save_file({"w": torch.ones(1)}, here / "w.safetensors")
    done = call("inspect", "w.safetensors", "specs/clean")
    assert done.code == 1
    assert done.out.endswith("The papers have 1 model, none with tensors of these names and widths.\n")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("nowhere.pth",), "nowhere.pth does not exist; give a .safetensors file"),
        (("nowhere.pth", "no.yaml"), "nowhere.pth does not exist; give a .safetensors file"),
        (("specs",), "specs is a folder, not a file"),
        (("text.pth",), "text.pth is a text file, not a checkpoint"),
        (("w.safetensors", "nopaper"), "nopaper"),
        (("w.safetensors", "--state", "model"), "does not hold a state model"),
        (("w.safetensors", "-f", "xml"), "xml"),
        ((), "CHECKPOINT"),
    ],
)
def test_unusable_input(here: Path, arguments: tuple[str, ...], told: str) -> None:
    save_file({"w": torch.ones(1)}, here / "w.safetensors")
    (here / "text.pth").write_text("no weights", encoding="utf-8")
    done = call("inspect", *arguments)
    assert (done.code, done.out) == (2, "")
    assert told in done.err


@pytest.mark.slow
def test_torch_is_not_imported_for_what_is_refused(here: Path) -> None:
    (here / "text.pth").write_text("no weights", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "imlp_audit", "inspect", "text.pth"],
        capture_output=True, encoding="utf-8", env=environment(), cwd=here, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "imlp_audit.checkpoint.contents" in done.stderr
    assert "| torch" not in done.stderr
    assert "numpy" not in done.stderr


CLAIM = '''
from imlp_audit.claims import claim
from imlp_audit.inspect.learned_weights import Judgement

@claim(
    learned=({"W": "mlp.fc1.weight"},), place="Sec. 2", printed="Modules are steep.",
    measured="the sum of each matrix", judged="each is a number",
)
def steep(layers):
    """Modules are steep."""
    sums = [float(one["W"].sum()) for one in layers]
    return Judgement(True, "all", {"sum": sums})
'''


@pytest.mark.slow
def test_claims_of_a_papers_own_are_judged_if_trusted(here: Path, block: dict[str, Tensor]) -> None:
    save_file(block, here / "block.safetensors")
    (here / "specs" / "imlp_row" / "claims").mkdir()
    (here / "specs" / "imlp_row" / "claims" / "sec2.py").write_text(CLAIM, encoding="utf-8")
    asked = ("inspect", "block.safetensors", "specs/imlp_row", "-f", "json")
    (alone,) = json.loads(call(*asked).out)["weights"]["statements"]
    assert alone["verdict"] == "unverifiable"
    assert alone["reason"] == (
        "the Python in specs/imlp_row was not run, because the folder is not trusted; pass --trust-code to run it"
    )
    (trusted,) = json.loads(call(*asked, "--trust-code").out)["weights"]["statements"]
    assert (trusted["id"], trusted["paper"], trusted["verdict"]) == ("steep", "imlp_row", "unverifiable")
    assert trusted["reason"].startswith("these weights look untrained: ")
    assert trusted["reason"].endswith("; measured: all")
    assert [len(trusted["layers"]), len(trusted["values"]["sum"])] == [12, 12]
