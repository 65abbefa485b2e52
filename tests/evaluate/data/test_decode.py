"""Images that nobody vouches for."""

from __future__ import annotations

import errno
import os
import struct
import time
import warnings
import zlib
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from imlp_audit.evaluate.data.decode import MAX_BYTES, UnreadableError, open_image, open_image_from
from tests.evaluate.folders import picture


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


def test_a_plain_picture_comes_back_as_it_was() -> None:
    image = picture(3)
    assert pixels(open_image(encoded(image, "PNG"))) == pixels(image)


def test_a_file_is_read_as_its_bytes_are(tmp_path: Path) -> None:
    held = encoded(picture(4), "JPEG")
    (tmp_path / "a.JPEG").write_bytes(held)
    assert pixels(open_image(tmp_path / "a.JPEG")) == pixels(open_image(held)) == pixels(open_image_from(lambda: held))


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
        "loop.JPEG": os.strerror(errno.ELOOP),
        "lost.JPEG": os.strerror(errno.ENOENT),
        "gone.JPEG": os.strerror(errno.ENOENT),
        "folder.JPEG": "not a regular file",
        "pipe.JPEG": "not a regular file",
    }
    for name, reason in told.items():
        with pytest.raises(UnreadableError) as raised:
            open_image(tmp_path / name)
        assert str(raised.value) == reason


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "huge.png").open("wb") as file:
        file.write(encoded(picture(1), "PNG"))
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(UnreadableError, match=r"268435457 bytes"):
        open_image(tmp_path / "huge.png")


@pytest.mark.parametrize("error", [MemoryError(), OSError(errno.EMFILE, "too many open files")])
def test_what_the_machine_lacks_is_no_fault_of_the_image(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(Image, "open", fail)
    with pytest.raises(type(error)) as raised:
        open_image(b"held")
    assert not isinstance(raised.value, UnreadableError)


def test_bytes_that_cannot_be_fetched() -> None:
    def lost() -> bytes:
        raise OSError(errno.EIO, "input/output error")

    def crowded() -> bytes:
        raise OSError(errno.EMFILE, "too many open files")

    with pytest.raises(UnreadableError, match=os.strerror(errno.EIO)):
        open_image_from(lost)
    with pytest.raises(OSError, match="too many"):
        open_image_from(crowded)


def mode_or_reason(held: bytes) -> str:
    try:
        return open_image(held).mode
    except UnreadableError as error:
        return str(error)


@settings(max_examples=100, deadline=None)
@given(
    form=st.sampled_from(FORMS),
    changes=st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), min_size=1, max_size=6),
)
def test_changed_bytes_give_an_image_or_a_reason(form: str, changes: list[tuple[float, int]]) -> None:
    held = bytearray(encoded(picture(9, (12, 9)), form))
    for share, value in changes:
        held[int(share * (len(held) - 1))] = value
    assert mode_or_reason(bytes(held))
