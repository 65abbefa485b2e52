"""Finding the images below a folder."""

from __future__ import annotations

import os
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from timm.data.readers.reader_image_folder import find_images_and_targets
from timm.utils.misc import natural_key as timms_key

from imlp_audit.errors import DatasetError
from imlp_audit.evaluate.data.folder import chosen_folder, in_order, list_images, natural_key, readable_id


def touch(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()


def test_the_order_is_timms(tmp_path: Path) -> None:
    touch(tmp_path, "2/b10.png", "2/B9.PNG", "10/a.jpg", "1/x.JPEG", "2/b2.jpeg", "cat/1.png", "Dog/1.png")
    expected, _ = find_images_and_targets(str(tmp_path))
    assert [str(tmp_path / one) for one in list_images(tmp_path).ids] == [path for path, _ in expected]
    assert list_images(tmp_path).folders == ("1", "2", "10", "cat", "Dog")


@given(st.lists(st.text("ab019/.", min_size=1, max_size=6), unique=True, min_size=2))
def test_sorting_is_timms_except_for_ties(names: list[str]) -> None:
    ours = sorted(names, key=natural_key)
    assert [timms_key(one) for one in ours] == sorted(map(timms_key, names))


def test_ties_do_not_depend_on_the_disk(tmp_path: Path) -> None:
    names = ["a/001.png", "a/01.png", "a/1.png", "a/X.png", "a/x.png"]
    touch(tmp_path, *names)
    assert list(list_images(tmp_path).ids) == names
    for shuffled in permutations(names):
        assert list(in_order(shuffled)) == names


def test_a_number_may_have_any_length() -> None:
    assert sorted(["9" * 5000, "1" + "0" * 5000, "7"], key=natural_key) == ["7", "9" * 5000, "1" + "0" * 5000]


def test_names_that_crash_timm(tmp_path: Path) -> None:
    touch(tmp_path, "1²2/a.png")
    with pytest.raises(ValueError, match="invalid literal"):
        find_images_and_targets(str(tmp_path))
    assert list_images(tmp_path).ids == ("1²2/a.png",)


def test_files_that_are_not_images_are_counted(tmp_path: Path) -> None:
    touch(
        tmp_path, "a/1.png", "a/2.webp", "a/3.WEBP", "a/._1.png", "a/README", ".git/x.png", "val.tar", "a/.png", "a/x."
    )
    os.mkfifo(tmp_path / "a" / "pipe.png")
    found = list_images(tmp_path)
    assert found.ids == ("a/1.png",)
    assert found.skipped == {
        ".": 1,
        ".tar": 1,
        ".webp": 2,
        "hidden": 3,
        "neither files nor folders": 1,
        "without an ending": 1,
    }


def test_links_are_followed(tmp_path: Path) -> None:
    touch(tmp_path, "store/1.png", "store/dogs/2.png")
    (tmp_path / "set" / "cat").mkdir(parents=True)
    (tmp_path / "set" / "cat" / "one.png").symlink_to(tmp_path / "store" / "1.png")
    (tmp_path / "set" / "cat" / "lost.png").symlink_to("nowhere")
    (tmp_path / "set" / "cat" / "self.png").symlink_to("self.png")
    (tmp_path / "set" / "dog").symlink_to(tmp_path / "store" / "dogs")
    assert list_images(tmp_path / "set").ids == ("cat/lost.png", "cat/one.png", "cat/self.png", "dog/2.png")


@pytest.mark.parametrize("target", [".", "..", "../b"])
def test_a_folder_that_is_met_twice_is_refused(tmp_path: Path, target: str) -> None:
    touch(tmp_path, "a/1.png", "b/2.png")
    (tmp_path / "a" / "again").symlink_to(target)
    with pytest.raises(DatasetError, match=r"so its images would count twice or without end"):
        list_images(tmp_path)


def test_links_that_branch_for_ever_end(tmp_path: Path) -> None:
    for depth in range(40):
        (tmp_path / f"d{depth}").mkdir()
        for name in "ab":
            (tmp_path / f"d{depth}" / name).symlink_to(tmp_path / f"d{depth + 1}")
    with pytest.raises(DatasetError, match="is a link to"):
        list_images(tmp_path / "d0")


def test_a_folder_that_cannot_be_listed(tmp_path: Path) -> None:
    touch(tmp_path, "a")
    with pytest.raises(DatasetError, match="a cannot be listed: Not a directory"):
        list_images(tmp_path / "a")


def test_names_in_any_script_are_composed(tmp_path: Path) -> None:
    touch(tmp_path, "u\u0308ber/1.png", "日本/猫.png")
    assert list_images(tmp_path).ids == ("\u00fcber/1.png", "日本/猫.png")
    assert (tmp_path / list_images(tmp_path).files[0]).exists()


def test_two_forms_of_one_name_are_refused(tmp_path: Path) -> None:
    touch(tmp_path, "u\u0308/1.png", "\u00fc/1.png")
    with pytest.raises(DatasetError, match=r"two names differ only in their Unicode form: 'ü/1\.png'"):
        list_images(tmp_path)


def test_ids_can_be_written_and_shown() -> None:
    assert readable_id(os.fsdecode(b"caf\xe9/\x1b[2J\n.png")) == "caf\\udce9/\\x1b[2J\\n.png"
    readable_id("lone \ud800").encode("utf-8")


@pytest.mark.parametrize(
    ("there", "split", "chosen"),
    [
        (["val"], "validation", "val"),
        (["validation", "val"], "val", "val"),
        (["valid", "train"], "validation", "valid"),
        (["eval"], "val", "eval"),
        (["training", "val"], "train", "training"),
        (["test", "val"], "test", "test"),
        (["val"], "test", "."),
        (["cat", "dog"], "validation", "."),
        (["val"], "", "."),
    ],
)
def test_the_folder_of_a_split(tmp_path: Path, there: list[str], split: str, chosen: str) -> None:
    for name in there:
        (tmp_path / name).mkdir()
    assert chosen_folder(tmp_path, split) == tmp_path / chosen
