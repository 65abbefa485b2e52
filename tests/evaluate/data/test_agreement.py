"""What is said before the first batch: classes in another order, and copies of images."""

from __future__ import annotations

import tarfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from imlp_audit.errors import DatasetError
from imlp_audit.evaluate.data.agreement import bytes_digest, check_order, chosen_ends, find_repeats, whole_digest
from imlp_audit.evaluate.data.imagenet import shipped_real_labels
from imlp_audit.evaluate.data.images import Images
from imlp_audit.evaluate.data.sources.parquet import ParquetImages
from tests.evaluate.data.test_open import opened
from tests.evaluate.folders import image_folder, sorted_like_imagenet


def repeats(images: Images, chosen: Sequence[int]) -> list[str]:
    return list(find_repeats(images, chosen, chosen_ends(images, chosen)))


def validation(labels: dict[int, int]) -> Images:
    ids = tuple(f"x/ILSVRC2012_val_{number:08d}.JPEG" for number in labels)
    return Images("val", [], ids, tuple((label,) for label in labels.values()), 1000)


def in_order(images: int) -> dict[int, int]:
    return dict(list(sorted_like_imagenet().items())[:images])


def test_the_published_order_is_not_spoken_of() -> None:
    assert list(check_order(validation(in_order(2000)), "DIR", mapped=False)) == []


def test_another_order_is_refused_unless_the_user_made_it() -> None:
    turned = {number: (label + 1) % 1000 for number, label in in_order(200).items()}
    with pytest.raises(DatasetError, match="so the classes are in another order"):
        list(check_order(validation(turned), "DIR", mapped=False))
    (note,) = check_order(validation(turned), "DIR", mapped=True)
    assert note.endswith("are the classes in the order of the model's outputs?")


def test_images_without_a_real_label_and_too_few_say_nothing() -> None:
    empty = [number for number, accepted in enumerate(shipped_real_labels(), 1) if not accepted][:500]
    few = dict.fromkeys(list(in_order(19)), 999)
    for labels in (dict.fromkeys(empty, 3), few):
        assert list(check_order(validation(labels), "DIR", mapped=False)) == []


def test_outputs_beyond_imagenet_are_another_list() -> None:
    hundred = replace(validation(dict.fromkeys(in_order(50), 3)), classes=100)
    assert list(check_order(hundred, "DIR", mapped=False)) == []
    larger = {number: label + 1000 for number, label in in_order(50).items()}
    assert list(check_order(validation(larger), "DIR", mapped=False)) == []


def copies(root: Path) -> Path:
    image_folder(root, {"ant": 2, "bee": 2, "cat": 1})
    (root / "cat" / "again.png").write_bytes((root / "ant" / "ant_1.png").read_bytes())
    (root / "bee" / "again.png").write_bytes((root / "bee" / "bee_0.png").read_bytes())
    return root


@pytest.mark.parametrize("packed", [False, True])
def test_copies_are_named_and_those_in_two_classes_apart(tmp_path: Path, packed: bool) -> None:
    folder = copies(tmp_path / "pets")
    if packed:
        with tarfile.open(tmp_path / "pets.tar", "w") as tar:
            tar.add(folder, ".")
    images = opened(tmp_path / "pets.tar" if packed else folder)
    assert repeats(images, range(7)) == [
        "2 images have the same bytes as another image: ant/ant_1.png = cat/again.png, bee/again.png = bee/bee_0.png",
        "1 image has copies in several classes: ant/ant_1.png = cat/again.png",
    ]
    assert repeats(images, [0, 1, 2]) == []


def test_equal_ends_are_not_enough(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    for name, middle in (("1", b"x"), ("2", b"y")):
        (tmp_path / "a" / f"{name}.png").write_bytes(bytes(100) + middle + bytes(100))
    assert repeats(opened(tmp_path), [0, 1]) == []


def test_sources_without_files_are_left_alone(tmp_path: Path) -> None:
    images = opened(copies(tmp_path))
    assert repeats(replace(images, dataset=[]), range(7)) == []


def test_other_bytes_under_the_same_names_have_another_digest(tmp_path: Path) -> None:
    images = opened(copies(tmp_path))

    def digest() -> str:
        return bytes_digest(images, chosen_ends(images, range(7)))

    before = digest()
    assert digest() == before
    one = next(tmp_path.rglob("*.png"))
    data = one.read_bytes()
    one.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    assert digest() != before
    one.write_bytes(data)
    assert digest() == before


def test_one_byte_in_the_middle_is_another_digest_of_all_bytes(tmp_path: Path) -> None:
    """The ends and the size are the same, so only the whole tells."""
    (tmp_path / "a").mkdir()
    image, table = tmp_path / "a" / "1.png", tmp_path / "t.parquet"
    parquet = Images("t", ParquetImages("image", ((str(table), 0, 0),), (0,)), ("0",), ((0,),), 1)
    digests = []
    for middle in (b"x", b"y"):
        image.write_bytes(bytes(100) + middle + bytes(100))
        table.write_bytes(bytes(10) + middle + bytes(2**17))
        files = opened(tmp_path)
        digests.append([
            bytes_digest(files, chosen_ends(files, [0])),
            bytes_digest(parquet, {}),
            whole_digest(files, [0]),
            whole_digest(parquet, [0]),
        ])  # fmt: skip
    assert [one == other for one, other in zip(*digests, strict=True)] == [True, True, False, False]


def test_tables_with_other_images_have_another_digest(tmp_path: Path) -> None:
    def digest(table: bytes) -> str:
        (tmp_path / "a.parquet").write_bytes(table)
        dataset = ParquetImages("image", ((str(tmp_path / "a.parquet"), 0, 0),), (0,))
        images = Images("a", dataset, ("0",), ((0,),), 1)
        return bytes_digest(images, chosen_ends(images, [0]))

    assert digest(b"one") == digest(b"one") != digest(b"two")
