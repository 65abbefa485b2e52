"""Opening images from untrusted files: broken ones and decompression bombs are refused."""

from __future__ import annotations

import errno
import os
import stat
import warnings
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

from PIL import Image, UnidentifiedImageError

from imlp_audit.errors import DatasetError

FORMATS = ("JPEG", "PNG", "GIF", "BMP", "WEBP", "TIFF")  # whatever the file's name; none of them starts a program
MAX_BYTES = 2**28
MAX_PIXELS = 89_478_485  # Pillow's own limit, above which it warns
MAX_ASPECT = 256  # resized to 384 pixels at its shorter side, such an image has 38 million
_MACHINE = (errno.EMFILE, errno.ENFILE, errno.ENOMEM)  # errors that are not the image's fault


class UnreadableError(DatasetError):
    """One image cannot be read. The message gives the reason, not the image."""


def open_image(source: Path | bytes) -> Image.Image:
    """Return an image, decoded in full and in RGB, from a file or a file's bytes. Raises UnreadableError.

    The conversion is timm's: the first frame, 16 bits cut to 8 by Pillow, no rotation by EXIF. Nothing is decoded if
    the header claims too many pixels. Not thread-safe: Pillow's warnings are silenced meanwhile.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Pillow warns about metadata and palettes of images that it reads well
            return _decode(source)
    except (UnreadableError, MemoryError):
        raise
    except Exception as error:  # on bytes that are not an image, decoders fail in every possible way
        if isinstance(error, OSError) and error.errno in _MACHINE:
            raise
        raise UnreadableError(_reason(error)) from error


def open_image_from(read: Callable[[], bytes]) -> Image.Image:
    """Return an image from the bytes that a function reads. Raises UnreadableError."""
    try:
        held = read()
    except OSError as error:
        if error.errno in _MACHINE:
            raise
        raise UnreadableError(_reason(error)) from error
    return open_image(held)


def _decode(source: Path | bytes) -> Image.Image:
    _check_file(source)
    with Image.open(BytesIO(source) if isinstance(source, bytes) else source, formats=FORMATS) as image:
        _check_size(*image.size)
        return image.convert("RGB")


def _check_file(source: Path | bytes) -> None:
    if isinstance(source, Path) and not stat.S_ISREG(source.stat().st_mode):
        raise UnreadableError("not a regular file")
    length = len(source) if isinstance(source, bytes) else source.stat().st_size
    if length == 0:
        raise UnreadableError("the file is empty")
    if length > MAX_BYTES:
        raise UnreadableError(f"the file has {length} bytes; the limit is {MAX_BYTES}")


def _check_size(width: int, height: int) -> None:
    if width * height > MAX_PIXELS:
        raise UnreadableError(f"{width} x {height} pixels; the limit is {MAX_PIXELS} (a decompression bomb?)")
    if max(width, height) > MAX_ASPECT * min(width, height):
        raise UnreadableError(f"{width} x {height} pixels: one side is more than {MAX_ASPECT} times the other")


def _reason(error: Exception) -> str:
    if isinstance(error, Image.DecompressionBombError):  # twice the limit: Pillow refuses before it gives the size
        return f"more than {MAX_PIXELS} pixels (a decompression bomb?)"
    if isinstance(error, UnidentifiedImageError):
        return "not an image in a known format"
    if isinstance(error, OSError) and error.errno is not None:
        return os.strerror(error.errno)
    return str(error) or type(error).__name__
