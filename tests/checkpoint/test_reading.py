"""Checkpoints as they are: all containers, types and layouts in memory, read back as they were written."""

from __future__ import annotations

import argparse
import hashlib
import pickle
import zipfile
from collections import Counter, OrderedDict
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.torch import save_file
from torch import Tensor, nn

from imlp_audit.checkpoint.contents import hash_file
from imlp_audit.checkpoint.loading import read_tensors
from imlp_audit.checkpoint.pickles import BYTES
from imlp_audit.errors import CheckpointError
from tests.checkpoint.reading import parse, read_state

from .pickles import archive, table, tensor

NEW = ("float8", "uint16", "uint32", "uint64")  # types without a storage class of their own
ENDINGS = (".pth", ".pt", ".bin", ".pth.tar", ".safetensors", "")


def weights() -> dict[str, Tensor]:
    """One tensor of each type, and of each odd shape."""
    torch.manual_seed(0)
    ones = {dtype: torch.ones(2, 3).to(getattr(torch, dtype)) for dtype in BYTES}
    shapes = {"scalar": torch.tensor(1.5), "none": torch.zeros(0), "no_rows": torch.zeros(0, 7), "one": torch.randn(1)}
    return {**ones, **shapes, "matrix": torch.randn(5, 4)}


def assert_same(found: dict[str, Tensor], expected: dict[str, Tensor]) -> None:
    assert list(found) == list(expected)
    for name, value in expected.items():
        assert found[name].dtype == value.dtype
        assert found[name].shape == value.shape
        assert found[name].view(torch.uint8).equal(value.view(torch.uint8)) if value.ndim else found[name] == value
        assert not found[name].requires_grad


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("zipped", [True, False])
def test_torch_files_by_any_ending(tmp_path: Path, ending: str, zipped: bool) -> None:
    path = tmp_path / f"weights{ending}"
    written = {name: value for name, value in weights().items() if zipped or not name.startswith(NEW)}
    torch.save(written, path, _use_new_zipfile_serialization=zipped)
    assert_same(read_state(path), written)
    assert parse(path).shapes == {name: tuple(value.shape) for name, value in written.items()}


def test_types_that_torch_does_not_read_from_its_old_format(tmp_path: Path) -> None:
    torch.save({"w": torch.ones(2).to(torch.uint16)}, tmp_path / "w.pth", _use_new_zipfile_serialization=False)
    with pytest.raises(CheckpointError, match=r"types of numbers .* cannot read from it; save"):
        parse(tmp_path / "w.pth")


@pytest.mark.parametrize("ending", ENDINGS)
def test_safetensors_by_any_ending(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"weights{ending}"
    known = {name: value for name, value in weights().items() if "fnuz" not in name and name != "complex128"}
    save_file(known, path, {"format": "pt"})
    found = read_state(path)
    assert_same({name: found[name] for name in known}, known)
    assert parse(path).shapes == {name: tuple(value.shape) for name, value in known.items()}


@pytest.mark.parametrize("zipped", [True, False])
def test_what_a_training_script_saves(tmp_path: Path, zipped: bool) -> None:
    """Nothing of it is opened but what state_dict, optimizers, schedulers and options hold."""
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))
    averages = {number: {"step": torch.tensor(1.0), "exp_avg": p.data} for number, p in enumerate(model.parameters())}
    saved = {
        "model": model.state_dict(),
        "optimizer": {"state": averages, "param_groups": [{"lr": 0.1, "betas": (0.9, 0.999), "params": [0, 1, 2]}]},
        "lr_scheduler": {"milestones": Counter({30: 1, 60: 1}), "base_lrs": [0.1], "gamma": 0.1, "last_epoch": 3},
        "epoch": 3,
        "args": argparse.Namespace(
            lr=0.1, size=torch.Size([3]), device=torch.device("cpu"), of=torch.float16, name=b"a"
        ),
        "best": {"top1": 0.5, "steps": Counter([1]), "order": OrderedDict(a=None), "large": 2**40},
    }
    torch.save(saved, tmp_path / "c.pth", _use_new_zipfile_serialization=zipped)
    contents = parse(tmp_path / "c.pth")
    assert contents.state.name == "model"
    assert_same(read_state(tmp_path / "c.pth"), dict(model.state_dict()))
    assert contents.parameters == 3 * 4 + 4 + 2 * 4 + 4 * 2 + 2
    assert contents.dtypes == {"float32": 8, "int64": 1}


def test_parameters_and_shared_storages(tmp_path: Path) -> None:
    """Views are read where they lie: a transposed one, a slice, one table by two names."""
    whole = torch.arange(24.0).reshape(4, 6)
    saved = {
        "p": nn.Parameter(whole),
        "t": whole.t(),
        "s": whole[1:3, 2:5],
        "again": whole,
        "c": torch.ones(2, 3, 4, 4),
    }
    saved["c"] = saved["c"].to(memory_format=torch.channels_last)
    torch.save(saved, tmp_path / "views.pth")
    found = read_state(tmp_path / "views.pth")
    assert all(torch.equal(found[name], value) for name, value in saved.items())
    assert all(found[name].stride() == value.stride() for name, value in saved.items())


def test_a_file_without_checksums_is_read(tmp_path: Path) -> None:
    torch.serialization.set_crc32_options(False)
    try:
        torch.save({"w": torch.ones(3)}, tmp_path / "w.pth")
    finally:
        torch.serialization.set_crc32_options(True)
    assert torch.equal(read_state(tmp_path / "w.pth")["w"], torch.ones(3))


def test_a_file_by_hand_is_as_torch_writes_it(tmp_path: Path) -> None:
    """The corpus is built by hand; what it changes is the only thing wrong with it."""
    archive(tmp_path / "w.pth", table({"w": tensor((2, 3), (3, 1), numel=6)}), torch.arange(6.0).numpy().tobytes())
    assert torch.equal(read_state(tmp_path / "w.pth")["w"], torch.arange(6.0).reshape(2, 3))


def test_an_archive_packed_again(tmp_path: Path) -> None:
    torch.save({"w": torch.arange(6.0)}, tmp_path / "w.pth")
    with zipfile.ZipFile(tmp_path / "w.pth") as old, zipfile.ZipFile(tmp_path / "again.pth", "w") as new:
        for name in old.namelist():
            with new.open(zipfile.ZipInfo(name), "w", force_zip64=True) as file:
                file.write(old.read(name))
    assert torch.equal(read_state(tmp_path / "again.pth")["w"], torch.arange(6.0))


def test_a_link_to_a_file_is_that_file(tmp_path: Path) -> None:
    save_file({"w": torch.ones(1)}, tmp_path / "blob")
    (tmp_path / "w.safetensors").symlink_to("blob")
    assert parse(tmp_path / "w.safetensors").shapes == {"w": (1,)}


def test_a_digest_is_of_the_file_that_was_parsed(tmp_path: Path) -> None:
    path = tmp_path / "w.safetensors"
    save_file({"w": torch.ones(1)}, path)
    parsed = parse(path)
    assert hash_file(parsed) == hashlib.sha256(path.read_bytes()).hexdigest()
    save_file({"w": torch.zeros(2)}, path)
    with pytest.raises(CheckpointError, match="changed while it was being read"):
        hash_file(parsed)
    path.unlink()
    with pytest.raises(CheckpointError, match="does not exist"):
        hash_file(parsed)


@pytest.mark.parametrize("zipped", [True, False])
def test_no_other_unpickler_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, zipped: bool) -> None:
    """And what torch's own would have read is the same."""
    written = {"model": {"w": torch.randn(3, 4)[1:]}, "at": Path("/x")}
    torch.save(written, tmp_path / "w.pth", _use_new_zipfile_serialization=zipped)
    theirs = torch.load(tmp_path / "w.pth", weights_only=False)["model"]
    for module, name in ((torch, "load"), (pickle, "load"), (pickle, "loads"), (pickle, "Unpickler")):
        monkeypatch.delattr(module, name)
    assert_same(read_state(tmp_path / "w.pth"), theirs)
    assert parse(tmp_path / "w.pth").state.unopened == ("pathlib.PosixPath",)


@pytest.mark.parametrize("name", ["w.pth", "w.safetensors"])
def test_a_file_that_changed_since_it_was_parsed_is_not_read(tmp_path: Path, name: str) -> None:
    """A file is parsed once, and that is only as good as long as the file stays the same."""
    write = save_file if name.endswith("safetensors") else torch.save
    write({"w": torch.ones(1)}, tmp_path / name)
    parsed = parse(tmp_path / name)
    assert read_tensors(parsed)["w"] == 1
    write({"w": torch.zeros(1)}, tmp_path / name)
    with pytest.raises(CheckpointError, match="changed while it was being read; run the command again"):
        read_tensors(parsed)


GOOD = ("zip", "legacy", "safetensors")


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("good")
    state = {"model": nn.Linear(2, 3).state_dict(), "epoch": 1}
    torch.save(state, folder / "zip")
    torch.save(state, folder / "legacy", _use_new_zipfile_serialization=False)
    save_file(nn.Linear(2, 3).state_dict(), folder / "safetensors")
    return {name: (folder / name).read_bytes() for name in GOOD}


@pytest.mark.parametrize("kind", GOOD)
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_changed_file_is_refused_or_read(
    tmp_path: Path, good: dict[str, bytes], kind: str, data: st.DataObject
) -> None:
    """Whatever bytes are changed, cut off or put in between: an error that names the file, or whole tensors."""
    content = bytearray(good[kind])
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(content) - 1))
        length = data.draw(st.integers(0, 4))
        content[at : at + length] = data.draw(st.binary(max_size=4))
    path = tmp_path / "changed"
    path.write_bytes(content)
    told, found = f"{path} ", {}
    try:
        found = read_state(path)
    except CheckpointError as error:
        told = str(error)
    assert told.startswith(f"{path} ")
    assert told.isprintable()
    assert not found or parse(path).shapes == {name: tuple(value.shape) for name, value in found.items()}
