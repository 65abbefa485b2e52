"""`imlp-audit lipschitz`: bounds of new blocks and of checkpoints, and files that hold none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor

from imlp_audit.models.imlp import amlp
from tests.models.released import ReleasedBlock

from .running import call


def state(width: int = 3, hidden: int = 4) -> dict[str, Tensor]:
    torch.manual_seed(0)
    module = amlp(width, hidden)
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            if "agelu" in name:
                parameter.add_(torch.randn_like(parameter) / 2)
    return {f"blocks.{i}.mlp.{name}": value.clone() for i in (0, 1) for name, value in module.state_dict().items()}


@pytest.mark.slow
def test_a_new_block(here: Path) -> None:
    done = call("lipschitz", "--width", "4", "--seed", "3")
    assert (done.code, done.err) == (0, "")
    assert "C = 4 channels, C' = 16: two branches of 8 hidden units each" in done.out
    assert "proven by Theorem 1, with rho = " in done.out


def test_markdown(here: Path) -> None:
    assert call("lipschitz", "--width", "4", "-f", "markdown").out.startswith("## Lipschitz constant of a new block")


@pytest.mark.daily(1)
@pytest.mark.parametrize("ending", ["safetensors", "pth"])
def test_a_checkpoint(here: Path, ending: str) -> None:
    path = here / f"weights.{ending}"
    if ending == "pth":
        torch.save({"model": state()}, path)
    else:
        save_file(state(), path)
    found = json.loads(call("lipschitz", str(path), "-f", "json").out)
    assert found["block"] == "blocks.0.mlp"
    assert (found["width"], found["hidden"]) == (3, 4)
    assert found["gradient"] <= found["bound"] <= found["product"]
    other = json.loads(call("lipschitz", str(path), "--block", "blocks.1.mlp", "-f", "json").out)
    assert other["bound"] == found["bound"]


def test_the_released_names_are_ours(here: Path) -> None:
    torch.manual_seed(0)
    save_file({f"b.mlp.{k}": v for k, v in ReleasedBlock(3, 4, 3).state_dict().items()}, here / "released.safetensors")
    found = json.loads(call("lipschitz", "released.safetensors", "-f", "json").out)
    assert (found["block"], found["width"], found["hidden"]) == ("b.mlp", 3, 4)


def test_an_unknown_block(here: Path) -> None:
    save_file(state(), here / "weights.safetensors")
    done = call("lipschitz", "weights.safetensors", "--block", "blocks.2.mlp")
    assert done.code == 2
    assert "no IMLP block 'blocks.2.mlp'; did you mean 'blocks." in done.err


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_parameters_that_are_not_finite_are_refused_by_name(here: Path, value: float) -> None:
    broken = state()
    broken["blocks.0.mlp.act.agelu2.beta"][1] = value
    save_file(broken, here / "weights.safetensors")
    done = call("lipschitz", "weights.safetensors")
    assert done.code == 2
    assert "blocks.0.mlp.act.agelu2.beta has numbers that are not finite" in done.err


def test_a_part_that_is_missing_is_named(here: Path) -> None:
    broken = state()
    del broken["blocks.0.mlp.act.agelu2.gamma"]
    save_file(broken, here / "weights.safetensors")
    assert "blocks.0.mlp.act.agelu2.gamma is missing" in call("lipschitz", "weights.safetensors").err


def test_widths_that_do_not_fit(here: Path) -> None:
    broken = state()
    broken["blocks.0.mlp.fc2.weight"] = torch.ones(3, 7)
    save_file(broken, here / "weights.safetensors")
    done = call("lipschitz", "weights.safetensors")
    assert done.code == 2
    assert "blocks.0.mlp.fc2.weight has 7 input channels; expected twice fc1's 4" in done.err


NAME = "blocks.0.mlp."


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("act.agelu1.beta", torch.ones(3), "has 3 numbers; 1 or 4 were expected"),
        ("fc1.bias", torch.ones(5), "has 5 numbers; 1 or 4 were expected"),
        ("fc1.weight", torch.ones(0, 3), "has shape [0, 3]; a matrix was expected"),
        ("fc1.weight", torch.ones(12), "has shape [12]; a matrix was expected"),
        ("fc1.weight", torch.ones(4, 3, 3, 3), "has shape [4, 3, 3, 3]; a matrix was expected"),
        ("fc1.weight", torch.ones(4, 3, dtype=torch.complex64), "not a plain tensor"),
        ("fc2.weight", torch.ones(3, 8).to_sparse(), "not a plain tensor"),
        ("fc2.weight", torch.ones(3, 8, device="meta"), "not a plain tensor"),
        ("fc2.weight", torch.full((3, 8), 1e200, dtype=torch.float64), "too large to multiply"),
        ("conv1.weight", torch.ones(4, 3), "are two names of the same tensor"),
        ("act1.move1.scale", torch.ones(4), "are two names of the same tensor"),
    ],
)
def test_a_tensor_that_cannot_be_used_is_named(here: Path, name: str, value: Tensor, told: str) -> None:
    torch.save({**state(), NAME + name: value}, here / "weights.pth")
    done = call("lipschitz", "weights.pth", "--block", "blocks.0.mlp")
    assert (done.code, done.out) == (2, "")
    assert NAME in done.err
    assert told in done.err


def test_one_coefficient_for_all_channels(here: Path) -> None:
    torch.save({**state(), f"{NAME}act.agelu1.alpha": torch.ones(1)}, here / "weights.pth")
    assert call("lipschitz", "weights.pth").code == 0


@pytest.mark.parametrize("arguments", [("--block", "x"), ("weights.safetensors", "--width", "4"), ("--width", "0")])
def test_options_that_do_not_go_together(here: Path, arguments: tuple[str, ...]) -> None:
    save_file(state(), here / "weights.safetensors")
    done = call("lipschitz", *arguments)
    assert (done.code, done.out) == (2, "")


def test_a_module_that_is_the_whole_file(here: Path) -> None:
    save_file(
        {name.removeprefix(NAME): v for name, v in state().items() if name.startswith(NAME)}, here / "w.safetensors"
    )
    assert call("lipschitz", "w.safetensors").out.startswith("Lipschitz constant of the module")


@pytest.mark.parametrize("content", [b"", b"no checkpoint", b"\x80\x04K\x01.", b"PK\x03\x04"])
@pytest.mark.parametrize("ending", ["safetensors", "pth", "bin"])
def test_files_that_are_not_checkpoints(here: Path, content: bytes, ending: str) -> None:
    path = here / f"weights.{ending}"
    path.write_bytes(content)
    done = call("lipschitz", str(path))
    assert (done.code, done.out) == (2, "")
    assert "weights" in done.err


class Hostile:
    def __reduce__(self) -> tuple[object, tuple[Path]]:
        return Path.touch, (Path("touched"),)


def test_code_in_a_pickle_is_not_run(here: Path) -> None:
    torch.save({"model": Hostile()}, here / "weights.pth")
    done = call("lipschitz", "weights.pth")
    assert done.code == 2
    assert "contains more than tensors" in done.err
    assert not (here / "touched").exists()


def test_a_checkpoint_without_imlp_blocks(here: Path) -> None:
    save_file({"head.weight": torch.ones(2)}, here / "weights.safetensors")
    done = call("lipschitz", "weights.safetensors")
    assert done.code == 2
    assert "has no IMLP block" in done.err


def test_a_file_that_is_not_there(here: Path) -> None:
    done = call("lipschitz", "nowhere.safetensors")
    assert done.code == 2
    assert "nowhere.safetensors does not exist" in done.err


@pytest.mark.slow
def test_a_solver_out_of_time_gives_no_bound(here: Path) -> None:
    done = call("lipschitz", "--width", "24", "--time-limit", "0.001")
    assert (done.code, done.out) == (3, "")
    assert "scs ended with status" in done.err
