"""Parquet files of images as `datasets` writes them, made for a test."""

from __future__ import annotations

import json
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from tests.evaluate.folders import picture


def png(seed: int) -> bytes:
    """Return a picture of noise as the bytes of a file."""
    held = BytesIO()
    picture(seed).save(held, "PNG")
    return held.getvalue()


def write_parquet(
    path: Path,
    labels: Sequence[object],
    *,
    names: Sequence[str] | None = None,
    paths: Sequence[str | None] | None = None,
    images: Sequence[bytes | None] | None = None,
    label: str = "label",
    group: int = 2,
) -> Path:
    """Write pictures 0, 1, ... with these labels; `names` are those of the classes, in the file's metadata."""
    held = images or [png(seed) for seed in range(len(labels))]
    rows = [{"bytes": one, "path": at} for one, at in zip(held, paths or [None] * len(held), strict=True)]
    kind = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    table = pa.table({"image": pa.array(rows, kind), label: pa.array(labels)})
    if names is not None:
        features = {"image": {"_type": "Image"}, label: {"names": list(names), "_type": "ClassLabel"}}
        table = table.replace_schema_metadata({"huggingface": json.dumps({"info": {"features": features}})})
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(table, path, row_group_size=group)
    return path
