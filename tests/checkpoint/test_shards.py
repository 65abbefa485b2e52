"""Weights in several files, by their index; and one of the files given alone."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from imlp_audit.checkpoint.contents import hash_sources, parse_states
from imlp_audit.checkpoint.loading import read_tensors
from imlp_audit.errors import CheckpointError
from tests.checkpoint.reading import load_into, parse, read_state

INDEX = "model.safetensors.index.json"
PARTS = ({"a": torch.arange(3.0), "c": torch.ones(2, 2)}, {"b": torch.zeros(4)})
Change = Callable[[Path, dict[str, str]], object]


def name(number: int) -> str:
    return f"model-{number:05}-of-00002.safetensors"


def write(folder: Path, parts: tuple[dict[str, Tensor], ...] = PARTS) -> dict[str, str]:
    for number, part in enumerate(parts, 1):
        save_file(part, folder / name(number))
    index = {tensor: name(number) for number, part in enumerate(parts, 1) for tensor in part}
    write_index(folder, index)
    return index


def write_index(folder: Path, index: object) -> Path:
    text = json.dumps({"metadata": {"total_size": 0}, "weight_map": index}, indent=2)
    (folder / INDEX).write_text(text, encoding="utf-8")
    return folder / INDEX


def test_the_tensors_of_all_shards_are_one_state(tmp_path: Path) -> None:
    write(tmp_path)
    (found,) = parse_states(tmp_path / INDEX, sums=True)
    assert read_tensors(found).keys() == {"a", "b", "c"}
    for name_, value in {**PARTS[0], **PARTS[1]}.items():
        assert torch.equal(read_tensors(found)[name_], value)
    assert str(found.container) == "sharded"
    assert found.size == sum(path.stat().st_size for path in tmp_path.iterdir())


def test_shards_of_torch(tmp_path: Path) -> None:
    """Their storages have the same keys."""
    index: dict[str, str] = {}
    for number, part in enumerate(PARTS):
        torch.save(part, tmp_path / f"{number}.bin")
        index |= dict.fromkeys(part, f"{number}.bin")
    found = read_state(write_index(tmp_path, index))
    assert all(torch.equal(found[name_], value) for name_, value in {**PARTS[0], **PARTS[1]}.items())


def test_the_digest_is_that_of_the_index_and_its_shards(tmp_path: Path) -> None:
    """As `sha256sum INDEX SHARD... | sha256sum` prints it."""
    write(tmp_path)
    files = [tmp_path / INDEX, tmp_path / name(1), tmp_path / name(2)]
    printed = "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files)
    found = hash_sources(parse(tmp_path / INDEX).sources)
    assert found == hashlib.sha256(printed.encode()).hexdigest()


def test_a_shard_alone_is_refused_with_the_index_to_give(tmp_path: Path) -> None:
    write(tmp_path)
    with pytest.raises(CheckpointError, match=rf"is one of 2 shards of a model; give their index, {INDEX}"):
        parse(tmp_path / name(1))
    (tmp_path / INDEX).unlink()
    words = rf"does not fit(.|\n)*one of 2 shards; if it is, give their index, {INDEX}, with all beside it"
    with pytest.raises(CheckpointError, match=words):
        load_into(nn.Linear(2, 2), parse(tmp_path / name(1)))
    epoch = tmp_path / "epoch-00010-of-00100.pth"  # a whole checkpoint with such a name
    torch.save(nn.Linear(2, 2).state_dict(), epoch)
    load_into(nn.Linear(2, 2), parse(epoch))
    save_file(PARTS[0], tmp_path / "model-00001-of-00001.safetensors")
    assert read_state(tmp_path / "model-00001-of-00001.safetensors").keys() == PARTS[0].keys()


def changed(change: Callable[[dict[str, str]], object]) -> Change:
    return lambda folder, index: (change(index), write_index(folder, index))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (changed(lambda index: index.update(a=f"../{name(1)}")), "names files that do not lie beside it: ../model-"),
        (changed(lambda index: index.update(a="/etc/passwd")), "names files that do not lie beside it: /etc/passwd"),
        (changed(lambda index: index.update(a="..")), "names files that do not lie beside it"),
        (changed(lambda index: index.update(a="x\x1b[2J")), r"x\x1b[2J"),
        (changed(lambda index: index.update(a=INDEX)), "names another index"),
        (changed(lambda index: index.update(a="gone.safetensors")), "gone.safetensors does not exist"),
        (changed(lambda index: index.update(a=name(2))), "name different tensors (a); download"),
        (changed(lambda index: index.update(d=name(2))), "name different tensors (d); download"),
        (changed(lambda index: index.pop("c")), "name different tensors (c); download"),
        (lambda folder, _: write_index(folder, {}), "without a table weight_map of files"),
        (lambda folder, _: write_index(folder, {"a": 1}), "without a table weight_map of files"),
        (lambda folder, _: write_index(folder, ["a"]), "without a table weight_map of files"),
        (lambda folder, _: (folder / INDEX).write_text('{"weight_map": '), "is not JSON"),
        (lambda folder, _: (folder / INDEX).write_text('{"weight_map": ' + "[" * 99999), "is not JSON"),
        (lambda folder, _: (folder / name(2)).write_bytes(b""), "is empty"),
        (lambda folder, _: torch.save({"b": {"x": torch.ones(1)}}, folder / name(2)), "not a plain tensor"),
    ],
)
def test_an_index_that_is_not_true_is_refused(tmp_path: Path, change: Change, words: str) -> None:
    change(tmp_path, write(tmp_path))
    with pytest.raises(CheckpointError) as refused:
        read_state(tmp_path / INDEX)
    assert words in str(refused.value)
    assert str(refused.value).isprintable()


def test_a_shard_that_changed_since_it_was_parsed_is_not_read(tmp_path: Path) -> None:
    write(tmp_path)
    found = parse(tmp_path / INDEX)
    save_file({"b": torch.ones(4)}, tmp_path / name(2))
    with pytest.raises(CheckpointError, match=rf"{name(2)} changed while it was being read"):
        read_tensors(found)
