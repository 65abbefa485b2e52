"""Images in parquet files as `datasets` writes them: a column of encoded images and a column of classes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
from pyarrow import compute, types
from pyarrow.parquet import ParquetFile

from imlp_audit.errors import DatasetError
from imlp_audit.evaluate.images import Images, PictureSource, UnreadableError, readable_id
from imlp_audit.evaluate.labels import Classes, assign_classes, imagenet_classes, order_of_names, validation_number
from imlp_audit.numbers.words import count_of, list_some

Tables: TypeAlias = Mapping[str, ParquetFile]
"""The opened files, by their paths below the folder of the data set."""

_IMAGES = ("image", "img", "jpg", "png", "webp", "picture")
_LABELS = ("label", "labels", "fine_label", "cls", "class", "target")
_LARGEST = 2**31  # bytes of a row group, which is read whole
_MOST_ROWS = 20_000_000
_BATCH = 65_536  # rows


@dataclass(frozen=True)
class ParquetImages(PictureSource):
    """Images in the rows of parquet files; `rows` are file, row group and row in the group."""

    column: str
    rows: tuple[tuple[str, int, int], ...]

    def read(self, index: int) -> bytes:
        """Return the bytes in a row. Raises UnreadableError."""
        file, group, row = self.rows[index]
        held: bytes | None = _read_group(file, group, self.column)[row].as_py()
        if held is None:
            raise UnreadableError("the row holds no bytes")
        return held


def read_parquet(root: Path, files: Sequence[str], given: Classes | None) -> Images:
    """Read the labels of parquet files, not their images. Raises DatasetError saying what such files need to hold."""
    tables = {file: _open(root / file) for file in files}
    schema = _shared_schema(root, tables)
    image, path = _image_column(schema, str(root / files[0]))
    label = _label_column(schema, str(root / files[0]))
    names = _shared_names(root, tables, label)
    held = _read_column(root, tables, label)
    missing = sum(value is None or value == -1 for value in held)
    if missing or not held:
        raise DatasetError(f"{root}: {missing} of {count_of(len(held), 'image')} have no class; try another --split")
    rows = [row for file, table in tables.items() for row in _rows(str(root / file), table)]
    classes, order = _classes(held, names, given, f"{files[0]}, column {label}")
    paths = [] if path is None else [one and one["path"] for one in _read_column(root, tables, path)]
    ids, labels = _ids(rows, paths), tuple((classes.index[str(value)],) for value in held)
    published = classes.count == len(imagenet_classes()) and all(map(validation_number, ids))
    name = "imagenet-1k" if published else root.resolve().name
    return Images(name, ParquetImages(image, tuple(rows)), ids, labels, classes.count, classes.notes, order)


def _shared_schema(root: Path, tables: Tables) -> pa.Schema:
    """Return the columns. Raises DatasetError if they differ or share a name, or have more rows than any data set."""
    schema = next(iter(tables.values())).schema_arrow
    if any(not table.schema_arrow.equals(schema) for table in tables.values()):
        raise DatasetError(f"{root}: the parquet files have different columns; give one of them, or another --split")
    twice = [name for name, times in Counter(schema.names).items() if times > 1]
    if twice:
        raise DatasetError(
            f"{root / next(iter(tables))} has several columns named {readable_id(twice[0])}; rename or remove all but "
            "one of them"
        )
    rows = sum(table.metadata.num_rows for table in tables.values())
    if rows > _MOST_ROWS:
        raise DatasetError(f"{root}: the parquet files have {rows} rows; give files of at most {_MOST_ROWS}")
    return schema


def _shared_names(root: Path, tables: Tables, label: str) -> tuple[str, ...] | None:
    """Return the names of the classes. Raises DatasetError if files name them differently."""
    named = {file: _class_names(table.schema_arrow, label) for file, table in tables.items()}
    first, names = next(iter(named.items()))
    for file in (file for file, others in named.items() if others != names):
        raise DatasetError(
            f"{root}: {first} and {file} name the classes of {label} differently, so numbers mean different classes; "
            "write them again with the same names in the same order"
        )
    return names


def _open(path: Path) -> ParquetFile:
    try:
        return ParquetFile(path)
    except (OSError, pa.ArrowException) as error:
        raise DatasetError(f"{path} is not a readable parquet file: {str(error)[:200]}") from error


def _read_column(root: Path, tables: Tables, column: str) -> list[Any]:
    """Return the values of a column in all files. Raises DatasetError if one of them is damaged."""
    values: list[Any] = []
    for file, table in tables.items():
        try:
            values += _read(table, range(table.metadata.num_row_groups), column).to_pylist()
        except (OSError, ValueError, pa.ArrowException) as error:
            raise DatasetError(f"{root / file} is damaged: {str(error)[:200]}; download it again") from error
    return values


def _read(opened: ParquetFile, groups: Sequence[int], column: str) -> pa.ChunkedArray:
    """Return a column of row groups. Raises ValueError if it is too large.

    A value may be noted once and repeated in any number of rows, so rows are decoded in batches that stay small even
    if each holds all the bytes that the file notes.
    """
    noted = max((_noted_bytes(opened, group, column) for group in groups), default=1)
    batches, size = [], 0
    rows = max(1, min(_BATCH, _LARGEST // max(1, noted)))
    for batch in opened.iter_batches(rows, row_groups=list(groups), columns=[column]):
        batches.append(batch.column(0))
        size += batch.nbytes
        if size > _LARGEST:
            raise ValueError(f"the column {column} has more than 2 GiB when it is decoded")
    return pa.chunked_array(batches, None if batches else pa.null())


def _noted_bytes(opened: ParquetFile, group: int, column: str) -> int:
    held = opened.metadata.row_group(group)
    columns = (held.column(place) for place in range(held.num_columns))
    found = [one.total_uncompressed_size for one in columns if one.path_in_schema == column]
    return int(sum(found) if found else held.total_byte_size)


@lru_cache(maxsize=2)
def _read_group(file: str, group: int, column: str) -> pa.ChunkedArray:
    """Return the encoded images of a row group; a batch mostly stays in one. Raises UnreadableError."""
    try:
        held = _read(_open(Path(file)), [group], column)
    except (OSError, ValueError, pa.ArrowException) as error:
        raise UnreadableError(str(error)[:200]) from error
    if not types.is_struct(held.type):
        return held
    return pa.chunked_array([compute.struct_field(chunk, "bytes") for chunk in held.chunks])


def _image_column(schema: pa.Schema, file: str) -> tuple[str, str | None]:
    """Return the columns with the encoded images and with their paths; None if they have none."""
    name = _choose(schema, _IMAGES, [field.name for field in schema if _is_image(field.type)], "images", file)
    kind = schema.field(name).type
    if not types.is_struct(kind):
        return name, None
    return f"{name}.bytes", f"{name}.path" if kind.get_field_index("path") >= 0 else None


def _label_column(schema: pa.Schema, file: str) -> str:
    """Return the column of the classes: numbers alone may be of anything, unless their classes are named."""
    named = [field.name for field in schema if field.name in _LABELS or _class_names(schema, field.name) is not None]
    fitting = [name for name in named if types.is_integer(schema.field(name).type)]
    return _choose(schema, _LABELS, fitting, "classes", file)


def _is_image(kind: pa.DataType) -> bool:
    if types.is_struct(kind) and kind.get_field_index("bytes") >= 0:
        kind = kind.field("bytes").type
    return bool(types.is_binary(kind) or types.is_large_binary(kind))


def _choose(schema: pa.Schema, usual: Sequence[str], fitting: Sequence[str], what: str, file: str) -> str:
    """Return the fitting column of a usual name, or the only one that fits."""
    chosen = [name for name in usual if name in fitting] or fitting
    if not chosen or (len(fitting) > 1 and chosen is fitting):
        columns = ", ".join(f"{field.name} ({field.type})" for field in schema)[:300]
        raise DatasetError(
            f"{file}: no column is clearly that of the {what}; name it {usual[0]!r}. The columns are {columns}"
        )
    return chosen[0]


def _rows(file: str, opened: ParquetFile) -> list[tuple[str, int, int]]:
    groups = [opened.metadata.row_group(number) for number in range(opened.metadata.num_row_groups)]
    if any(group.total_byte_size > _LARGEST for group in groups):
        raise DatasetError(f"{file} has row groups of more than 2 GiB; write it again with row_group_size=100")
    return [(file, number, row) for number, group in enumerate(groups) for row in range(group.num_rows)]


def _ids(rows: Sequence[tuple[str, int, int]], held: Sequence[Any]) -> tuple[str, ...]:
    """Return the images' paths if each has one of its own, and FILE/NUMBER otherwise."""
    if held and all(isinstance(one, str) and one for one in held) and len(set(held)) == len(held):
        return tuple(map(readable_id, held))
    first = {file: at for at, (file, _, _) in reversed(list(enumerate(rows)))}
    return tuple(f"{readable_id(Path(file).stem)}/{at - first[file]}" for at, (file, _, _) in enumerate(rows))


def _class_names(schema: pa.Schema, label: str) -> tuple[str, ...] | None:
    """Return the names of the classes that `datasets` notes in a parquet file, in their order."""
    try:
        features = json.loads((schema.metadata or {})[b"huggingface"])["info"]["features"]
        names = features[label]["names"]
    except (KeyError, ValueError, TypeError, RecursionError):
        return None
    return tuple(names) if isinstance(names, list) and all(isinstance(name, str) for name in names) else None


def _classes(
    held: Sequence[int], names: tuple[str, ...] | None, given: Classes | None, place: str
) -> tuple[Classes, str]:
    """Return the class of each number in the column of labels, as text, and what its order is."""
    present = sorted(set(held))
    if names is None:
        texts = sorted(map(str, present))
        return assign_classes(texts, texts, given), f"the labels in {place}"
    strange = [str(number) for number in present if not 0 <= number < len(names)]
    if strange:
        raise DatasetError(f"{place}: of the {len(names)} named classes, {list_some(strange)} is not one")
    if given is not None:
        by_name = assign_classes({names[number] for number in present}, names, given)
        return Classes({str(one): by_name.index[names[one]] for one in present}, by_name.count), "the class map"
    order, said = order_of_names(names)
    return Classes({str(one): order[one] for one in present}, len(names)), f"{said} ({place})"
