"""Which of the things in a file are the weights: the choice, what is said of it, and the names."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel

from imlp_audit.checkpoint.contents import parse_states
from imlp_audit.checkpoint.loading import read_tensors
from imlp_audit.errors import CheckpointError
from tests.checkpoint.reading import parse, read_state


def one(value: float) -> dict[str, Tensor]:
    return {"w": torch.tensor([value])}


def saved(path: Path, value: object) -> Path:
    torch.save(value, path / "c.pth")
    return path / "c.pth"


@pytest.mark.parametrize(
    "wrapper", ["model", "state_dict", "model_state_dict", "model_ema", "state_dict_ema", "ema", "net"]
)
def test_one_state_is_found_by_any_name(tmp_path: Path, wrapper: str) -> None:
    path = saved(tmp_path, {wrapper: one(2), "epoch": 1})
    assert read_state(path) == one(2)
    assert parse(path).state.name == wrapper
    averaged = f"{wrapper} is a running average of the weights" in parse(path).state.notes
    assert averaged == ("ema" in wrapper)


@pytest.mark.parametrize("order", [("model_ema", "model"), ("model", "model_ema")])
def test_the_weights_come_before_their_average_and_the_choice_is_reported(
    tmp_path: Path, order: tuple[str, str]
) -> None:
    path = saved(tmp_path, {name: one(float(name == "model_ema")) for name in order})
    assert read_state(path) == one(0)
    assert parse(path).state.notes == ("model is used; the file also holds model_ema (choose with --state)",)
    assert read_state(path, "model_ema") == one(1)
    told = parse(path, "model_ema").state.notes
    assert told == (
        "model_ema is used; the file also holds model (choose with --state)",
        "model_ema is a running average of the weights",
    )


def test_a_state_in_a_state(tmp_path: Path) -> None:
    path = saved(tmp_path, {"checkpoint": {"state_dict": one(3), "args": None}, "date": "x"})
    assert read_state(path) == one(3)
    assert parse(path).state.name == "checkpoint.state_dict"
    assert parse(path).state.notes == ()


def test_a_state_by_its_name(tmp_path: Path) -> None:
    path = saved(tmp_path, {"student": one(1), "teacher": one(2)})
    assert read_state(path, "teacher") == one(2)
    with pytest.raises(CheckpointError, match=r"does not hold a state techer; did you mean 'teacher'\?"):
        read_state(path, "techer")


def test_the_file_itself_is_a_state(tmp_path: Path) -> None:
    path = saved(tmp_path, {**one(1), "epoch": 3, "extra": one(2)})
    assert read_state(path) == one(1)
    told = "the top level is used; the file also holds extra (choose with --state)"
    assert parse(path).state.notes == (told,)


@pytest.mark.parametrize("prefix", ["module.", "_orig_mod.", "_orig_mod.module.", "module._orig_mod.module."])
def test_wrappers_prefixes_are_cut_off_and_reported(tmp_path: Path, prefix: str) -> None:
    names = {f"{prefix}head.weight": torch.ones(2), f"{prefix}modules.weight": torch.zeros(3)}
    save_file(names, tmp_path / "c.safetensors")
    contents = parse(tmp_path / "c.safetensors")
    assert contents.shapes == {"head.weight": (2,), "modules.weight": (3,)}
    assert contents.state.notes == (f"prefix removed from the names: {prefix}",)
    assert torch.equal(read_state(tmp_path / "c.safetensors")["head.weight"], torch.ones(2))


def test_what_wraps_a_model_in_torch(tmp_path: Path) -> None:
    """The count of an average is not a weight; elsewhere a tensor of that name is one."""
    model = nn.Linear(2, 3)
    path = saved(tmp_path, AveragedModel(nn.DataParallel(model)).state_dict())
    assert list(parse(path).shapes) == ["weight", "bias"]
    path = saved(tmp_path, {**model.state_dict(), "n_averaged": torch.tensor(1)})
    assert list(parse(path).shapes) == ["weight", "bias", "n_averaged"]


def test_names_in_a_note_are_shown_escaped(tmp_path: Path) -> None:
    path = saved(tmp_path, {"model": one(1), "\x1b[2J": 1, "\x1b]0;x\x07": one(2)})
    assert all(note.isprintable() for note in parse(path).state.notes)


def test_every_state_is_returned_the_likeliest_first(tmp_path: Path) -> None:
    path = saved(tmp_path, {"small": one(1), "large": {**one(2), "v": torch.ones(1)}, "ema": one(3), "model": one(4)})
    assert [found.state.name for found in parse_states(path)] == ["model", "ema", "large", "small"]
    assert [found.state.name for found in parse_states(path, "small")] == ["small"]


def test_a_prefix_that_the_user_names(tmp_path: Path) -> None:
    path = saved(tmp_path, {"module.student.w": torch.ones(1), "module.teacher.w": torch.zeros(2), "other": one(1)})
    (found,) = parse_states(path, prefix="teacher.")
    assert found.shapes == {"w": (2,)}
    assert torch.equal(read_tensors(found)["w"], torch.zeros(2))
    assert found.state.notes[-2:] == (
        "left out, because their names do not begin with the prefix: module.student.w",
        "prefix removed from the names: module.teacher.",
    )
    words = r"has no name that begins with head\.; give another --prefix: it holds module\.student\.w, module\.teacher"
    with pytest.raises(CheckpointError, match=words):
        parse_states(path, prefix="head.")


BAD: dict[str, object] = {
    "numbered": {0: torch.ones(1)},
    "odd name": {"val loss\n": torch.ones(1)},
    "twice": {"module.w": torch.ones(1), "w": torch.ones(1)},
    "sparse": {"w": torch.eye(2).to_sparse(), "b": torch.ones(1)},
}


@pytest.mark.parametrize("kind", BAD)
def test_a_table_that_cannot_be_weights_does_not_stand_in_the_way_of_those_that_are(tmp_path: Path, kind: str) -> None:
    path = saved(tmp_path, {"model": one(1), "meters": BAD[kind]})
    (found,) = parse_states(path)
    assert found.state.name == "model"
    with pytest.raises(CheckpointError):
        parse_states(path, "meters")
    unclear = saved(tmp_path, {"model": BAD[kind], "ema": one(1)})  # the weights themselves cannot be read
    with pytest.raises(CheckpointError):
        parse_states(unclear)
    assert [found.state.name for found in parse_states(unclear, "ema")] == ["ema"]


def test_what_a_run_saves_of_itself_beside_the_weights_is_left_alone(tmp_path: Path) -> None:
    options = {"lr": 0.1}
    content = {"model": one(1), "config": options, "args": Namespace(config=options), "rng_state": torch.ones(3)}
    assert [found.state.name for found in parse_states(saved(tmp_path, content))] == ["model", ""]
