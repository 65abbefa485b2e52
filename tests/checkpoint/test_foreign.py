"""Weights in another form: the message has the line that makes them usable, and the line does."""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn

from imlp_audit.errors import CheckpointError
from tests.checkpoint.reading import parse, read_state

MODEL = nn.Linear(2, 3)


def script(path: Path) -> None:
    torch.jit.save(torch.jit.script(MODEL), str(path))


def whole(path: Path) -> None:
    torch.save({"model": MODEL}["model"], path)


def bare(path: Path) -> None:
    path.write_bytes(pickle.dumps(dict(MODEL.state_dict())))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("make", "kind"),
    [(script, "a TorchScript archive"), (whole, "a whole model"), (bare, "a pickle")],
)
def test_the_line_makes_it_usable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], None], kind: str
) -> None:
    monkeypatch.chdir(tmp_path)
    make(tmp_path / "FILE")
    with pytest.raises(CheckpointError, match=kind) as refused:
        parse(Path("FILE"))
    (line,) = re.findall(r"`(torch\.save.*)`", str(refused.value))
    exec(line, {"torch": torch, "pickle": pickle, "open": open})  # what the user would run
    found = read_state(Path("weights.pth"))
    assert found.keys() == MODEL.state_dict().keys()
    assert all(torch.equal(found[name], value) for name, value in MODEL.state_dict().items())


def test_an_archive_names_the_weights_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with zipfile.ZipFile("FILE", "w") as file:
        file.writestr("release/README.md", "read me")
        file.writestr("release/weights.pth", b"")
    with pytest.raises(CheckpointError, match=r"run `unzip FILE` and give .* inside \(release/weights\.pth\)"):
        parse(Path("FILE"))
    subprocess.run(["tar", "-cf", "FILE", "/dev/null"], check=True, capture_output=True)
    with pytest.raises(CheckpointError, match=r"run `tar -xf FILE` and give"):
        parse(Path("FILE"))


@pytest.mark.parametrize(
    ("files", "words"),
    [
        (["config.json", "model.safetensors"], "give the file of weights in it (model.safetensors)"),
        (["a.pth", "b.pth"], "give the file of weights in it (a.pth, b.pth)"),
        (["notes.txt"], "is a folder, not a file; give the file of weights in it"),
        (["\x1b[2J.pth"], r"in it (\x1b[2J.pth)"),
    ],
)
def test_a_folder_names_what_to_give(tmp_path: Path, files: list[str], words: str) -> None:
    for file in files:
        (tmp_path / file).touch()
    with pytest.raises(CheckpointError) as refused:
        parse(tmp_path)
    assert words in str(refused.value)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_may_not_be_read(tmp_path: Path) -> None:
    tmp_path.chmod(0)
    with pytest.raises(CheckpointError, match="cannot be read"):
        parse(tmp_path)
    tmp_path.chmod(0o700)
