"""Opening data sets: folders in timm's order, their splits, and what is refused."""

from __future__ import annotations

import os
import socket
from contextlib import nullcontext
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from timm.data import create_dataset
from timm.data.readers.reader_image_folder import find_images_and_targets
from timm.utils.misc import natural_key as timms_key

from imlp_audit.errors import DatasetError
from imlp_audit.evaluate.datasets import Data, check_classes, chosen_folder, list_images, open_images
from imlp_audit.evaluate.images import Images, in_order, natural_key, readable_id
from imlp_audit.evaluate.labels import imagenet_classes, real_labels
from tests.evaluate.folders import image_folder, picture

PUBLISHED = imagenet_classes()


def opened(
    source: Path | str,
    split: str = "validation",
    class_map: Path | None = None,
    *,
    real: bool = False,
) -> Images:
    return open_images(Data(str(source), split, class_map, real))


def classes_of(images: Images) -> dict[str, tuple[int, ...]]:
    return {one.partition("/")[0]: accepted for one, accepted in zip(images.ids, images.labels, strict=True)}


def validation_image(root: Path, place: str, number: int) -> None:
    path = root / place / f"ILSVRC2012_val_{number:08d}.JPEG"
    path.parent.mkdir(parents=True, exist_ok=True)
    picture(number).save(path)


@pytest.mark.parametrize("layout", [".", "val", "validation", "valid", "eval"])
def test_layouts(tmp_path: Path, layout: str) -> None:
    root = tmp_path / "pets"
    image_folder(root / layout, {"cat10": 2, "cat9": 1, "Ant": 3})
    (root / "train").mkdir() if layout != "." else None
    images = opened(root)
    expected = create_dataset("", str(root), split="validation")
    assert list(images.ids) == expected.filenames()
    assert images.labels == tuple((label,) for _, label in expected.reader.samples)
    assert (images.name, images.classes, len(images.ids)) == ("pets", 3, 6)


def test_a_folder_of_splits_is_not_mixed_up(tmp_path: Path) -> None:
    """timm reads all images below, each split's twice the same classes."""
    image_folder(tmp_path / "train", {"cat": 1})
    image_folder(tmp_path / "test", {"cat": 1})
    with pytest.raises(DatasetError, match="holds test, train, which are splits, not classes; pass --split"):
        opened(tmp_path)
    image_folder(tmp_path / "val" / "more", {"cat": 1})
    with pytest.raises(DatasetError, match="has images deeper than DIR/CLASS/IMAGE"):
        opened(tmp_path)


def test_images_without_class_folders_are_not_classified_by_their_split(tmp_path: Path) -> None:
    for split in ("train", "val", "test"):
        image_folder(tmp_path, {split: 1})
    with pytest.raises(DatasetError, match="test, train, val, which are splits, not classes"):
        opened(tmp_path, split="vla")


@pytest.mark.parametrize(("split", "name", "fits"), [("test", "pets", False), ("test", "test", True), ("", "x", True)])
def test_a_split_that_nothing_is_named_after_is_refused(tmp_path: Path, split: str, name: str, fits: bool) -> None:
    folder = image_folder(tmp_path / name, {"cat": 1, "dog": 1})
    with nullcontext() if fits else pytest.raises(DatasetError, match="nothing here is named after the split 'test'"):
        assert len(opened(folder, split=split).ids) == 2


def test_imagenet_without_a_class_keeps_its_labels(tmp_path: Path) -> None:
    for place, name in enumerate(PUBLISHED[3:9]):
        validation_image(tmp_path / "val", name, place + 1)
    images = opened(tmp_path)
    assert classes_of(images) == {name: (place,) for place, name in enumerate(PUBLISHED[3:9], 3)}
    assert (images.name, images.classes) == ("imagenet-1k", 1000)
    assert images.notes == ("6 of the 1000 classes of ImageNet-1k are here",)
    check_classes(images, 1000)
    with pytest.raises(DatasetError, match=r"6 outputs, but there are 1000 classes \(6 of them are here\)"):
        check_classes(images, 6)


def numbered_folders(root: Path, classes: int, images: int) -> Path:
    """Write the same image so many times into folders 0, 1, ... as ImageNet-V2 has them."""
    root.mkdir()
    picture(1, (2, 2)).save(root.parent / "one.jpeg")
    for number in range(classes):
        (root / str(number)).mkdir()
        for turn in range(images):
            (root / str(number) / f"{turn}.jpeg").hardlink_to(root.parent / "one.jpeg")
    return root


def test_imagenet_v2_is_ordered_by_number(tmp_path: Path) -> None:
    images = opened(numbered_folders(tmp_path / "imagenetv2-matched-frequency-format-val", 1000, 10))
    assert classes_of(images) == {str(number): (number,) for number in range(1000)}
    assert (images.name, images.classes, len(images.ids)) == ("imagenet-v2", 1000, 10_000)
    assert images.ids[20] == "2/0.jpeg"  # as text, 2 would come after 199


def test_other_numbered_folders_are_not_imagenet_v2(tmp_path: Path) -> None:
    for name, classes, images in (("imagenetv2-threshold0.7-format-val", 1000, 10), ("nine", 1000, 1), ("few", 12, 10)):
        (tmp_path / name).mkdir()
        assert opened(numbered_folders(tmp_path / name / name, classes, images)).name == name


def test_a_class_map_gives_other_classes(tmp_path: Path) -> None:
    image_folder(tmp_path / "pets", {"cat": 1, "dog": 1})
    (tmp_path / "map.txt").write_text("dog\ncat\nfox\n")
    images = opened(tmp_path / "pets", class_map=tmp_path / "map.txt")
    assert (classes_of(images), images.classes) == ({"cat": (1,), "dog": (0,)}, 3)
    expected = create_dataset("", str(tmp_path / "pets"), class_map=str(tmp_path / "map.txt"))
    assert [(label,) for _, label in expected.reader.samples] == list(images.labels)


def test_a_class_map_of_some_outputs(tmp_path: Path) -> None:
    image_folder(tmp_path / "pets", {"cat": 1, "dog": 1})
    (tmp_path / "map.txt").write_text("cat\t281\ndog\t207\n")
    images = opened(tmp_path / "pets", class_map=tmp_path / "map.txt")
    said = "the labels go from 207 to 281; the number of classes is not known, and none is 0: if yours count from 1"
    assert images.notes == (f"{said}, the accuracy will be wrong",)
    check_classes(images, 1000)
    check_classes(images, 282)
    with pytest.raises(DatasetError, match="281 outputs, for classes 0 to 280, but the labels go up to 281"):
        check_classes(images, 281)


def test_real_labels_need_no_class_folders(tmp_path: Path) -> None:
    none = real_labels().index(()) + 1
    validation_image(tmp_path / "val", ".", 2)
    validation_image(tmp_path / "val", "anywhere", none)
    images = opened(tmp_path, real=True)
    assert dict(zip(images.ids, images.labels, strict=True)) == {
        "ILSVRC2012_val_00000002.JPEG": real_labels()[1],
        f"anywhere/ILSVRC2012_val_{none:08d}.JPEG": (),
    }
    assert (images.name, images.classes) == ("imagenet-real", 1000)
    assert images.notes == ("images not judged because they have no ReaL label: 1",)
    with pytest.raises(DatasetError, match="leave out --class-map"):
        opened(tmp_path, class_map=tmp_path / "map.txt", real=True)


def test_skipped_files_are_reported(tmp_path: Path) -> None:
    image_folder(tmp_path, {"cat": 1})
    (tmp_path / "cat" / "._cat_0.png").write_bytes(b"of a Mac")
    (tmp_path / "cat" / "cat_1.webp").write_bytes(b"RIFF")
    assert opened(tmp_path).notes == ("skipped files that are not images by name: 2",)


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("nowhere", "nowhere is neither a folder nor a .parquet file"),
        ("empty", "empty holds no image (.png, .jpg, .jpeg), but 0 other files"),
        (
            "archive",
            "archive holds no image (.png, .jpg, .jpeg), but 1 other file; unpack",
        ),
        ("flat", "flat has images in no class folder, so of an unknown class: x.png"),
        ("notes.txt", "notes.txt is neither"),
        ("empty.tar", "empty.tar is neither a folder nor a .parquet file; give a folder of images (unpack archives)"),
    ],
)
def test_names_that_are_not_data_sets(tmp_path: Path, source: str, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("empty", "archive", "flat"):
        Path(name).mkdir()
    for name in ("archive/val.tar", "flat/x.png", "notes.txt", "empty.tar"):
        Path(name).touch()
    with pytest.raises(DatasetError) as raised:
        opened(source)
    assert told in str(raised.value)


def test_nothing_reaches_the_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    image_folder(tmp_path / "pets", {"cat": 1})
    opened(tmp_path / "pets")
    for name in ("torch/cifar10", "tfds/cifar10", "hfds/ylecun/mnist"):
        with pytest.raises(DatasetError, match=f"{name} is neither a folder nor a .parquet file.*`hf download`"):
            opened(name)


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
    assert found.skipped == 8  # all but the image, and what is in a hidden folder


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
