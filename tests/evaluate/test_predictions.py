"""Files of predictions: their columns, equal bytes for equal predictions, and never half a file."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from imlp_audit.errors import OutputError, UsageError
from imlp_audit.evaluate.predictions import ModelAnswer, Prediction, check_ending, write_predictions
from imlp_audit.spec.columns import Metric

PREDICTIONS = (
    Prediction("a/1.png", (3,), ModelAnswer((3, 1, 0, 2, 4), 0.5)),
    Prediction('b/with, "signs".png', (0, 2), ModelAnswer((1, 2, 0, 3, 4), 0.10000000149011612)),
    Prediction("c/broken.png", (1,), None),
)
COLUMNS = ["image", "labels", "top5", "probability", "readable"]


def test_csv_reads_back(tmp_path: Path) -> None:
    write_predictions(tmp_path / "p.csv", PREDICTIONS)
    with (tmp_path / "p.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert rows == [
        COLUMNS,
        ["a/1.png", "3", "3 1 0 2 4", "0.5", "true"],
        ['b/with, "signs".png', "0 2", "1 2 0 3 4", "0.10000000149011612", "true"],
        ["c/broken.png", "1", "", "", "false"],
    ]


def test_parquet_reads_back(tmp_path: Path) -> None:
    from pyarrow import parquet

    write_predictions(tmp_path / "p.parquet", PREDICTIONS)
    table = parquet.read_table(tmp_path / "p.parquet")
    assert table.column_names == COLUMNS
    assert table.to_pydict() == {
        "image": [one.image for one in PREDICTIONS],
        "labels": [[3], [0, 2], [1]],
        "top5": [[3, 1, 0, 2, 4], [1, 2, 0, 3, 4], []],
        "probability": [0.5, 0.10000000149011612, None],  # a number of 32 bits, so that nothing is rounded
        "readable": [True, True, False],
    }


@pytest.mark.parametrize("name", ["p.csv", "p.parquet"])
def test_equal_predictions_are_equal_bytes(tmp_path: Path, name: str) -> None:
    write_predictions(tmp_path / name, PREDICTIONS)
    first = (tmp_path / name).read_bytes()
    write_predictions(tmp_path / name, PREDICTIONS)
    assert (tmp_path / name).read_bytes() == first
    write_predictions(tmp_path / name, PREDICTIONS[:2])
    assert (tmp_path / name).read_bytes() != first


def test_right_is_an_accepted_class_among_the_first_guesses() -> None:
    one = PREDICTIONS[1]  # accepts 0 and 2, guesses 1, 2, 0, 3, 4
    assert [one.right(guesses) for guesses in (1, 2, 3, 5)] == [False, True, True, True]
    assert not PREDICTIONS[2].right(5)
    assert {metric: metric.guesses for metric in Metric} == {Metric.TOP1: 1, Metric.TOP5: 5}


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "p.csv"
    write_predictions(path, PREDICTIONS[:1])
    before = path.read_bytes()

    def full(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OutputError, match=r"p\.csv could not be written: No space left on device"):
        write_predictions(path, PREDICTIONS)
    assert [one.name for one in tmp_path.iterdir()] == ["p.csv"]
    assert path.read_bytes() == before


def test_a_file_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.touch(0o640)
    path.chmod(0o640)
    write_predictions(path, PREDICTIONS)
    assert path.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("name", ["p.json", "p", "p.csv.gz"])
def test_another_ending_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match=r"end the file name in \.parquet or \.csv"):
        check_ending(Path(name))
