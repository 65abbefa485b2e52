"""Which class a class folder is."""

from __future__ import annotations

import pytest

from imlp_audit.errors import DatasetError
from imlp_audit.evaluate.data.class_map import ClassMap
from imlp_audit.evaluate.data.imagenet import imagenet_classes
from imlp_audit.evaluate.data.labels import assign_classes, class_folders

PUBLISHED = imagenet_classes()


def test_the_class_is_the_folder() -> None:
    assert class_folders(["a/1.png", "a/2.png", "b/1.png"], "DIR") == ("a", "a", "b")


@pytest.mark.parametrize(
    ("ids", "told"),
    [
        (["1.png"], "DIR: 1.png is not in a class folder"),
        (["1.png", "a/2.png", "3.png"], "1.png, 3.png are not in a class folder"),
        ([f"{n}.png" for n in range(9)], "0.png, 1.png, 2.png and 6 more are not in a class folder"),
        (["train/a/1.png"], "train/a/1.png lies deeper than DIR/CLASS/IMAGE"),
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
    with pytest.raises(DatasetError, match="999 class folders are classes of ImageNet-1k, but misc is not"):
        assign_classes({*PUBLISHED[1:], "misc"}, [], None)


def test_other_wordnet_ids_are_ordered_by_themselves() -> None:
    others = {f"n9000000{n}" for n in range(8)}
    found = assign_classes({*others, *PUBLISHED[:2]}, [], None)
    assert found.count == 10
    assert found.index["n90000007"] == 9


def test_numbers_are_classes() -> None:
    """ImageNet-V2's folders: as text, 10 would come before 2."""
    found = assign_classes({str(n) for n in range(1000)}, [], None)
    assert found.index == {str(n): n for n in range(1000)}
    assert found.count == 1000


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


@pytest.mark.parametrize("names", [{"²", "1"}, {"٣", "1"}, {"1" * 10, "1"}])
def test_what_looks_like_numbers_is_taken_for_names(names: set[str]) -> None:
    assert assign_classes(names, names, None).count == 2


def test_other_names_have_timms_order_and_torchvisions_is_mentioned() -> None:
    found = assign_classes({"class10", "class2", "class1"}, [], None)
    assert found.index == {"class1": 0, "class2": 1, "class10": 2}
    assert "torchvision's ImageFolder sorts them as text" in found.notes[0]
    assert assign_classes({"ant", "bee"}, [], None).notes == ()


def test_labels_of_which_some_are_numbers_are_all_taken_for_names() -> None:
    found = assign_classes({"2", "ant", "bee"}, [], None)
    assert found.index == {"2": 0, "ant": 1, "bee": 2}
    assert "some labels are numbers (2) and some are names, so all are taken for names" in found.notes[0]


def test_a_class_folder_without_images_is_a_class() -> None:
    found = assign_classes({"ant", "cat"}, ["ant", "bee", "cat"], None)
    assert found.index["cat"] == 2
    assert found.notes == ("class folders without images still count as classes: bee",)


def test_a_numbered_folder_without_images_is_a_class() -> None:
    assert assign_classes({"0", "1"}, ["0", "1", "2"], None).count == 3


def test_a_class_map_decides() -> None:
    given = ClassMap({"cat": 281, "dog": 207, "n01440764": 5, "3": 4}, None)
    assert assign_classes({"cat", "n01440764", "3"}, [], given).index == {"cat": 281, "n01440764": 5, "3": 4}


def test_a_folder_that_the_class_map_lacks_is_not_dropped() -> None:
    with pytest.raises(DatasetError, match="the class map has no entry for eel, fox; add a line for each"):
        assign_classes({"cat", "fox", "eel"}, [], ClassMap({"cat": 0}, 1))


@pytest.mark.parametrize("name", ["-1", "-20", "\u22121", "-1.0"])
def test_a_negative_number_is_no_class(name: str) -> None:
    for present in ({name, "0", "1"}, {"0", "1"}):
        with pytest.raises(DatasetError, match="would shift all others"):
            assign_classes(present, {*present, name}, None)
    assert assign_classes({name}, [], ClassMap({name: 3}, None)).index == {name: 3}
    assert assign_classes({"-x", "a-1"}, [], None).count == 2


def test_classes_go_by_the_names_as_they_were_given() -> None:
    """The class map has them in composed Unicode, without control characters."""
    names = {"e\u0301", "re\x1bd"}
    assert assign_classes(names, [], None).index == {"e\u0301": 1, "re\x1bd": 0}
    given = ClassMap({"\u00e9": 7, "re\\x1bd": 5}, None)
    assert assign_classes(names, [], given).index == {"e\u0301": 7, "re\x1bd": 5}
    with pytest.raises(DatasetError, match="differ only in their Unicode form"):
        assign_classes({"\u00e9", "e\u0301"}, [], None)
