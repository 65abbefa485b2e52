"""The class of each image: class folders, class maps, and ImageNet-1k as it was published."""

from __future__ import annotations

import os
import pickle
from dataclasses import replace
from pathlib import Path

import pytest
from timm.data import ImageNetInfo
from timm.data.real_labels import RealLabelsImagenet

from imlp_audit.errors import DatasetError
from imlp_audit.evaluate.images import FileImages, Images
from imlp_audit.evaluate.labels import (
    Classes,
    assign_classes,
    check_order,
    class_folders,
    imagenet_classes,
    match_real_labels,
    read_class_map,
    real_labels,
    validation_number,
)
from tests.evaluate.folders import sorted_like_imagenet

PUBLISHED = imagenet_classes()


@pytest.mark.parametrize(
    ("ids", "told"),
    [
        (["1.png"], "DIR has images in no class folder, so of an unknown class: 1.png; move"),
        (["1.png", "a/2.png", "3.png"], "unknown class: 1.png, 3.png; move"),
        ([f"{n}.png" for n in range(9)], "unknown class: 0.png, 1.png, 2.png and 6 more; move"),
        (
            ["train/a/1.png"],
            "has images deeper than DIR/CLASS/IMAGE, where timm and torchvision read different",
        ),
    ],
)
def test_images_without_a_class_are_refused(ids: list[str], told: str) -> None:
    with pytest.raises(DatasetError) as raised:
        class_folders(ids, "DIR")
    assert told in str(raised.value)


def test_imagenet_has_its_published_order_whatever_is_missing() -> None:
    """The first class is n01440764 and the last n15075141, as in every classifier."""
    whole = assign_classes(set(PUBLISHED), PUBLISHED, None)
    assert whole.index == {name: place for place, name in enumerate(PUBLISHED)}
    assert (whole.index["n01440764"], whole.index["n15075141"], whole.count, whole.notes) == (0, 999, 1000, ())
    part = assign_classes(set(PUBLISHED[1:]), PUBLISHED, None)  # by order, all would be one less
    assert part.index == {name: place for name, place in whole.index.items() if place}
    assert (part.count, part.notes) == (1000, ("999 of the 1000 classes of ImageNet-1k are here",))


def test_a_folder_that_is_not_a_class_of_imagenet_is_refused() -> None:
    """With 999 and one other there are 1000 again, and nothing would tell."""
    with pytest.raises(DatasetError, match=r"999 class folders are classes of ImageNet-1k, and others .*: misc"):
        assign_classes({*PUBLISHED[1:], "misc"}, [], None)


@pytest.mark.parametrize(
    ("names", "index", "count"),
    [
        ({"0", "2"}, {"0": 0, "2": 2}, None),
        ({"3", "12"}, {"3": 3, "12": 12}, None),
        ({"000", "001"}, {"000": 0, "001": 1}, 2),
        ({"0"}, {"0": 0}, 1),
        ({"1"}, {"1": 1}, None),
    ],
)
def test_some_numbers(names: set[str], index: dict[str, int], count: int | None) -> None:
    found = assign_classes(names, names, None)
    assert (found.index, found.count) == (index, count)


def test_numbers_that_say_nothing() -> None:
    with pytest.raises(DatasetError, match="numbered from 1 to 1000, but those of a model from 0"):
        assign_classes({str(n) for n in range(1, 1001)}, [], None)
    with pytest.raises(DatasetError, match="numbered from 1 to 9"):  # images of two of them are here
        assign_classes({"2", "3"}, [*map(str, range(1, 10)), "lost+found"], None)
    with pytest.raises(DatasetError, match="two class folders have the number 1,"):
        assign_classes({"0", "1", "01"}, [], None)


def test_other_names_have_timms_order_and_torchvisions_is_mentioned() -> None:
    found = assign_classes({"class10", "class2", "class1"}, [], None)
    assert found.index == {"class1": 0, "class2": 1, "class10": 2}
    assert "torchvision's ImageFolder sorts them as text" in found.notes[0]
    assert assign_classes({"ant", "bee"}, [], None).notes == ()


def test_a_class_folder_without_images_is_a_class() -> None:
    found = assign_classes({"ant", "cat"}, ["ant", "bee", "cat"], None)
    assert found.index["cat"] == 2
    assert found.notes == ("class folders without images still count as classes: bee",)


def test_a_class_map_decides() -> None:
    given = Classes({"cat": 281, "dog": 207, "n01440764": 5, "3": 4}, None)
    assert assign_classes({"cat", "n01440764", "3"}, [], given).index == {"cat": 281, "n01440764": 5, "3": 4}


def test_a_folder_that_the_class_map_lacks_is_not_dropped() -> None:
    with pytest.raises(DatasetError, match="the class map has no entry for eel, fox; add a line for each"):
        assign_classes({"cat", "fox", "eel"}, [], Classes({"cat": 0}, 1))


@pytest.mark.parametrize("name", ["-1", "-20", "\u22121", "-1.0"])
def test_a_negative_number_is_no_class(name: str) -> None:
    for present in ({name, "0", "1"}, {"0", "1"}):
        with pytest.raises(DatasetError, match="would shift all others"):
            assign_classes(present, {*present, name}, None)
    assert assign_classes({name}, [], Classes({name: 3}, None)).index == {name: 3}
    assert assign_classes({"-x", "a-1"}, [], None).count == 2


def test_classes_go_by_the_names_as_they_were_given() -> None:
    """The class map has them in composed Unicode, without control characters."""
    names = {"e\u0301", "re\x1bd"}
    assert assign_classes(names, [], None).index == {"e\u0301": 1, "re\x1bd": 0}
    given = Classes({"\u00e9": 7, "re\\x1bd": 5}, None)
    assert assign_classes(names, [], given).index == {"e\u0301": 7, "re\x1bd": 5}
    with pytest.raises(DatasetError, match="differ only in their Unicode form"):
        assign_classes({"\u00e9", "e\u0301"}, [], None)


def write_map(folder: Path, held: str | bytes, name: str = "map.txt") -> Path:
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
        ("u\u0308ber\n", {"\u00fcber": 0}, 1),
    ],
)
def test_forms_of_class_maps(tmp_path: Path, held: str, index: dict[str, int], count: int | None) -> None:
    found = read_class_map(write_map(tmp_path, held))
    assert (found.index, found.count) == (index, count)


@pytest.mark.parametrize(
    ("held", "told"),
    [
        ("", "map.txt:1: there is no name"),
        (" \n\n", "map.txt:1: there is no name"),
        ("cat\n\ndog", "map.txt:2: there is no name"),
        ("cat\ncat", "map.txt:2: 'cat' is there twice"),
        ("u\u0308\n\u00fc", "is there twice"),
        ("cat\tone\ndog\ttwo", "map.txt:1: 'one' is not an index"),
        ("cat\t-1", "'-1' is not an index"),
        ("cat\t1.0", "'1.0' is not an index"),
        ("cat\t99999999999", "is not an index"),
        ('["cat", "dog"]', "is JSON"),
        ('{"cat": 0}', "is JSON"),
        (b"\xff\xfec\0a\0t\0", "is not UTF-8: save"),
        (pickle.dumps({"cat": 0}), "is not UTF-8: save"),
    ],
)
def test_files_that_are_not_class_maps(tmp_path: Path, held: str | bytes, told: str) -> None:
    with pytest.raises(DatasetError) as raised:
        read_class_map(write_map(tmp_path, held))
    assert told in str(raised.value)
    assert "map.txt" in str(raised.value)
    assert "one name per line" in str(raised.value)


def test_class_maps_that_are_not_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    with (tmp_path / "huge.txt").open("wb") as file:
        file.truncate(2**24 + 1)
    for name, told in {"gone.txt": "does not exist", "pipe.txt": "is a pipe", "huge.txt": "larger than 16 MiB"}.items():
        with pytest.raises(DatasetError, match=told):
            read_class_map(tmp_path / name)


def test_the_published_classes() -> None:
    classes = imagenet_classes()
    assert list(classes) == ImageNetInfo("imagenet-1k").label_names() == sorted(set(classes))
    assert (len(classes), classes[0], classes[281], classes[999]) == (1000, "n01440764", "n02123045", "n15075141")


@pytest.mark.parametrize(
    ("called", "number"),
    [
        ("ILSVRC2012_val_00000001.JPEG", 1),
        ("ILSVRC2012_val_00050000.jpeg", 50_000),
        ("ILSVRC2012_val_00000293.jpg", 293),
        ("ILSVRC2012_val_00000000.JPEG", None),
        ("ILSVRC2012_val_00050001.JPEG", None),
        ("ILSVRC2012_val_1.JPEG", None),
        ("ILSVRC2012_test_00000001.JPEG", None),
        ("ILSVRC2012_val_00000001.JPEG.png", None),
        ("ILSVRC2012_val_0000000\u0661.JPEG", None),
    ],
)
def test_numbers_of_validation_images(called: str, number: int | None) -> None:
    assert validation_number(called) == number


def image_name(number: int) -> str:
    return f"ILSVRC2012_val_{number:08d}.JPEG"


def test_the_labels_that_timm_ships_are_the_papers() -> None:
    """Beyer et al. 2020: of 50 000 images 46 837 have labels."""
    labels = real_labels()
    assert (len(labels), sum(map(bool, labels))) == (50_000, 46_837)
    assert {label for accepted in labels for label in accepted} == set(range(1000))
    timms = RealLabelsImagenet([image_name(n) for n in range(1, 50_001)]).real_labels
    assert all(set(timms[image_name(n)]) == set(labels[n - 1]) for n in range(1, 50_001))


def test_labels_go_by_the_number_in_the_name() -> None:
    labels = real_labels()
    several = next(number for number, accepted in enumerate(labels, 1) if len(accepted) > 1)
    none = labels.index(()) + 1
    ids = [f"n0/{image_name(none)}", image_name(3), f"a/b/{image_name(several)}"]
    assert match_real_labels(ids) == ((), labels[2], labels[several - 1])


@pytest.mark.parametrize(
    "other",
    ["n0/1.JPEG", f"n0/{image_name(0)}", f"n0/{image_name(50_001)}", f"n0/x{image_name(1)}", f"{image_name(1)}/x"],
)
def test_other_images_have_none(other: str) -> None:
    with pytest.raises(DatasetError, match="is not named ILSVRC2012_val_NNNNNNNN"):
        match_real_labels([image_name(1), other])


def test_an_image_in_two_folders_is_refused() -> None:
    with pytest.raises(DatasetError, match=f"n0/{image_name(1)} and n1/{image_name(1)} are the same validation image"):
        match_real_labels([f"n0/{image_name(1)}", f"n1/{image_name(1)}"])


def validation(labels: dict[int, int]) -> Images:
    ids = tuple(f"x/ILSVRC2012_val_{number:08d}.JPEG" for number in labels)
    return Images("val", FileImages([]), ids, tuple((label,) for label in labels.values()), 1000)


def in_order(images: int) -> dict[int, int]:
    return dict(list(sorted_like_imagenet().items())[:images])


def test_the_published_order_is_not_spoken_of() -> None:
    check_order(validation(in_order(2000)), "DIR")


def test_another_order_is_refused() -> None:
    turned = {number: (label + 1) % 1000 for number, label in in_order(200).items()}
    with pytest.raises(DatasetError, match="so the classes are in another order"):
        check_order(validation(turned), "DIR")


def test_images_without_a_real_label_and_too_few_say_nothing() -> None:
    empty = [number for number, accepted in enumerate(real_labels(), 1) if not accepted][:500]
    few = dict.fromkeys(list(in_order(19)), 999)
    for labels in (dict.fromkeys(empty, 3), few):
        check_order(validation(labels), "DIR")


def test_outputs_beyond_imagenet_are_another_list() -> None:
    hundred = replace(validation(dict.fromkeys(in_order(50), 3)), classes=100)
    check_order(hundred, "DIR")
    larger = {number: label + 1000 for number, label in in_order(50).items()}
    check_order(validation(larger), "DIR")
