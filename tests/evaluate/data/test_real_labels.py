"""ReaL labels."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from timm.data.real_labels import RealLabelsImagenet

from imlp_audit.errors import DatasetError
from imlp_audit.evaluate.data.imagenet import SHIPPED, match_real_labels, read_real_labels


def name(number: int) -> str:
    return f"ILSVRC2012_val_{number:08d}.JPEG"


def write(folder: Path, held: object) -> Path:
    (folder / "real.json").write_text(json.dumps(held), encoding="utf-8")
    return folder / "real.json"


def labels_with(**changed: object) -> list[object]:
    held: list[object] = [[number % 1000] for number in range(50_000)]
    for place, value in changed.items():
        held[int(place.removeprefix("at")) - 1] = value
    return held


def test_the_labels_that_timm_ships_are_the_papers() -> None:
    """Beyer et al. 2020: of 50 000 images 46 837 have labels."""
    labels = read_real_labels(SHIPPED)
    assert (len(labels), sum(map(bool, labels))) == (50_000, 46_837)
    assert {label for accepted in labels for label in accepted} == set(range(1000))
    timms = RealLabelsImagenet([name(n) for n in range(1, 50_001)]).real_labels
    assert all(set(timms[name(n)]) == set(labels[n - 1]) for n in range(1, 50_001))


def test_labels_go_by_the_number_in_the_name(tmp_path: Path) -> None:
    path = write(tmp_path, labels_with(at7=[], at50000=[3, 1, 3]))
    assert match_real_labels(path, [f"n0/{name(7)}", name(2), f"a/b/{name(50_000)}"]) == ((), (1,), (1, 3))


@pytest.mark.parametrize(
    "other", ["n0/1.JPEG", f"n0/{name(0)}", f"n0/{name(50_001)}", f"n0/x{name(1)}", f"{name(1)}/x"]
)
def test_other_images_have_none(other: str) -> None:
    with pytest.raises(DatasetError, match="is not named ILSVRC2012_val_NNNNNNNN"):
        match_real_labels(SHIPPED, [name(1), other])


def test_an_image_in_two_folders_is_refused() -> None:
    with pytest.raises(DatasetError, match=f"n0/{name(1)} and n1/{name(1)} are the same validation image"):
        match_real_labels(SHIPPED, [f"n0/{name(1)}", f"n1/{name(1)}"])


@pytest.mark.parametrize(
    ("held", "told"),
    [
        ({}, "holds a dict"),
        ([[1]], "holds 1 entries"),
        (labels_with(at2=3), "entry 2 is 3"),
        (labels_with(at2=[1000]), r"entry 2 is \[1000\]"),
        (labels_with(at2=[-1]), "entry 2"),
        (labels_with(at2=[True]), "entry 2"),
        (labels_with(at2=["1"]), "entry 2"),
        (labels_with(at50000=None), "entry 50000 is None"),
    ],
)
def test_files_that_are_not_real_labels(tmp_path: Path, held: object, told: str) -> None:
    with pytest.raises(DatasetError, match=f"real.json.*{told}.*a JSON list of 50000 lists"):
        read_real_labels(write(tmp_path, held))


def test_names_that_are_not_files(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_bytes(b"[1,")
    (tmp_path / "raw.json").write_bytes(b"\xff\xfe")
    (tmp_path / "deep.json").write_text("[" * 200_000)
    with (tmp_path / "huge.json").open("wb") as file:
        file.truncate(2**24 + 1)
    told = {
        "gone": "does not exist",
        "bad": "is not JSON",
        "raw": "is not UTF-8",
        "deep": "is not JSON",
        "huge": "larger than",
    }
    for stem, reason in told.items():
        with pytest.raises(DatasetError, match=reason):
            read_real_labels(tmp_path / f"{stem}.json")


def test_a_file_called_timm_is_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("timm").write_text("[]")
    with pytest.raises(DatasetError, match="holds 0 entries"):
        read_real_labels(SHIPPED)
