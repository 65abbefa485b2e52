"""Images one by one: decoded or refused, handed to a loader, chosen, and told apart by their bytes."""

from __future__ import annotations

import errno
import os
import pickle
import random
import struct
import time
import warnings
import zlib
from collections import Counter
from io import BytesIO
from math import ceil, floor
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from timm.data import create_dataset, create_transform
from torch import Tensor
from torch.utils.data import DataLoader

from imlp_audit.evaluate.images import (
    MAX_BYTES,
    FileImages,
    Guarded,
    UnreadableError,
    choose_stratified,
    hash_images,
    open_image,
    why_unreadable,
)
from tests.evaluate.folders import image_folder, picture
from tests.evaluate.tables import write_parquet
from tests.evaluate.test_datasets import opened

TRANSFORM = create_transform((3, 24, 24), is_training=False)


def timms(folder: Path, place: int) -> tuple[Tensor, int]:
    """Return an item of timm's own data set, which leaves its files open."""
    with warnings.catch_warnings(action="ignore"):
        item: tuple[Tensor, int] = create_dataset("", str(folder), transform=TRANSFORM)[place]
        return item


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two classes of four images, of which the second is truncated, the fourth empty and the last no image."""
    image_folder(tmp_path, {"a": 4, "b": 4})
    cut = (tmp_path / "a" / "a_1.png").read_bytes()
    (tmp_path / "a" / "a_1.png").write_bytes(cut[: len(cut) // 2])
    (tmp_path / "a" / "a_3.png").write_bytes(b"")
    (tmp_path / "b" / "b_3.png").write_text("<html>404")
    return tmp_path


BAD = (1, 3, 7)


def test_tensors_are_those_of_timms_data_set(tmp_path: Path) -> None:
    images = opened(image_folder(tmp_path, {"a": 3, "b": 2}, "jpg"))
    guarded = Guarded(images, range(5), TRANSFORM)
    assert len(guarded) == 5
    for place in range(5):
        tensor, position = guarded[place]
        expected, label = timms(tmp_path, place)
        assert position == place
        assert torch.equal(tensor, expected)
        assert images.labels[place] == (label,)


def test_what_cannot_be_read_is_counted_and_never_another_image(folder: Path) -> None:
    images = opened(folder)
    guarded = Guarded(images, range(8), TRANSFORM)
    items = [guarded[place] for place in range(8)]
    assert [position for _, position in items] == [-1 - p if p in BAD else p for p in range(8)]
    assert all(tensor.shape == (3, 24, 24) for tensor, _ in items)
    assert all(bool(torch.any(items[p][0] != 0)) == (p not in BAD) for p in range(8))
    # timm's own data set gives the next image, with the next one's label, and tells nobody but a log
    assert torch.equal(timms(folder, 1)[0], items[2][0])


@pytest.mark.parametrize("workers", [0, 2])
def test_loaders_get_every_image_once(folder: Path, workers: int) -> None:
    guarded = Guarded(opened(folder), range(8), TRANSFORM)
    loader = DataLoader(pickle.loads(pickle.dumps(guarded)), batch_size=3, num_workers=workers)
    positions = [int(p) for _, batch in loader for p in batch]
    assert positions == [-1 - p if p in BAD else p for p in range(8)]


def test_why_an_image_cannot_be_read(folder: Path) -> None:
    images = opened(folder)
    assert why_unreadable(images, 1).startswith("a/a_1.png: image file is truncated")
    assert why_unreadable(images, 3) == "a/a_3.png: the file is empty"
    assert why_unreadable(images, 7) == "b/b_3.png: not an image in a known format"
    assert why_unreadable(images, 0) == "a/a_0.png: it could not be read at first, but can be read now"
    (folder / "a" / "a_0.png").unlink()
    assert why_unreadable(images, 0) == "a/a_0.png: does not exist"


def encoded(image: Image.Image, form: str, **options: object) -> bytes:
    held = BytesIO()
    image.save(held, form, **options)
    return held.getvalue()


def pixels(image: Image.Image) -> list[list[list[int]]]:
    found: list[list[list[int]]] = np.asarray(image).tolist()
    return found


def png(width: int, height: int, *chunks: tuple[bytes, bytes], data: bytes = b"") -> bytes:
    """Put a PNG file together by hand, so that its header may claim anything."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = [(b"IHDR", header), *chunks, (b"IDAT", zlib.compress(data)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(held)) + kind + held + struct.pack(">I", zlib.crc32(kind + held)) for kind, held in parts
    )


FORMS = ["JPEG", "PNG", "GIF", "BMP", "WEBP", "TIFF"]


@pytest.mark.parametrize(("form", "mode"), [(form, mode) for form in FORMS for mode in ("1", "L", "RGB")])
def test_is_converted_as_timm_converts_it(form: str, mode: str) -> None:
    held = encoded(picture(1).convert(mode), form)
    with Image.open(BytesIO(held)) as plain:
        assert pixels(open_image(held)) == pixels(plain.convert("RGB"))


def test_modes_that_are_rare() -> None:
    rgb = picture(2)
    palette = rgb.quantize(16)
    deep = Image.fromarray(np.arange(30, dtype=np.uint16).reshape(5, 6) * 2000)
    files = [
        encoded(rgb.convert("CMYK"), "JPEG"),
        encoded(rgb.convert("LA"), "PNG"),
        encoded(rgb.convert("RGBA"), "PNG"),
        encoded(palette, "PNG", transparency=bytes(range(16))),  # Pillow warns of these, and warnings are errors here
        encoded(palette, "PNG", transparency=3),
        encoded(deep, "PNG"),
        encoded(rgb.convert("F"), "TIFF"),
    ]
    for held in files:
        image = open_image(held)
        with warnings.catch_warnings(action="ignore"), Image.open(BytesIO(held)) as plain:
            assert pixels(image) == pixels(plain.convert("RGB"))


@pytest.mark.parametrize("form", ["GIF", "PNG", "WEBP"])
def test_the_first_picture_of_an_animation_is_taken(form: str) -> None:
    first, second = picture(5), picture(6)
    held = encoded(first, form, save_all=True, append_images=[second], lossless=True)
    with Image.open(BytesIO(held)) as film:
        assert getattr(film, "n_frames", 1) == 2
        film.seek(0)
        assert pixels(open_image(held)) == pixels(film.convert("RGB"))


def test_exif_does_not_turn_an_image() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # to be shown turned by 90 degrees
    assert open_image(encoded(picture(7), "JPEG", exif=exif)).size == (40, 32)


@pytest.mark.parametrize("form", ["JPEG", "PNG", "GIF", "WEBP"])
def test_a_truncated_file_is_unreadable_wherever_it_was_cut(form: str) -> None:
    held = encoded(picture(8), form)
    after = {"PNG": 20, "GIF": 2}.get(form, 0)  # bytes that follow those of the last pixels
    for length in [*range(0, len(held) - after - 1, 37), len(held) - after - 1]:
        with pytest.raises(UnreadableError):
            open_image(held[:length])


@pytest.mark.parametrize(
    ("held", "told"),
    [
        (b"", "the file is empty"),
        (b"\0" * 5000, "not an image in a known format"),
        (b"<!DOCTYPE html><title>404</title>", "not an image in a known format"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\n", "not an image in a known format"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", "not an image in a known format"),
        (b"\xff\xd8\xff", "not an image in a known format"),
        (b"\xff\xd8\xff\xd9", "not an image in a known format"),
        (png(0, 9), ""),
        (png(10_000, 10_000), "10000 x 10000 pixels; the limit is 89478485"),
        (png(50_000, 50_000), "a decompression bomb"),
        (png(2**31 - 1, 2**31 - 1), "a decompression bomb"),
        (png(1, 60_000), "1 x 60000 pixels: one side is more than 256 times the other"),
        (png(257, 1), "257 x 1 pixels"),
        (png(9, 9, data=b""), ""),
        (png(9, 9, (b"zTXt", b"a\0\0" + zlib.compress(bytes(10**8)))), ""),
    ],
)
def test_a_file_that_is_not_an_image_says_why(held: bytes, told: str) -> None:
    begun = time.perf_counter()
    with pytest.raises(UnreadableError, match=f".*{told}"):
        open_image(held)
    assert time.perf_counter() - begun < 2


def test_a_bomb_is_not_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(image: Image.Image) -> None:
        raise AssertionError(f"{image.size} was decoded")

    monkeypatch.setattr("PIL.ImageFile.ImageFile.load", load)
    with pytest.raises(UnreadableError, match="was decoded"):  # an image in order is
        open_image(encoded(picture(1), "PNG"))
    for held in (png(10_000, 10_000), png(1, 300), png(50_000, 50_000)):
        with pytest.raises(UnreadableError, match=r"bomb|times the other"):
            open_image(held)


def test_the_largest_image_that_is_read() -> None:
    assert open_image(png(256, 1, data=bytes(1 + 3 * 256))).size == (256, 1)


def test_names_that_are_not_files(tmp_path: Path) -> None:
    (tmp_path / "loop.JPEG").symlink_to("loop.JPEG")
    (tmp_path / "lost.JPEG").symlink_to("nowhere")
    (tmp_path / "folder.JPEG").mkdir()
    os.mkfifo(tmp_path / "pipe.JPEG")
    told = {
        "loop.JPEG": "is a link, not a regular file",
        "lost.JPEG": "does not exist",
        "gone.JPEG": "does not exist",
        "folder.JPEG": "is a folder, not a regular file",
        "pipe.JPEG": "is a pipe, not a regular file",
    }
    for name, reason in told.items():
        with pytest.raises(UnreadableError) as raised:
            FileImages([str(tmp_path / name)])[0]
        assert str(raised.value) == reason


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "huge.png").open("wb") as file:
        file.write(encoded(picture(1), "PNG"))
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(UnreadableError, match="is larger than 256 MiB"):
        FileImages([str(tmp_path / "huge.png")])[0]


@pytest.mark.parametrize("error", [MemoryError(), OSError(errno.EMFILE, "too many open files")])
@pytest.mark.parametrize("place", ["PIL.Image.open", "os.open"])
def test_what_the_machine_lacks_is_no_fault_of_the_image(
    error: Exception, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    path = tmp_path / "a.png"
    path.write_bytes(b"held")
    monkeypatch.setattr(place, fail)
    with pytest.raises(type(error)) as raised:
        FileImages([str(path)])[0]
    monkeypatch.undo()
    assert not isinstance(raised.value, UnreadableError)


def image_names(count: int) -> list[str]:
    return [f"image_{number}.jpg" for number in range(count)]


@given(
    classes=st.lists(st.integers(0, 6), min_size=1, max_size=60),
    limit=st.integers(1, 70),
)
def test_each_class_gets_its_share(classes: list[int], limit: int) -> None:
    labels = [(one,) for one in classes]
    chosen = choose_stratified(labels, limit, image_names(len(classes)))
    assert list(chosen) == sorted(set(chosen))
    assert len(chosen) == min(limit, len(classes))
    held, taken = Counter(classes), Counter(classes[index] for index in chosen)
    for one, count in held.items():
        share = min(limit, len(classes)) * count
        assert floor(share / len(classes)) <= taken[one] <= ceil(share / len(classes))


def test_the_choice_goes_by_names_and_by_nothing_else() -> None:
    ids, labels = image_names(200), [(number % 7,) for number in range(200)]
    chosen = {ids[index] for index in choose_stratified(labels, 30, ids)}
    order = list(range(200))
    random.Random(3).shuffle(order)
    torch.manual_seed(5)
    random.seed(5)
    shuffled = choose_stratified([labels[n] for n in order], 30, [ids[n] for n in order])
    assert {ids[order[index]] for index in shuffled} == chosen
    assert {ids[index] for index in choose_stratified(labels, 30, [f"x{one}" for one in ids])} != chosen


def test_a_choice_as_it_must_stay() -> None:
    """By sha256sum class 0 comes before 1, and in them b, e, a and d, f, c: of these six, each second one."""
    labels = [(0,), (0,), (1,), (1,), (0,), (1,)]
    assert choose_stratified(labels, 3, ["a", "b", "c", "d", "e", "f"]) == (2, 3, 4)


def test_images_without_a_label_are_not_chosen() -> None:
    labels: list[tuple[int, ...]] = [(), (3,), (), (3, 1), (1,)]
    assert choose_stratified(labels, 9, image_names(5)) == (1, 3, 4)
    assert set(choose_stratified(labels, 2, image_names(5))) < {1, 3, 4}
    assert choose_stratified([(), ()], 2, image_names(2)) == ()


def test_one_other_byte_is_another_image(tmp_path: Path) -> None:
    """In a file and in a row of parquet."""
    for name, middle in (("1", b"x"), ("2", b"y"), ("3", b""), ("4", b"")):
        (tmp_path / "a").mkdir(exist_ok=True)
        (tmp_path / "a" / f"{name}.png").write_bytes(middle and bytes(100) + middle + bytes(100))
    files = opened(tmp_path)
    assert len({*hash_images(files, range(3)).values()}) == 3
    held = [path.read_bytes() for path in sorted((tmp_path / "a").iterdir())]
    table = opened(write_parquet(tmp_path / "t.parquet", [0] * 4, images=held))
    assert list(hash_images(table, range(4)).values()) == list(hash_images(files, range(4)).values())
