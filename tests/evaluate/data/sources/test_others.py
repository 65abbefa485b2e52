"""Data in forms that are not read: each refusal names the form and the nearest way."""

from __future__ import annotations

from pathlib import Path

import pytest

from imlp_audit.errors import DatasetError
from tests.evaluate.data.test_open import opened


@pytest.mark.parametrize(
    ("file", "form", "then"),
    [
        ("val_lmdb/data.mdb", "an LMDB store", "parquet"),
        ("validation-00000-of-00064.tfrecord", "TFDS or TFRecord data", "hfds/OWNER/NAME@COMMIT"),
        ("5.0.0/imagenet2012-validation.tfrecord-00000-of-00064", "TFDS or TFRecord data", "DIR/CLASS/IMAGE"),
        ("val/data-00000-of-00001.arrow", "a data set in arrow files", "to_parquet"),
        ("val.beton", "an FFCV file", "parquet"),
        ("val.tar.gz", "packed", "unpack it"),
        ("Val.ZIP", "packed", "unpack it"),
        ("val.h5", "HDF5", "parquet"),
        ("images.npy", "numpy arrays", "parquet"),
        ("cifar-10-batches-py/data_batch_1", "CIFAR-10 as it is published", "torch/cifar10:DIR"),
        ("flowers-102/imagelabels.mat", "Flowers-102 as it is published", "torch/flowers102:DIR"),
    ],
)
def test_a_folder_of_another_form(tmp_path: Path, file: str, form: str, then: str) -> None:
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_bytes(b"x")
    with pytest.raises(DatasetError) as raised:
        opened(tmp_path)
    assert f"holds {form} (" in str(raised.value)
    assert then in str(raised.value)
    if "/" not in file:
        with pytest.raises(DatasetError, match=form):
            opened(tmp_path / file)


def test_a_folder_of_images_is_read_whatever_lies_beside_them(tmp_path: Path) -> None:
    (tmp_path / "cat").mkdir()
    for name in ("cat/1.png", "val.tar.gz", "x.arrow", "labels.parquet"):
        (tmp_path / name).write_bytes(b"x")
    assert opened(tmp_path).ids == ("cat/1.png",)
