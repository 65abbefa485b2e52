"""Class maps."""

from __future__ import annotations

import json
import os
import pickle
from pathlib import Path

import pytest
from timm.data.readers.class_map import load_class_map

from imlp_audit.errors import DatasetError
from imlp_audit.evaluate.data.class_map import read_class_map


def write(folder: Path, held: str | bytes, name: str = "map.txt") -> Path:
    (folder / name).write_bytes(held.encode("utf-8") if isinstance(held, str) else held)
    return folder / name


@pytest.mark.parametrize(
    ("held", "index", "count"),
    [
        ("cat\ndog\nfox\n", {"cat": 0, "dog": 1, "fox": 2}, 3),
        ("cat\r\ndog\r\n\r\n", {"cat": 0, "dog": 1}, 2),
        ("\ufeffcat\n dog \n", {"cat": 0, "dog": 1}, 2),
        ("class 10\nclass 2", {"class 10": 0, "class 2": 1}, 2),
        ("cat\t281\ndog\t207", {"cat": 281, "dog": 207}, None),
        ("cat\t1\ndog\t0\npup\t0\n", {"cat": 1, "dog": 0, "pup": 0}, 2),
        ('["cat", "dog"]', {"cat": 0, "dog": 1}, 2),
        ('{"cat": 1, "dog": 0}', {"cat": 1, "dog": 0}, 2),
        ('{"cat": 5}', {"cat": 5}, None),
        ("u\u0308ber\n", {"\u00fcber": 0}, 1),
    ],
)
def test_forms(tmp_path: Path, held: str, index: dict[str, int], count: int | None) -> None:
    found = read_class_map(write(tmp_path, held))
    assert (found.index, found.count) == (index, count)


def test_a_list_of_names_is_read_as_timm_reads_it(tmp_path: Path) -> None:
    path = write(tmp_path, "n02\nn01\nn10\n")
    assert read_class_map(path).index == load_class_map(str(path))


@pytest.mark.parametrize(
    ("held", "told"),
    [
        ("", "the file is empty"),
        (" \n\n", "the file is empty"),
        ("[]", "the file is empty"),
        ("{}", "the file is empty"),
        ("cat\n\ndog", "entry 2 has '' for a name"),
        ("cat\ncat", "'cat' appears twice"),
        ("u\u0308\n\u00fc", "appears twice"),
        ("cat\tone\ndog\ttwo", "line 1 has 'one' after the tab, which is not an index"),
        ("cat\t-1", "index"),
        ("cat\t1.0", "index"),
        ("cat\t99999999999", "index"),
        ('{"cat": -1}', "'cat' has -1 for an index"),
        ('{"cat": 1.0}', "1.0 for an index"),
        ('{"cat": true}', "True for an index"),
        ('{"cat": 1e9}', "index"),
        ('{"cat": 99999999999}', "index"),
        ('{"cat": [1]}', "index"),
        ('{"cat": NaN}', "index"),
        ('{"cat": 0, "cat": 1}', "'cat' appears twice"),
        ('[["cat"]]', "entry 1 has ['cat'] for a name"),
        ("[1]", "entry 1 has 1 for a name"),
        ('{"cat": 0', "not valid JSON"),
        ('{"cat": ' + "9" * 5000 + "}", "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
        (b"\xff\xfec\0a\0t\0", "is not UTF-8: save"),
        (pickle.dumps({"cat": 0}), "is not UTF-8: save"),
    ],
)
def test_files_that_are_not_class_maps(tmp_path: Path, held: str | bytes, told: str) -> None:
    with pytest.raises(DatasetError) as raised:
        read_class_map(write(tmp_path, held))
    assert told in str(raised.value)
    assert "map.txt" in str(raised.value)
    assert "one name per line" in str(raised.value)


def test_a_pickle_is_not_opened(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="is a pickle, which could run code"):
        read_class_map(write(tmp_path, "cat\n", "map.pkl"))


def test_names_that_are_not_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    with (tmp_path / "huge.txt").open("wb") as file:
        file.truncate(2**24 + 1)
    for name, told in {"gone.txt": "does not exist", "pipe.txt": "is a pipe", "huge.txt": "larger than 16 MiB"}.items():
        with pytest.raises(DatasetError, match=told):
            read_class_map(tmp_path / name)


def test_a_lone_surrogate_can_be_written(tmp_path: Path) -> None:
    found = read_class_map(write(tmp_path, json.dumps(["\ud800"])))
    "".join(found.index).encode("utf-8")
