"""What is wrong with a validation folder of ImageNet-1k."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from imlp_audit.errors import DatasetError
from imlp_audit.evaluate.data.folder import Listing, list_images
from imlp_audit.evaluate.data.imagenet import imagenet_classes
from imlp_audit.evaluate.doctor import files
from imlp_audit.evaluate.doctor.examine import examine, from_order
from imlp_audit.evaluate.doctor.files import look
from imlp_audit.evaluate.doctor.names import from_names
from imlp_audit.evaluate.doctor.problems import FolderProblem, ProblemKind

from .folders import picture, sorted_like_imagenet

PUBLISHED = imagenet_classes()
PLACES = sorted_like_imagenet()
AS_TEXT = sorted(map(str, range(1000)))


def called(place: str, number: int) -> str:
    return f"{place}/ILSVRC2012_val_{number:08d}.JPEG"


def whole(rename: Callable[[int], str] = lambda label: PUBLISHED[label]) -> list[str]:
    """Return the ids of all validation images, sorted into folders so that they agree with ReaL labels."""
    names = [rename(label) for label in range(1000)]
    return [called(names[label], number) for number, label in PLACES.items()]


def listing(ids: Sequence[str], **skipped: int) -> Listing:
    folders = tuple(sorted({one.partition("/")[0] for one in ids if "/" in one}))
    return Listing(tuple(ids), tuple(ids), folders, {f".{ending}": count for ending, count in skipped.items()})


def kinds(findings: Sequence[FolderProblem]) -> dict[ProblemKind, FolderProblem]:
    assert all(one.what and one.then for one in findings)
    assert len({one.kind for one in findings}) == len(findings)
    return {one.kind: one for one in findings}


def named(ids: Sequence[str], **skipped: int) -> dict[ProblemKind, FolderProblem]:
    return kinds(list(from_names(listing(ids, **skipped))))


def ordered(ids: Sequence[str]) -> dict[ProblemKind, FolderProblem]:
    return kinds(list(from_order(ids)))


def test_nothing_is_wrong_with_the_published_names() -> None:
    assert named(whole()) == {}
    assert ordered(whole()) == {}


def test_nothing_is_there() -> None:
    assert set(named([])) == {ProblemKind.EMPTY}
    assert set(named([], tar=1)) == {ProblemKind.EMPTY, ProblemKind.LEFT_OVER}
    assert "1 .tar file left over" in named([], tar=1)[ProblemKind.LEFT_OVER].what


def test_left_over_archives_are_wrong_and_other_files_are_not() -> None:
    assert set(named(whole(), tar=1)) == {ProblemKind.LEFT_OVER}
    assert named(whole(), txt=1, csv=2) == {}


def test_flat() -> None:
    found = named([one.rpartition("/")[2] for one in whole()])
    assert set(found) == {ProblemKind.FLAT}
    assert found[ProblemKind.FLAT].what.startswith(
        "50 000 images (all) lie in no class folder: ILSVRC2012_val_00000001.JPEG, "
    )
    assert "torchvision.datasets.ImageNet" in found[ProblemKind.FLAT].then
    assert len(found[ProblemKind.FLAT].names) == 50_000


def test_some_images_are_loose() -> None:
    ids = whole()
    ids[7] = ids[7].rpartition("/")[2]
    found = named(ids)
    assert set(found) == {ProblemKind.FLAT, ProblemKind.IMAGES_PER_CLASS}
    assert found[ProblemKind.FLAT].what.startswith("1 image (of 50000) lie in no class folder")


@pytest.mark.parametrize("top", ["val", "train"])
def test_deeper_than_it_should_be(top: str) -> None:
    found = named([f"{top}/{one}" for one in whole()])
    assert set(found) == {ProblemKind.DEEP}
    assert ("validation" in found[ProblemKind.DEEP].then) == (top == "train")


def test_the_training_set() -> None:
    found = named([f"{name}/{name}_{number}.JPEG" for name in PUBLISHED for number in range(3)])
    assert set(found) == {ProblemKind.TRAIN}
    assert "3 000 images" in found[ProblemKind.TRAIN].what


@pytest.mark.parametrize(
    ("rename", "told"),
    [
        (lambda label: str(label + 1), "numbered 1 to 1000 in place of WordNet ids"),
        (lambda label: f"n{label:08d}", "1 000 class folders not called by a WordNet id of ImageNet-1k: n00000000, "),
    ],
)
def test_class_folders_by_other_names(rename: Callable[[int], str], told: str) -> None:
    found = named(whole(rename))
    assert set(found) == {ProblemKind.CLASS_NAMES}
    assert told in found[ProblemKind.CLASS_NAMES].what
    assert len(found[ProblemKind.CLASS_NAMES].names) == 1000


def test_images_of_something_else_get_no_advice_to_rename_them() -> None:
    found = named([f"{digit}/image{number}.png" for digit in range(10) for number in range(5)])
    assert list(found) == [ProblemKind.OTHER_DATA]
    assert ProblemKind.OTHER_DATA not in named([f"{digit}/ILSVRC2012_val_{digit + 1:08}.JPEG" for digit in range(10)])
    assert ProblemKind.OTHER_DATA not in named([f"n01440764/{number}.JPEG" for number in range(5)])


def test_a_class_is_not_there() -> None:
    found = named([one for one in whole() if not one.startswith("n01443537/")])
    assert set(found) == {ProblemKind.CLASSES, ProblemKind.IMAGES}
    assert "999 class folders of the 1 000, without n01443537" in found[ProblemKind.CLASSES].what
    assert "49 950 images, not 50 000; there is no ILSVRC2012_val_" in found[ProblemKind.IMAGES].what
    assert len(found[ProblemKind.IMAGES].names) == 50


def test_a_folder_too_many() -> None:
    found = named([*whole(), "odd/1.JPEG"])
    assert set(found) == {
        ProblemKind.CLASS_NAMES,
        ProblemKind.CLASSES,
        ProblemKind.IMAGES,
        ProblemKind.IMAGES_PER_CLASS,
        ProblemKind.FILE_NAMES,
    }
    assert found[ProblemKind.CLASSES].what == "1 001 class folders, not 1 000"
    assert found[ProblemKind.IMAGES].what == "50 001 images, not 50 000"


def test_an_image_in_another_folder_too() -> None:
    ids = whole()
    number = int(ids[0][-13:-5])
    other = called(PUBLISHED[PLACES[number] - 1], number)
    found = named([*ids, other])
    assert set(found) == {ProblemKind.TWICE, ProblemKind.IMAGES, ProblemKind.IMAGES_PER_CLASS}
    assert set(found[ProblemKind.TWICE].names) == {ids[0], other}


def test_an_image_that_was_moved() -> None:
    ids = whole()
    ids[0] = called(PUBLISHED[500], 1)
    found = named(ids)
    assert set(found) == {ProblemKind.IMAGES_PER_CLASS}
    assert "2 class folders without exactly 50 images" in found[ProblemKind.IMAGES_PER_CLASS].what
    assert ordered(ids) == {}  # nothing tells


def test_renamed_files() -> None:
    found = named([one.replace("ILSVRC2012_val_", "") for one in whole()])
    assert set(found) == {ProblemKind.FILE_NAMES}
    assert len(found[ProblemKind.FILE_NAMES].names) == 50_000


def test_classes_in_another_order() -> None:
    mixed = list(PUBLISHED)
    random.Random(1).shuffle(mixed)
    found = ordered(whole(lambda label: mixed[label]))
    assert set(found) == {ProblemKind.CLASS_ORDER}
    assert "nine in ten do in the published set" in found[ProblemKind.CLASS_ORDER].what
    assert set(ordered(whole(lambda label: PUBLISHED[(label + 1) % 1000]))) == {ProblemKind.CLASS_ORDER}
    assert named(whole(lambda label: mixed[label])) == {}  # by their names alone they are in order


def test_two_classes_that_changed_names() -> None:
    swapped = {10: 20, 20: 10}
    found = ordered(whole(lambda label: PUBLISHED[swapped.get(label, label)]))
    assert set(found[ProblemKind.CLASS_ORDER].names) == {PUBLISHED[10], PUBLISHED[20]}


@pytest.mark.parametrize(
    ("rename", "told"),
    [
        (lambda label: str(label + 1), "the class plus 1"),
        (lambda label: AS_TEXT[label], "the class's place among the numbers sorted as text"),
        (lambda label: str(label * 7 % 1000), "no order of classes known here"),
    ],
)
def test_what_numbers_mean(rename: Callable[[int], str], told: str) -> None:
    assert told in ordered(whole(rename))[ProblemKind.CLASS_ORDER].what


def test_numbers_that_are_classes() -> None:
    assert ordered(whole(str)) == {}


@pytest.mark.parametrize(
    "ids", [[], ["a/1.JPEG"], ["ILSVRC2012_val_00000002.JPEG"], [called("²", 2)], [called("cat", 2)]]
)
def test_folders_that_no_order_can_be_told_of(ids: list[str]) -> None:
    assert ordered(ids) == {}


def files(root: Path, count: int) -> list[Path]:
    """Write so many JPEG files of different sizes into one class folder."""
    folder = root / PUBLISHED[0]
    folder.mkdir(parents=True)
    paths = [folder / f"ILSVRC2012_val_{number:08d}.JPEG" for number in range(1, count + 1)]
    for number, path in enumerate(paths):
        picture(number, (30 + number % 7, 24 + number % 5)).save(path)
    return paths


def looked(root: Path, *, decode_all: bool = False) -> dict[ProblemKind, FolderProblem]:
    return kinds(look(root, list_images(root), decode_all=decode_all).findings)


def test_files_in_order(tmp_path: Path) -> None:
    files(tmp_path, 30)
    found = look(tmp_path, list_images(tmp_path), decode_all=False)
    assert found.findings == ()
    assert found.notes == ("looked at both ends of 30 of 30 files, and decoded 30",)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    paths = files(tmp_path, 12)
    held = paths[0].read_bytes()
    paths[0].write_bytes(held[: len(held) // 2])
    paths[1].write_bytes(b"")
    paths[2].write_bytes(held[:300] + bytes(len(held) - 302) + held[-2:])  # both ends are in order
    found = looked(tmp_path)
    assert set(found) == {ProblemKind.UNREADABLE}
    told = found[ProblemKind.UNREADABLE]
    assert {name.rpartition("/")[2] for name in told.names} >= {path.name for path in paths[:2]}
    assert told.what.startswith(f"{len(told.names)} images cannot be read: ")


@pytest.mark.parametrize(("target", "reason"), [("pipe", "not a regular file"), ("gone", "No such file or directory")])
def test_links_to_what_is_no_image(tmp_path: Path, target: str, reason: str) -> None:
    (path,) = files(tmp_path / "set", 1)
    os.mkfifo(tmp_path / "pipe")
    path.unlink()
    path.symlink_to(tmp_path / target)
    assert looked(tmp_path / "set")[ProblemKind.UNREADABLE].what.endswith(f"_00000001.JPEG ({reason})")


def test_a_file_with_sound_ends_is_found_in_the_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = files(tmp_path, 12)
    for path in paths:
        path.write_bytes(b"\xff\xd8\xff" + bytes(9) + b"\xff\xd9")
    monkeypatch.setattr(imagenet_files, "_SAMPLE", 5)
    assert len(looked(tmp_path)[ProblemKind.UNREADABLE].names) == 5
    assert len(looked(tmp_path, decode_all=True)[ProblemKind.UNREADABLE].names) == 12


def test_of_many_that_look_truncated_some_are_decoded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in files(tmp_path, 12):
        path.write_bytes(path.read_bytes()[:-2])
    monkeypatch.setattr(imagenet_files, "_SAMPLE", 5)
    found = look(tmp_path, list_images(tmp_path), decode_all=False)
    assert found.notes[1] == "7 files more look truncated or are no JPEG files; --all decodes them"
    assert len(kinds(found.findings)[ProblemKind.UNREADABLE].names) == 5


def test_bytes_after_the_image_are_no_fault(tmp_path: Path) -> None:
    first, second = files(tmp_path, 2)
    first.write_bytes(first.read_bytes() + bytes(100))
    second.write_bytes(second.read_bytes() + b"made by a camera")
    assert looked(tmp_path) == {}


def test_files_of_other_types(tmp_path: Path) -> None:
    paths = files(tmp_path, 9)
    picture(1).save(paths[0], "PNG")
    paths[1].write_text("<html>404 not found")
    paths[2].write_bytes(b"\x1f\x8b rest")
    found = look(tmp_path, list_images(tmp_path), decode_all=False).findings
    assert [one.kind for one in found] == [ProblemKind.WRONG_TYPE] * 3
    assert [one.what.partition(":")[0] for one in found] == [
        "1 file is no JPEG but HTML or XML",
        "1 file is no JPEG but PNG",
        "1 file is no JPEG but gzip",
    ]


def test_resized_images(tmp_path: Path) -> None:
    folder = tmp_path / PUBLISHED[0]
    folder.mkdir()
    for number in range(100):
        picture(number, (24, 24 + number % 9)).save(folder / f"{number}.JPEG")
    assert (
        "100 of 100 decoded images have 24 pixels at their shorter side" in looked(tmp_path)[ProblemKind.RESIZED].what
    )
    for number in range(6):
        picture(number, (23, 40)).save(folder / f"{number}.JPEG")
    assert looked(tmp_path) == {}


def test_files_with_the_same_bytes_are_told(tmp_path: Path) -> None:
    paths = files(tmp_path, 5)
    paths[3].write_bytes(paths[0].read_bytes())
    paths[4].write_bytes(paths[0].read_bytes())
    paths[1].write_bytes(paths[0].read_bytes()[:-70] + b"\0" + paths[0].read_bytes()[-69:])  # equal ends alone
    assert "2 files have the bytes of another one" in look(tmp_path, list_images(tmp_path), decode_all=False).notes


def test_of_too_many_files_a_sample_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files(tmp_path, 12)
    monkeypatch.setattr(imagenet_files, "_PEEKED", 11)
    monkeypatch.setattr(imagenet_files, "_SAMPLE", 4)
    found = look(tmp_path, list_images(tmp_path), decode_all=False)
    assert found.notes == ("looked at both ends of 4 of 12 files, and decoded 4",)


def test_the_folder_of_the_split_is_examined(tmp_path: Path) -> None:
    files(tmp_path / "val", 2)
    (tmp_path / "train").mkdir()
    (tmp_path / "val" / ".hidden").touch()
    found = examine(tmp_path)
    assert (found.folder, found.images, found.classes) == ("val", 2, 1)
    assert {ProblemKind.CLASSES, ProblemKind.IMAGES, ProblemKind.IMAGES_PER_CLASS} <= {
        one.kind for one in found.findings
    }
    assert "1 skipped: hidden" in found.notes
    assert examine(tmp_path / "val").folder == "."


def test_what_cannot_be_examined(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "loop").mkdir()
    (tmp_path / "loop" / "again").symlink_to(".")
    for name, told in {"nowhere": "is no folder", "file": "is no folder", "loop": "by another name"}.items():
        with pytest.raises(DatasetError, match=told):
            examine(tmp_path / name)


def test_all_is_examined_in_processes_of_their_own_too(tmp_path: Path) -> None:
    files(tmp_path, 3)[1].write_bytes(b"\xff\xd8\xff\xff\xd9")
    assert len(looked(tmp_path, decode_all=True)[ProblemKind.UNREADABLE].names) == 1
