"""What a folder or file is that holds images in a form that is not read, and the nearest form that is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from itertools import islice
from pathlib import Path

_LOOKED_AT = 5000  # names
_WRITE_IT = "write its images as DIR/CLASS/IMAGE, or as parquet with the columns image {bytes, path} and label"


@dataclass(frozen=True)
class _Form:
    """A form of data, the names of files that show it, and what to do with it."""

    name: str
    patterns: tuple[str, ...]
    then: str


_FORMS = (
    _Form("an LMDB store", ("data.mdb", "*.mdb", "*.lmdb"), f"its keys have no fixed form; {_WRITE_IT}"),
    _Form(
        "TFDS or TFRecord data",
        ("*.tfrecord", "*.tfrecord-*", "*.tfrecords"),
        "export it with `tfds.as_numpy` to DIR/CLASS/IMAGE, or take the data set as parquet from the hub "
        "(hfds/OWNER/NAME@COMMIT)",
    ),
    _Form(
        "a data set in arrow files",
        ("*.arrow",),
        'run `datasets.load_from_disk("DIR").to_parquet("FILE.parquet")` and give FILE.parquet',
    ),
    _Form("an FFCV file", ("*.beton",), _WRITE_IT),
    _Form("HDF5", ("*.h5", "*.hdf5"), _WRITE_IT),
    _Form("numpy arrays", ("*.npz", "*.npy"), _WRITE_IT),
    _Form("CIFAR-10 as it is published", ("data_batch_1",), "give torch/cifar10:DIR, DIR being the folder above"),
    _Form("CIFAR-100 as it is published", ("cifar-100-python",), "give torch/cifar100:DIR"),
    _Form("CIFAR-10 as it is published", ("cifar-10-batches-py",), "give torch/cifar10:DIR"),
    _Form("Flowers-102 as it is published", ("imagelabels.mat",), "give torch/flowers102:DIR, DIR holding flowers-102"),
    _Form(
        "packed",
        ("*.tar.gz", "*.tgz", "*.tar.xz", "*.tar.bz2", "*.zip", "*.rar", "*.7z"),
        "unpack it and give the folder; an uncompressed .tar is read as it is",
    ),
)


def explain(place: Path) -> str:
    """Return what a folder or file holds and what to do with it; empty if nothing is recognised."""
    names = [place.name, *_names_in(place)]
    for form in _FORMS:
        shown = next((name for name in names for pattern in form.patterns if fnmatch(name.lower(), pattern)), None)
        if shown is not None:
            return f"{place} holds {form.name} ({shown}), which is not read; {form.then}"
    return ""


def _names_in(place: Path) -> Iterator[str]:
    """Yield names in a folder and its subfolders."""
    if place.is_dir():
        found = (path.name for pattern in ("*", "*/*", "*/*/*") for path in place.glob(pattern))
        yield from islice(found, _LOOKED_AT)
