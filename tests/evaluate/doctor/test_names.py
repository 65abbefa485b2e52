"""Names and order of classes in a validation folder of ImageNet-1k."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import pytest

from imlp_audit.evaluate.data.folder import Listing
from imlp_audit.evaluate.data.imagenet import imagenet_classes
from imlp_audit.evaluate.doctor.examine import find_order_problems
from imlp_audit.evaluate.doctor.names import find_name_problems
from imlp_audit.evaluate.doctor.problems import FolderProblem, ProblemKind
from tests.evaluate.folders import sorted_like_imagenet

from .problems import by_kind

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


def named(ids: Sequence[str], **skipped: int) -> dict[ProblemKind, FolderProblem]:
    return by_kind(list(find_name_problems(listing(ids, **skipped))))


def ordered(ids: Sequence[str]) -> dict[ProblemKind, FolderProblem]:
    return by_kind(list(find_order_problems(ids)))


def test_nothing_is_wrong_with_the_published_names() -> None:
    assert named(whole()) == {}
    assert ordered(whole()) == {}


def test_an_empty_folder_of_images() -> None:
    assert set(named([])) == {ProblemKind.EMPTY}
    assert set(named([], tar=1)) == {ProblemKind.EMPTY, ProblemKind.LEFT_OVER}
    assert "1 .tar file left over" in named([], tar=1)[ProblemKind.LEFT_OVER].what


def test_left_over_archives_are_problems_and_other_files_are_not() -> None:
    assert set(named(whole(), tar=1)) == {ProblemKind.LEFT_OVER}
    assert named(whole(), txt=1, csv=2) == {}


def test_flat() -> None:
    found = named([one.rpartition("/")[2] for one in whole()])
    assert set(found) == {ProblemKind.FLAT}
    assert found[ProblemKind.FLAT].what.startswith(
        "50 000 images (all) not in a class folder: ILSVRC2012_val_00000001.JPEG, "
    )
    assert "torchvision.datasets.ImageNet" in found[ProblemKind.FLAT].then
    assert len(found[ProblemKind.FLAT].names) == 50_000


def test_some_images_are_loose() -> None:
    ids = whole()
    ids[7] = ids[7].rpartition("/")[2]
    found = named(ids)
    assert set(found) == {ProblemKind.FLAT, ProblemKind.IMAGES_PER_CLASS}
    assert found[ProblemKind.FLAT].what.startswith("1 image (of 50000) not in a class folder")


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
        (lambda label: str(label + 1), "numbered 1 to 1000 instead of WordNet ids"),
        (lambda label: f"n{label:08d}", "1 000 class folders not named by a WordNet id of ImageNet-1k: n00000000, "),
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


def test_a_missing_class() -> None:
    found = named([one for one in whole() if not one.startswith("n01443537/")])
    assert set(found) == {ProblemKind.CLASSES, ProblemKind.IMAGES}
    assert "999 class folders of 1 000; missing: n01443537" in found[ProblemKind.CLASSES].what
    assert "49 950 images, not 50 000; missing: ILSVRC2012_val_" in found[ProblemKind.IMAGES].what
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
    assert "in the published set nine in ten do" in found[ProblemKind.CLASS_ORDER].what
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
        (lambda label: str(label * 7 % 1000), "follows no known order of classes"),
    ],
)
def test_what_numbers_mean(rename: Callable[[int], str], told: str) -> None:
    assert told in ordered(whole(rename))[ProblemKind.CLASS_ORDER].what


def test_numbers_that_are_classes() -> None:
    assert ordered(whole(str)) == {}


@pytest.mark.parametrize(
    "ids", [[], ["a/1.JPEG"], ["ILSVRC2012_val_00000002.JPEG"], [called("²", 2)], [called("cat", 2)]]
)
def test_folders_without_a_known_order(ids: list[str]) -> None:
    assert ordered(ids) == {}
