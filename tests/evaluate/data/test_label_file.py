"""Files that give the class of each image."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat
from timm.data import ImageNetInfo

from imlp_audit.errors import DatasetError
from imlp_audit.evaluate.data.imagenet import imagenet_classes, shipped_real_labels
from imlp_audit.evaluate.data.label_file import read_labels
from tests.evaluate.data.test_open import opened, validation_image
from tests.evaluate.folders import picture

# ILSVRC2012_devkit_t12/data/map_clsloc.txt begins so; and so does ILSVRC2012_validation_ground_truth.txt. The classes
# are those of Caffe's val.txt, which lists the same images: 65 970 230 809 516 57 334 415 674 332.
DEVKIT = {1: ("n02119789", "kit fox"), 2: ("n02100735", "English setter"), 3: ("n02110185", "Siberian husky")}
GROUND_TRUTH = {490: 65, 361: 970, 171: 230, 822: 809, 297: 516, 482: 57, 13: 334, 704: 415, 599: 674, 164: 332}


def devkit_order() -> dict[int, str]:
    """Return the WordNet id of each id: the published pairs, and the other classes in some order."""
    published = imagenet_classes()
    known = {number: wnid for number, (wnid, _) in DEVKIT.items()}
    known |= {number: published[place] for number, place in GROUND_TRUTH.items()}
    rest = iter(sorted(set(published) - set(known.values()), reverse=True))
    return {number: known.get(number) or next(rest) for number in range(1, 1001)}


def ground_truth(folder: Path) -> Path:
    """Write the ids of 50 000 images: the published ones of the first ten, and then any."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "ILSVRC2012_validation_ground_truth.txt"
    ids = [*GROUND_TRUTH, *(1 + number % 1000 for number in range(49_990))]
    path.write_text("".join(f"{one}\n" for one in ids))
    return path


def meta(folder: Path) -> None:
    """Write meta.mat as the devkit has it: the classes, and then synsets above them, which are no classes."""
    kind = [("ILSVRC2012_ID", "O"), ("WNID", "O"), ("words", "O"), ("num_children", "O")]
    rows = [(number, wnid, "words", 0) for number, wnid in devkit_order().items()]
    synsets = np.array([*rows, (1001, "n00001740", "entity", 2)], dtype=kind)
    savemat(folder / "meta.mat", {"synsets": synsets.reshape(-1, 1)})


def loose_images(folder: Path, *names: str) -> None:
    folder.mkdir(parents=True)
    for name in names:
        picture(1).save(folder / name)


def flat(root: Path) -> Path:
    for number in range(1, 11):
        validation_image(root, "val", number)
    return root


def test_the_published_pairs_are_timms() -> None:
    """What this file takes from the devkit, against two tables in timm's wheel."""
    known, accepted = ImageNetInfo(), shipped_real_labels()
    for wnid, name in DEVKIT.values():
        assert name in known.index_to_description(known.label_names().index(wnid))
    agree = [place in accepted[at] for at, place in enumerate(GROUND_TRUTH.values()) if accepted[at]]
    assert (len(agree), sum(agree)) == (9, 8)  # people call image 8 a paper towel, not a bakery


@pytest.mark.parametrize("synsets", ["meta.mat", "map_clsloc.txt", "synsets.txt"])
def test_the_devkits_ground_truth(tmp_path: Path, synsets: str) -> None:
    labels = ground_truth(tmp_path / "data")
    order = devkit_order()
    if synsets == "meta.mat":
        meta(labels.parent)
    else:
        line = "{wnid} {number} a_name\n" if synsets == "map_clsloc.txt" else "{wnid}\n"
        text = "".join(line.format(wnid=wnid, number=number) for number, wnid in order.items())
        (labels.parent / synsets).write_text(text)
    images = opened(flat(tmp_path), labels=labels)
    assert images.labels == tuple((place,) for place in GROUND_TRUTH.values())
    assert (images.name, images.classes) == ("imagenet-1k", 1000)
    assert images.notes == (
        f"49 990 lines of {labels.name} without an image here",
        "10 of the 1000 classes of ImageNet-1k are here",
    )
    assert images.order == "the labels in ILSVRC2012_validation_ground_truth.txt"


def test_ids_of_the_devkit_are_not_taken_for_classes(tmp_path: Path) -> None:
    labels = ground_truth(tmp_path / "data")
    with pytest.raises(DatasetError, match=r"put the devkit's meta\.mat beside it"):
        read_labels(labels, None)
    (labels.parent / "synsets.txt").write_text("\n".join([*imagenet_classes()[:999], "n00001740"]))
    with pytest.raises(DatasetError, match="does not give each of the ids 1 to 1000 a class"):
        read_labels(labels, None)
    (labels.parent / "meta.mat").write_bytes(b"not a .mat")
    with pytest.raises(DatasetError, match=r"is not the devkit's meta\.mat"):
        read_labels(labels, None)


def test_a_list_in_another_order_is_caught_by_what_people_accept(tmp_path: Path) -> None:
    """The classes in their own order are no order of the devkit: the mistake that gives accuracies near 0."""
    labels = ground_truth(tmp_path / "data")
    (labels.parent / "synsets.txt").write_text("\n".join(imagenet_classes()))
    for number in range(1, 26):
        validation_image(tmp_path, "val", number)
    with pytest.raises(DatasetError, match="so the classes are in another order"):
        opened(tmp_path, labels=labels)


@pytest.mark.parametrize(
    "text",
    [
        "ImageId,PredictionString\nILSVRC2012_val_00000002,n09193705 1 2 3 4 n09193705 5 6 7 8 \n"
        "ILSVRC2012_val_00000001,n01751748 85 1 272 293 \n",
        "ILSVRC2012_val_00000001.JPEG 65\nILSVRC2012_val_00000002.JPEG 970\n",
        "ILSVRC2012_val_00000001.JPEG\t65\nILSVRC2012_val_00000002.JPEG\t970\n",
        "val/ILSVRC2012_val_00000001.JPEG,n01751748\nval/ILSVRC2012_val_00000002.JPEG,n09193705\n",
    ],
    ids=["Kaggle", "Caffe", "Swin", "comma"],
)
def test_lists_with_names(tmp_path: Path, text: str) -> None:
    for number in (1, 2):
        validation_image(tmp_path, "val", number)
    (tmp_path / "labels.txt").write_text(text)
    assert opened(tmp_path, labels=tmp_path / "labels.txt").labels == ((65,), (970,))


def test_names_of_ones_own(tmp_path: Path) -> None:
    loose_images(tmp_path / "pets", "a.png", "b.png", "c.png")
    (tmp_path / "l.csv").write_text("filename,label\na.png,big dog\nb.png,ant\nc.png,big dog\ngone.png,zebra\n")
    images = opened(tmp_path / "pets", labels=tmp_path / "l.csv")
    assert (images.labels, images.classes) == (((1,), (0,), (1,)), 3)
    (tmp_path / "map.txt").write_text("big dog\nant\n")
    assert opened(tmp_path / "pets", labels=tmp_path / "l.csv", class_map=tmp_path / "map.txt").labels == (
        (0,),
        (1,),
        (0,),
    )


def inaturalist(path: Path, categories: list[int]) -> Path:
    held = {
        "images": [
            {"id": 7 + at, "file_name": f"train_val2018/Plantae/{one}/{at}.jpg"} for at, one in enumerate(categories)
        ],
        "annotations": [{"image_id": 7 + at, "category_id": one} for at, one in enumerate(categories)],
        "categories": [{"id": one, "name": f"species {one}"} for one in range(4)],
    }
    path.write_text(json.dumps(held))
    return path


def test_inaturalists_json_and_the_order_of_deits_code(tmp_path: Path) -> None:
    for at, one in enumerate([2, 0, 3]):
        loose_images(tmp_path / "train_val2018" / "Plantae" / str(one), f"{at}.jpg")
    labels = inaturalist(tmp_path / "val2018.json", [2, 0, 3])
    by_place = dict(zip((images := opened(tmp_path, labels=labels)).ids, images.labels, strict=True))
    assert sorted(by_place.values()) == [(0,), (2,), (3,)]
    assert "for a model that DeiT's code trained give iNaturalist's train JSON as --class-map" in images.notes[1]
    assert by_place["train_val2018/Plantae/3/2.jpg"] == (3,)
    train = inaturalist(tmp_path / "train2018.json", [3, 1, 3, 0, 2])  # first seen: 3, 1, 0, 2
    mapped = opened(tmp_path, labels=labels, class_map=train)
    assert not any("DeiT" in note for note in mapped.notes)
    assert dict(zip(mapped.ids, mapped.labels, strict=True)) == {
        "train_val2018/Plantae/0/1.jpg": (2,),
        "train_val2018/Plantae/2/0.jpg": (3,),
        "train_val2018/Plantae/3/2.jpg": (0,),
    }
    (tmp_path / "names.txt").write_text("species 3\nspecies 2\nspecies 0\n")
    named = opened(tmp_path, labels=labels, class_map=tmp_path / "names.txt")
    assert sorted(named.labels) == [(0,), (1,), (2,)]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "the file is empty"),
        ("1\n2\n", "2 lines without names"),
        ("a.png 1\na.png 2\n", "'a.png' has two labels"),
        ("a.png,1\nb.png\n", "line 2 has no label"),
        ("a.png,1\nb.png,\n", "line 2 has no label"),
        ("filename,width,label\ncat_0.png,224,1\n", "line 1 has 3 columns; keep two, the image and its label"),
        ("cat_0.png\tn01440764\t0\t32\n", "line 1 has 4 columns"),
        ("{", "cannot be read as labels"),
        ('{"images": [{"id": 1}], "categories": [], "annotations": []}', "cannot be read as labels"),
        ("a.png 1\n", "has no label for 1 image: cat_0.png"),
    ],
)
def test_files_that_are_not_labels(tmp_path: Path, text: str, told: str) -> None:
    loose_images(tmp_path / "pets", "cat_0.png")
    (tmp_path / "l.txt").write_text(text)
    with pytest.raises(DatasetError, match=told):
        opened(tmp_path / "pets", labels=tmp_path / "l.txt")


def test_a_first_line_of_other_words_and_tabs(tmp_path: Path) -> None:
    loose_images(tmp_path / "pets", "a.png", "b.png")
    for text in ("img,label\na.png,dog\nb.png,ant\n", "a.png\tdog\nb.png\tant\n"):
        (tmp_path / "l.csv").write_text(text)
        images = opened(tmp_path / "pets", labels=tmp_path / "l.csv")
        assert (images.labels, images.classes) == (((1,), (0,)), 2)
    (tmp_path / "l.csv").write_text("a.png\tbig dog\nb.png\tant\n")
    assert opened(tmp_path / "pets", labels=tmp_path / "l.csv").labels == ((1,), (0,))


def test_labels_from_1_are_known_by_all_lines(tmp_path: Path) -> None:
    loose_images(tmp_path / "pets", "b.png", "c.png")
    (tmp_path / "l.txt").write_text("a.png 1\nb.png 2\nc.png 3\n")
    with pytest.raises(DatasetError, match="numbered from 1 to 3, but those of a model from 0"):
        opened(tmp_path / "pets", labels=tmp_path / "l.txt")


def test_a_label_is_that_of_one_image_in_its_own_folder(tmp_path: Path) -> None:
    loose_images(tmp_path / "pets" / "new", "a.png", "b.png")
    (tmp_path / "l.txt").write_text("pets/new/a.png 3\n./new/b 4\n")  # seen from other folders
    assert opened(tmp_path / "pets", labels=tmp_path / "l.txt").labels == ((3,), (4,))
    (tmp_path / "l.txt").write_text("old/a.png 3\nb.png 4\n")
    with pytest.raises(DatasetError, match=r"has no label for 1 image: new/a\.png"):
        opened(tmp_path / "pets", labels=tmp_path / "l.txt")
    loose_images(tmp_path / "pets" / "old", "b.png")
    (tmp_path / "l.txt").write_text("a.png 3\nb.png 4\n")
    with pytest.raises(DatasetError, match=r"has one label, b\.png, for new/b\.png, old/b\.png; remove all but one"):
        opened(tmp_path / "pets", labels=tmp_path / "l.txt")


def test_an_image_with_two_categories_has_no_class(tmp_path: Path) -> None:
    path = inaturalist(tmp_path / "val.json", [2, 0])
    held = json.loads(path.read_text())
    held["annotations"].append({"image_id": 7, "category_id": 3})
    path.write_text(json.dumps(held))
    with pytest.raises(DatasetError, match="image 7 has several categories"):
        read_labels(path, None)


def test_a_flat_folder_is_told_of_the_labels_beside_it(tmp_path: Path) -> None:
    validation_image(tmp_path, "val", 1)
    (tmp_path / "LOC_val_solution.csv").write_text("x,y\n")
    with pytest.raises(DatasetError, match=r"give --labels .*LOC_val_solution\.csv, or move images"):
        opened(tmp_path)


def test_labels_with_accents_in_two_characters(tmp_path: Path) -> None:
    loose_images(tmp_path / "pets", "a.png", "b.png")
    (tmp_path / "l.txt").write_text("a.png\te\u0301b\nb.png\te\u0301a\n", encoding="utf-8")
    assert opened(tmp_path / "pets", labels=tmp_path / "l.txt").labels == ((1,), (0,))
    (tmp_path / "l.txt").write_text("a.png -1\nb.png 0\n")
    with pytest.raises(DatasetError, match="the class -1 would shift all others"):
        opened(tmp_path / "pets", labels=tmp_path / "l.txt")
