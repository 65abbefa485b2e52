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
        ("", "it is empty"),
        (" \n\n", "it is empty"),
        ("[]", "it is empty"),
        ("{}", "it is empty"),
        ("cat\n\ndog", "entry 2 has no name but ''"),
        ("cat\ncat", "'cat' stands there twice"),
        ("u\u0308\n\u00fc", "stands there twice"),
        ("cat\tone\ndog\ttwo", "line 1 has 'one' after the tab, no index"),
        ("cat\t-1", "no index"),
        ("cat\t1.0", "no index"),
        ("cat\t99999999999", "no index"),
        ('{"cat": -1}', "'cat' has no index from 0 but -1"),
        ('{"cat": 1.0}', "no index from 0 but 1.0"),
        ('{"cat": true}', "no index from 0 but True"),
        ('{"cat": 1e9}', "no index"),
        ('{"cat": 99999999999}', "no index"),
        ('{"cat": [1]}', "no index"),
        ('{"cat": NaN}', "no index"),
        ('{"cat": 0, "cat": 1}', "'cat' stands there twice"),
        ('[["cat"]]', "entry 1 has no name but ['cat']"),
        ("[1]", "entry 1 has no name but 1"),
        ('{"cat": 0', "no JSON"),
        ('{"cat": ' + "9" * 5000 + "}", "no JSON"),
        ("[" * 100_000, "no JSON"),
        (b"\xff\xfec\0a\0t\0", "is no UTF-8 text"),
        (pickle.dumps({"cat": 0}), "is no UTF-8 text"),
    ],
)
def test_what_is_no_class_map(tmp_path: Path, held: str | bytes, told: str) -> None:
    with pytest.raises(DatasetError) as raised:
        read_class_map(write(tmp_path, held))
    assert told in str(raised.value)
    assert "map.txt" in str(raised.value)
    assert "one name a line" in str(raised.value)


def test_a_pickle_is_not_opened(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="is a pickle, which could hold code"):
        read_class_map(write(tmp_path, "cat\n", "map.pkl"))


def test_files_that_are_none(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    with (tmp_path / "huge.txt").open("wb") as file:
        file.truncate(2**24 + 1)
    for name, told in {"gone.txt": "is no file", "pipe.txt": "is no file", "huge.txt": "has more than"}.items():
        with pytest.raises(DatasetError, match=told):
            read_class_map(tmp_path / name)


def test_a_lone_surrogate_can_be_written(tmp_path: Path) -> None:
    found = read_class_map(write(tmp_path, json.dumps(["\ud800"])))
    "".join(found.index).encode("utf-8")
