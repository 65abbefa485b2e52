"""Images in .tar files."""

from __future__ import annotations

import json
import pickle
import tarfile
from collections.abc import Mapping
from contextlib import nullcontext
from io import BytesIO
from pathlib import Path

import pytest
from timm.data import create_dataset

from imlp_audit.errors import DatasetError
from imlp_audit.evaluate.data.decode import UnreadableError
from imlp_audit.evaluate.data.images import why_unreadable
from imlp_audit.evaluate.data.sources.tars import images_in, members_of, open_shards
from tests.evaluate.data.test_open import opened
from tests.evaluate.folders import image_folder, picture, same


def write(path: Path, held: Mapping[str, bytes]) -> Path:
    with tarfile.open(path, "w") as tar:
        for name, data in held.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, BytesIO(data))
    return path


def png(seed: int) -> bytes:
    held = BytesIO()
    picture(seed).save(held, "PNG")
    return held.getvalue()


@pytest.mark.parametrize("top", [".", "val", "data/val"])
def test_a_tar_is_the_folder_it_holds(tmp_path: Path, top: str) -> None:
    folder = image_folder(tmp_path / "pets", {"cat": 2, "dog10": 1, "dog9": 1})
    (folder / "cat" / "._x.png").touch()
    with tarfile.open(tmp_path / "pets.tar", "w") as tar:
        tar.add(folder, top)
    images, plain = opened(tmp_path / "pets.tar"), opened(folder)
    assert (images.ids, images.labels, images.classes) == (plain.ids, plain.labels, 3)
    timms = create_dataset("", str(tmp_path / "pets.tar"))
    assert list(timms.reader.targets)[1:] == [label for (label,) in images.labels]  # first the hidden one
    again = pickle.loads(pickle.dumps(images.dataset))
    for place in range(4):
        assert same(again[place][0], plain.dataset[place][0])


@pytest.mark.parametrize(
    ("name", "top", "split", "told"),
    [
        ("pets.tar", "train", "validation", "no files of the split 'validation'; pass --split with train"),
        ("pets_test.tar", ".", "validation", "pass --split with test"),
        ("pets.tar", ".", "test", "nothing here is named after the split 'test'"),
        ("pets.tar", "data/test", "test", None),
        ("pets-val.tar", "images", "val", None),
    ],
)
def test_a_tar_of_another_split_is_refused(tmp_path: Path, name: str, top: str, split: str, told: str | None) -> None:
    folder = image_folder(tmp_path / "pets", {"cat": 1, "dog": 1})
    with tarfile.open(tmp_path / name, "w") as tar:
        tar.add(folder, top)
    with nullcontext() if told is None else pytest.raises(DatasetError, match=told):
        assert opened(tmp_path / name, split=split).ids == ("cat/cat_0.png", "dog/dog_0.png")


def test_classes_of_shards_that_may_count_from_1_are_spoken_of(tmp_path: Path) -> None:
    samples = {"a.png": png(1), "a.cls": b"1", "b.png": png(2), "b.cls": b"2"}
    assert "none is 0: if yours count from 1" in opened(write(tmp_path / "a.tar", samples)).notes[0]


def test_an_image_that_cannot_be_read(tmp_path: Path) -> None:
    images = opened(write(tmp_path / "a.tar", {"cat/1.png": png(1)[:99], "cat/2.png": png(2)}))
    with pytest.raises(UnreadableError):
        images.dataset[0]
    assert why_unreadable(images, 0).startswith("cat/1.png: ")
    (tmp_path / "a.tar").unlink()
    assert why_unreadable(images, 1) == "cat/2.png: No such file or directory"


def test_devices_and_hidden_files_are_not_images(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        for name, kind in {
            "a/.link.png": tarfile.SYMTYPE,
            "a/device.png": tarfile.CHRTYPE,
            "a/dir.png": tarfile.DIRTYPE,
        }.items():
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "/etc/passwd"
            tar.addfile(info)
        info = tarfile.TarInfo("./a/.hidden.png")
        tar.addfile(info)
    assert members_of(tmp_path / "a.tar") == []


def linked(path: Path, name: str, target: str, kind: bytes, size: int = 0) -> Path:
    """Add a link to a .tar, and a file after it."""
    with tarfile.open(path, "a") as tar:
        info = tarfile.TarInfo(name)
        info.type, info.linkname, info.size = kind, target, size
        tar.addfile(info, BytesIO(b"x" * size) if size else None)
        tar.addfile(tarfile.TarInfo("z/after.png"))
    return path


def test_a_hard_link_is_followed(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tar", {"./cat/1.png": png(1), "cat/2.png": png(2)})
    images = opened(linked(path, "dog/3.png", "cat/1.png", tarfile.LNKTYPE))
    assert images.ids == ("cat/1.png", "cat/2.png", "dog/3.png", "z/after.png")
    assert same(images.dataset[2][0], picture(1))
    shard = write(tmp_path / "s.tar", {"a.png": png(1), "a.cls": b"3", "b.png": png(2), "z/after.cls": b"0"})
    assert opened(linked(shard, "b.cls", "a.cls", tarfile.LNKTYPE)).labels == ((3,), (3,), (0,))


@pytest.mark.parametrize(
    ("kind", "target", "size"),
    [
        (tarfile.SYMTYPE, "1.png", 0),
        (tarfile.SYMTYPE, "/etc/passwd", 0),
        (tarfile.LNKTYPE, "cat/none.png", 0),
        (tarfile.LNKTYPE, "cat/1.png", 5),
    ],
)
def test_other_links_are_not_left_out_silently(tmp_path: Path, kind: bytes, target: str, size: int) -> None:
    path = linked(write(tmp_path / "a.tar", {"cat/1.png": png(1)}), "cat/3.png", target, kind, size)
    with pytest.raises(DatasetError, match=r"cat/3\.png is a link that cannot be followed"):
        opened(path)


def test_a_tar_with_a_damaged_header_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tar", {"a/1.png": b"x", "a/2.png": b"x", "a/3.png": b"x"})
    held = bytearray(path.read_bytes())
    held[1024 + 148] ^= 1  # the second file's check sum
    path.write_bytes(held)
    with pytest.raises(DatasetError, match=r"a\.tar"):
        members_of(path)


@pytest.mark.parametrize("cut", [1, 512, 700, 1024, 1500])
def test_a_truncated_tar_is_refused(tmp_path: Path, cut: int) -> None:
    """Python's own reader takes one that ends between two files for whole."""
    path = write(tmp_path / "a.tar", {f"a/{n}.png": bytes(range(256)) * 2 for n in range(30)})
    end = max(i for i, byte in enumerate(path.read_bytes()) if byte) + 1
    path.write_bytes(path.read_bytes()[: end + 1024 - cut])
    with pytest.raises(DatasetError, match=r"truncated|no \.tar file"):
        members_of(path)


@pytest.mark.parametrize("held", [b"", b"no tar", b"\0" * 100, b"\x1f\x8b" + b"x" * 2000, b"x" * 20_000])
def test_files_that_are_not_tars(tmp_path: Path, held: bytes) -> None:
    (tmp_path / "a.tar").write_bytes(held)
    with pytest.raises(DatasetError, match=r"a\.tar"):
        members_of(tmp_path / "a.tar")


def test_names_in_a_tar(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tar", {"../../x/1.png": b"", "/etc/1.png": b"", "a/\x1b.png": b"", "u\u0308/2.png": b""})
    assert set(images_in(path)) == {"../../x/1.png", "/etc/1.png", "a/\\x1b.png", "\u00fc/2.png"}


def test_a_name_twice_is_refused(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        for _ in range(2):
            tar.addfile(tarfile.TarInfo("a/1.png"))
    with pytest.raises(DatasetError, match=r"holds a/1\.png more than once"):
        members_of(tmp_path / "a.tar")


def shards(folder: Path) -> Path:
    folder.mkdir()
    write(folder / "val-10.tar", {"e.png": png(5), "e.cls": b"7\n"})
    write(
        folder / "val-9.tar", {"a/c.json": b"{}", "a/c.png": png(3), "a/c.cls": b"2", "d.PNG": png(4), "d.cls": b" 0 "}
    )
    return folder


def test_shards(tmp_path: Path) -> None:
    images = open_shards(str(shards(tmp_path / "set")), "validation")
    assert images.ids == ("val-9/a/c", "val-9/d", "val-10/e")
    assert images.labels == ((2,), (0,), (7,))
    assert (images.name, images.classes) == ("set", None)
    assert same(images.dataset[2][0], picture(5))
    assert opened(f"wds/{tmp_path / 'set' / 'val-10.tar'}").ids == ("val-10/e",)


def test_shards_are_known_without_their_prefix(tmp_path: Path) -> None:
    folder = shards(tmp_path / "set")
    write(folder / "train-0.tar", {"z.png": png(9), "z.cls": b"1"})
    assert opened(folder).ids == opened(f"wds/{folder}").ids == ("val-9/a/c", "val-9/d", "val-10/e")
    assert opened(folder, split="train").ids == ("train-0/z",)
    assert opened(folder / "val-10.tar").labels == ((7,),)
    with pytest.raises(DatasetError, match="leave out --class-map"):
        opened(folder, class_map=tmp_path / "map.txt")


def test_shards_of_a_split_that_is_described(tmp_path: Path) -> None:
    folder = shards(tmp_path / "set")
    described: dict[str, object] = {"splits": {"val": {"filenames": ["val-10.tar"]}}}
    (folder / "_info.json").write_text(json.dumps(described))
    assert open_shards(str(folder), "val").ids == ("val-10/e",)
    with pytest.raises(DatasetError, match="lists no files for the split 'test'"):
        open_shards(str(folder), "test")


@pytest.mark.parametrize("names", [["../a.tar"], ["/a.tar"], "val-9.tar", [1], {}, ["x/../val-9.tar"]])
def test_files_that_a_description_may_not_name(tmp_path: Path, names: object) -> None:
    folder = shards(tmp_path / "set")
    write(tmp_path / "a.tar", {"a.png": png(1), "a.cls": b"1"})
    (folder / "_info.json").write_text(json.dumps({"splits": {"val": {"filenames": names}}}))
    with pytest.raises(DatasetError, match="that are not plain names"):
        open_shards(str(folder), "val")


def test_a_description_is_not_taken_for_a_command(tmp_path: Path) -> None:
    """To webdataset itself, what begins with `pipe:` is one."""
    folder = shards(tmp_path / "set")
    (folder / "_info.json").write_text('{"splits": {"val": {"filenames": ["pipe:touch touched"]}}}')
    with pytest.raises(DatasetError, match=r"pipe:touch touched is not a readable \.tar file"):
        open_shards(str(folder), "val")
    assert not list(tmp_path.rglob("touched"))


@pytest.mark.parametrize(
    ("held", "told"),
    [
        ({"a.png": b"x"}, "the sample a has no class"),
        ({"a.png": b"x", "a.cls": b"cat"}, "the sample a has no class"),
        ({"a.png": b"x", "a.cls": b"-1"}, "the sample a has no class"),
        ({"a.png": b"x", "a.cls": b"9" * 30}, "the sample a has no class"),
        ({"a.cls": b"1"}, "the sample a has a class but no image"),
        ({"z.png": b"x", "z.PNG": b"x", "z.cls": b"1"}, "z.png and z.PNG, which differ only in capitals"),
        ({"z.png": b"x", "z.cls": b"2", "z.CLS": b"1"}, "z.cls and z.CLS, which differ only in capitals"),
        (
            {"\u00e9.png": b"x", "\u00e9.cls": b"1", "e\u0301.png": b"x", "e\u0301.cls": b"2"},
            "the sample a/\u00e9 is there twice",
        ),
        ({"a.json": b"{}"}, "holds no pair"),
        ({}, "holds no pair"),
    ],
)
def test_files_that_are_not_samples(tmp_path: Path, held: dict[str, bytes], told: str) -> None:
    with pytest.raises(DatasetError, match=told):
        open_shards(str(write(tmp_path / "a.tar", held)), "validation")


def test_a_place_without_shards(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(DatasetError, match="holds no pair"):
            open_shards(str(place), "validation")


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="this system does not list open files")
def test_no_file_stays_open(tmp_path: Path) -> None:
    images = open_shards(str(shards(tmp_path / "set")), "validation")
    before = sum(1 for _ in Path("/proc/self/fd").iterdir())
    for place in range(3):
        images.dataset[place]
    assert sum(1 for _ in Path("/proc/self/fd").iterdir()) == before
