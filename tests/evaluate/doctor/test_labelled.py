"""Images of ImageNet whose labels lie in parquet files, shards, or a file beside them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from imlp_audit.errors import DatasetError
from imlp_audit.evaluate.doctor.examine import examine
from imlp_audit.evaluate.doctor.problems import ProblemKind
from tests.evaluate.data.sources.test_tars import png, write
from tests.evaluate.doctor.problems import by_kind
from tests.evaluate.folders import picture, sorted_like_imagenet

Form = Callable[[Path, int], Path]
IMAGES = 30


def names(more: int) -> dict[str, int]:
    labels = sorted_like_imagenet()
    return {f"ILSVRC2012_val_{number:08d}": labels[number] + more for number in range(1, IMAGES + 1)}


def as_parquet(root: Path, more: int) -> Path:
    rows = [{"bytes": png(0), "path": f"{name}.JPEG"} for name in names(more)]
    table = pa.table({"image": rows, "label": list(names(more).values())})
    parquet.write_table(table, root / "validation-00000-of-00001.parquet")
    return root


def as_shard(root: Path, more: int) -> Path:
    held = {f"{name}.png": png(0) for name in names(more)}
    both = {**held, **{f"{name}.cls": str(label).encode() for name, label in names(more).items()}}
    return write(root / "val-0.tar", both)


def as_labels(root: Path, more: int) -> Path:
    for name in names(more):
        picture(0).save(root / f"{name}.JPEG")
    lines = "".join(f"{name}.JPEG {label}\n" for name, label in names(more).items())
    (root / "val.txt").write_text(lines, encoding="utf-8")
    return root


@pytest.mark.parametrize("form", [as_parquet, as_shard, as_labels])
def test_labels_are_compared_with_those_that_people_accept(tmp_path: Path, form: Form) -> None:
    (tmp_path / "right").mkdir()
    (tmp_path / "wrong").mkdir()
    right, wrong = examine(form(tmp_path / "right", 0)), examine(form(tmp_path / "wrong", 1))
    kinds = {ProblemKind.CLASSES, ProblemKind.IMAGES_PER_CLASS, ProblemKind.IMAGES}
    assert (right.images, wrong.images) == (IMAGES, IMAGES)
    assert right.classes == len(set(names(0).values()))
    assert by_kind(right.findings).keys() == kinds
    found = by_kind(wrong.findings)
    assert found.keys() == {*kinds, ProblemKind.CLASS_ORDER}
    assert found[ProblemKind.CLASS_ORDER].what.startswith("an image's label is the class plus 1: read this way")
    assert right.notes[0].startswith("what decides the class: the ")


def test_broken_images_and_files(tmp_path: Path) -> None:
    table = pa.table({"image": [b"x"] * 2, "label": [0, 1]})
    parquet.write_table(table, tmp_path / "validation.parquet")
    found = by_kind(examine(tmp_path / "validation.parquet").findings)
    assert "2 images of the first 100 cannot be read" in found[ProblemKind.UNREADABLE].what
    (tmp_path / "validation.parquet").write_bytes(b"PAR1xPAR1")
    with pytest.raises(DatasetError, match="is not a readable parquet file"):
        examine(tmp_path)
