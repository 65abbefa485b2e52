"""Images in parquet files."""

from __future__ import annotations

import pickle
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet
from timm.data import ImageNetInfo

from imlp_audit.errors import DatasetError
from imlp_audit.evaluate import parquet as tables
from imlp_audit.evaluate.images import UnreadableError, why_unreadable
from tests.evaluate.folders import picture, same
from tests.evaluate.tables import png, write_parquet
from tests.evaluate.test_datasets import opened

ANIMALS = ["ant", "bee", "cat"]


def test_a_folder_as_datasets_writes_it(tmp_path: Path) -> None:
    write_parquet(tmp_path / "data" / "train-00000-of-00001.parquet", [0] * 4, names=ANIMALS)
    write_parquet(tmp_path / "data" / "validation-00000-of-00002.parquet", [2, 0, 1], names=ANIMALS)
    write_parquet(tmp_path / "data" / "validation-00001-of-00002.parquet", [1], names=ANIMALS)
    images = opened(tmp_path)
    assert images.labels == ((2,), (0,), (1,), (1,))
    assert images.ids == tuple(
        f"validation-0000{n}" for n in ("0-of-00002/0", "0-of-00002/1", "0-of-00002/2", "1-of-00002/0")
    )
    assert images.classes == 3
    assert images.order.startswith("the order in which the data set names its classes")
    again = pickle.loads(pickle.dumps(images.dataset))  # as worker processes get it
    for place, seed in enumerate((0, 1, 2, 0)):
        assert same(again[place], picture(seed))
    assert len(opened(tmp_path, split="train").ids) == 4
    with pytest.raises(DatasetError, match="no files of the split 'test'; pass --split with train, validation"):
        opened(tmp_path, split="test")


def test_one_file_with_paths_and_no_names(tmp_path: Path) -> None:
    paths = ["b/1.png", "a/2.png", "a/1.png"]
    images = opened(write_parquet(tmp_path / "pets.parquet", [4, 0, 7], paths=paths))
    assert (images.ids, images.labels, images.classes) == (tuple(paths), ((4,), (0,), (7,)), None)
    twice = opened(write_parquet(tmp_path / "twice.parquet", [4, 0, 7], paths=["x", "x", "y"]))
    assert twice.ids == ("twice/0", "twice/1", "twice/2")


def test_names_and_a_class_map(tmp_path: Path) -> None:
    held = write_parquet(tmp_path / "pets.parquet", [2, 0], names=ANIMALS)
    (tmp_path / "map.txt").write_text("cat\nbee\nant\n")
    assert opened(held, class_map=tmp_path / "map.txt").labels == ((0,), (2,))
    words = write_parquet(tmp_path / "words.parquet", ["dog", "ant", "dog"])
    with pytest.raises(DatasetError, match="no column is clearly that of the classes"):
        opened(words)


def test_imagenets_names_decide_wherever_they_stand(tmp_path: Path) -> None:
    """timm's table gives the known pairs of number, WordNet id and name."""
    known = ImageNetInfo()
    synsets = known.label_names()
    turned = [*synsets[1:], synsets[0]]
    images = opened(write_parquet(tmp_path / "turned.parquet", [0, 5, 999], names=turned))
    assert images.labels == ((1,), (6,), (0,))
    words = [known.index_to_description(place) for place in range(1000)]
    assert [place for place, name in enumerate(words) if words.count(name) > 1] == [134, 517]
    words[517] = "crane2"  # as the hub's imagenet-1k has it, whose names differ
    assert opened(write_parquet(tmp_path / "words.parquet", [0, 134, 517], names=words)).labels == (
        (0,),
        (134,),
        (517,),
    )
    assert opened(write_parquet(tmp_path / "back.parquet", [0, 7], names=synsets[::-1])).labels == ((999,), (992,))
    with pytest.raises(DatasetError, match="do not name each class once"):
        opened(write_parquet(tmp_path / "broken.parquet", [0], names=[*synsets[:999], "a new class"]))
    other = [f"class {number}" for number in range(1000)]
    assert opened(write_parquet(tmp_path / "other.parquet", [3], names=other)).labels == ((3,),)


def test_the_hubs_imagenet_is_known_by_its_paths(tmp_path: Path) -> None:
    synsets = ImageNetInfo().label_names()
    paths = ["ILSVRC2012_val_00000001_n01751748.JPEG", "ILSVRC2012_val_00000002_n09193705.JPEG"]
    labels = [synsets.index(path[-14:-5]) for path in paths]
    images = opened(write_parquet(tmp_path / "v.parquet", labels, names=synsets, paths=paths))
    assert (images.name, images.labels) == ("imagenet-1k", ((65,), (970,)))


def test_other_forms_are_not_taken_together(tmp_path: Path) -> None:
    for form in ("full", "small"):
        write_parquet(tmp_path / "hub" / form / "validation-00000-of-00001.parquet", [0, 1])
    with pytest.raises(DatasetError, match="has files in full, small, which may hold the same images; give one"):
        opened(tmp_path / "hub")
    assert len(opened(tmp_path / "hub" / "small").ids) == 2
    write_parquet(tmp_path / "own" / "my_test" / "train-0.parquet", [0])
    write_parquet(tmp_path / "own" / "my_test" / "0.parquet", [1])
    assert opened(tmp_path / "own", split="test").labels == ((1,),)


def test_hidden_tables_and_others_spelled_in_capitals_are_no_tables(tmp_path: Path) -> None:
    write_parquet(tmp_path / "pets" / "A.PARQUET", [0, 1])
    write_parquet(tmp_path / "pets" / ".cache" / "a.parquet", [0, 1])
    with pytest.raises(DatasetError, match=r"holds no image .*but 1 other file"):
        opened(tmp_path / "pets")


def test_rows_without_an_image_and_damaged_pages(tmp_path: Path) -> None:
    kind = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    rows = pa.array([None, {"bytes": png(1), "path": "b.png"}], kind)
    parquet.write_table(pa.table({"image": rows, "label": [0, 1]}), tmp_path / "null.parquet")
    images = opened(tmp_path / "null.parquet")
    assert why_unreadable(images, 0) == "null/0: the row holds no bytes"
    assert same(images.dataset[1], picture(1))
    damaged = write_parquet(tmp_path / "damaged.parquet", [0, 1])
    held = bytearray(damaged.read_bytes())
    column = parquet.ParquetFile(damaged).metadata.row_group(0).column(2)
    held[column.dictionary_page_offset : column.dictionary_page_offset + 8] = b"\xff" * 8
    damaged.write_bytes(held)
    with pytest.raises(DatasetError, match=r"damaged\.parquet is damaged: "):
        opened(damaged)


def test_an_image_that_cannot_be_read(tmp_path: Path) -> None:
    images = opened(write_parquet(tmp_path / "a.parquet", [0, 0, 1], images=[png(1)[:99], png(2), None]))
    for place in (0, 2):
        with pytest.raises(UnreadableError):
            images.dataset[place]
    assert why_unreadable(images, 2) == "a/2: the row holds no bytes"
    (tmp_path / "a.parquet").unlink()


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"image": [b"x"], "label": [-1]}, "1 of 1 image have no class; try another --split"),
        ({"image": [b"x"], "label": pa.array([None], pa.int64())}, "try another --split"),
        ({"image": [b"x"], "one": [1], "two": [2]}, "no column is clearly that of the classes"),
        ({"image": [b"x"], "image_id": [1]}, "no column is clearly that of the classes"),
        ({"text": ["x"], "label": [1]}, "no column is clearly that of the images"),
        ({"image": [{"bytes": "x"}], "label": [1]}, "no column is clearly that of the images"),
        ({"image": pa.array([], pa.binary()), "label": pa.array([], pa.int64())}, "0 of 0 images have no class"),
    ],
)
def test_tables_that_are_not_images(tmp_path: Path, columns: dict[str, object], told: str) -> None:
    parquet.write_table(pa.table(columns), tmp_path / "a.parquet")
    with pytest.raises(DatasetError, match=told):
        opened(tmp_path / "a.parquet")


def test_files_that_are_not_tables(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(DatasetError, match=r"a\.parquet is not a readable parquet file"):
        opened(tmp_path / "a.parquet")
    write_parquet(tmp_path / "set" / "1.parquet", [1])
    write_parquet(tmp_path / "set" / "2.parquet", [1], label="other")
    with pytest.raises(DatasetError, match="have different columns"):
        opened(tmp_path / "set")
    with pytest.raises(DatasetError, match=r"column label: of the 3 named classes, 3 is not one$"):
        opened(write_parquet(tmp_path / "b.parquet", [3], names=ANIMALS))
    with pytest.raises(DatasetError, match="leave out --labels"):
        opened(tmp_path / "b.parquet", real=True)


def test_files_that_name_their_classes_differently_are_not_taken_together(tmp_path: Path) -> None:
    write_parquet(tmp_path / "1.parquet", [0], names=ANIMALS)
    for other in (ANIMALS[::-1], None):
        write_parquet(tmp_path / "2.parquet", [0], names=other)
        with pytest.raises(DatasetError, match=r"1\.parquet and 2\.parquet name the classes of label differently"):
            opened(tmp_path)


def test_columns_of_one_name_and_negative_classes(tmp_path: Path) -> None:
    twice = pa.table([[b"x"], [0], [1]], names=["image", "label", "label"])
    parquet.write_table(twice, tmp_path / "a.parquet")
    with pytest.raises(DatasetError, match="has several columns named label"):
        opened(tmp_path / "a.parquet")
    with pytest.raises(DatasetError, match=r"would shift all others.*: -2"):
        opened(write_parquet(tmp_path / "b.parquet", [0, -2]))


def test_tables_larger_than_they_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_parquet(tmp_path / "a.parquet", [0] * 99, images=[bytes(9000)] * 99, group=99)
    assert path.stat().st_size < 40_000
    monkeypatch.setattr(tables, "_LARGEST", 90_000)
    assert "more than 2 GiB when it is decoded" in why_unreadable(opened(path), 0)
    monkeypatch.setattr(tables, "_MOST_ROWS", 98)
    with pytest.raises(DatasetError, match="the parquet files have 99 rows; give files of at most 98"):
        opened(path)
