"""Images in parquet files as `datasets` writes them: a column of encoded images and a column of classes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PIL import Image

from imlp_audit.errors import DatasetError
from imlp_audit.evaluate.imagenet import imagenet_classes, is_validation_image
from imlp_audit.evaluate.images import Images, UnreadableError, in_order, open_image, readable_id
from imlp_audit.evaluate.labels import Classes, assign_classes, order_of_names
from imlp_audit.numbers.words import count_of, list_some

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

_IMAGES = ("image", "img", "jpg", "png", "webp", "picture")
_LABELS = ("label", "labels", "fine_label", "cls", "class", "target")
_LARGEST = 2**31  # bytes of a row group, which is read whole
_MOST_ROWS = 20_000_000
_BATCH = 65_536  # rows


@dataclass(frozen=True)
class ParquetImages:
    """Images in the rows of parquet files; `rows` are file, row group and row in the group."""

    column: str
    rows: tuple[tuple[str, int, int], ...]

    def __getitem__(self, index: int) -> Image.Image:
        return open_image(self.read(index))

    def read(self, index: int) -> bytes:
        """Return the bytes in a row. Raises UnreadableError."""
        file, group, row = self.rows[index]
        held: bytes | None = _read_group(file, group, self.column)[row].as_py()
        if held is None:
            raise UnreadableError("the row holds no bytes")
        return held


def list_tables(folder: Path) -> tuple[str, ...]:
    """Return the paths of the .parquet files below a folder, in order; hidden ones are left out."""
    paths = (path.relative_to(folder) for path in folder.rglob("*.parquet"))
    shown = (path.as_posix() for path in paths if not any(part.startswith(".") for part in path.parts))
    return tuple(in_order(shown).values())


def read_parquet(root: Path, files: Sequence[str], given: Classes | None) -> Images:
    """Read the labels of parquet files, not their images. Raises DatasetError saying what such files need to hold."""
    opened = [_open(root / file) for file in files]
    schema = opened[0].schema_arrow
    if any(not one.schema_arrow.equals(schema) for one in opened):
        raise DatasetError(f"{root}: the parquet files have different columns; give one of them, or another --split")
    _check_table(root, files, opened)
    image, path = _image_column(schema, str(root / files[0]))
    label = _label_column(schema, str(root / files[0]))
    names = _shared_names(root, files, opened, label)
    held = _read_column(root, files, opened, label)
    missing = sum(value is None or value == -1 for value in held)
    if missing or not held:
        raise DatasetError(f"{root}: {missing} of {count_of(len(held), 'image')} have no class; try another --split")
    rows = [row for file, one in zip(files, opened, strict=True) for row in _rows(str(root / file), one)]
    classes, order = _classes(held, names, given, f"{files[0]}, column {label}")
    paths = [] if path is None else [one and one["path"] for one in _read_column(root, files, opened, path)]
    ids, labels = _ids(rows, paths), tuple((classes.index[str(value)],) for value in held)
    published = classes.count == len(imagenet_classes()) and all(map(is_validation_image, ids))
    name = "imagenet-1k" if published else root.resolve().name
    return Images(name, ParquetImages(image, tuple(rows)), ids, labels, classes.count, classes.notes, order)


def _check_table(root: Path, files: Sequence[str], opened: Sequence[ParquetFile]) -> None:
    """Raise DatasetError for columns that share a name, and for more rows than any data set has."""
    twice = [name for name, times in Counter(opened[0].schema_arrow.names).items() if times > 1]
    if twice:
        raise DatasetError(
            f"{root / files[0]} has several columns named {readable_id(twice[0])}; rename or remove all but one of them"
        )
    rows = sum(one.metadata.num_rows for one in opened)
    if rows > _MOST_ROWS:
        raise DatasetError(f"{root}: the parquet files have {rows} rows; give files of at most {_MOST_ROWS}")


def _shared_names(
    root: Path, files: Sequence[str], opened: Sequence[ParquetFile], label: str
) -> tuple[str, ...] | None:
    """Return the names of the classes. Raises DatasetError if files name them differently."""
    names = _class_names(opened[0].schema_arrow, label)
    for file, one in zip(files, opened, strict=True):
        if _class_names(one.schema_arrow, label) != names:
            raise DatasetError(
                f"{root}: {files[0]} and {file} name the classes of {label} differently, so numbers mean different "
                "classes; write them again with the same names in the same order"
            )
    return names


def _open(path: Path) -> ParquetFile:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    try:
        return ParquetFile(path)
    except (OSError, pa.ArrowException) as error:
        raise DatasetError(f"{path} is not a readable parquet file: {str(error)[:200]}") from error


def _read_column(root: Path, files: Sequence[str], opened: Sequence[ParquetFile], column: str) -> list[Any]:
    """Return the values of a column in all files. Raises DatasetError if one of them is damaged."""
    import pyarrow as pa

    values: list[Any] = []
    for file, one in zip(files, opened, strict=True):
        try:
            values += _read(one, range(one.metadata.num_row_groups), column).to_pylist()
        except (OSError, ValueError, pa.ArrowException) as error:
            raise DatasetError(f"{root / file} is damaged: {str(error)[:200]}; download it again") from error
    return values


def _read(opened: ParquetFile, groups: Sequence[int], column: str) -> pa.ChunkedArray:
    """Return a column of row groups. Raises ValueError if it is too large.

    A value may be noted once and repeated in any number of rows, so rows are decoded in batches that stay small even
    if each holds all the bytes that the file notes.
    """
    import pyarrow as pa

    noted = max((_noted_bytes(opened, group, column) for group in groups), default=1)
    batches, size = [], 0
    for batch in opened.iter_batches(
        max(1, min(_BATCH, _LARGEST // max(1, noted))), row_groups=list(groups), columns=[column]
    ):
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
    import pyarrow as pa
    from pyarrow import compute

    try:
        held = _read(_open(Path(file)), [group], column)
    except (OSError, ValueError, pa.ArrowException) as error:
        raise UnreadableError(str(error)[:200]) from error
    return (
        held
        if not pa.types.is_struct(held.type)
        else pa.chunked_array([compute.struct_field(chunk, "bytes") for chunk in held.chunks])
    )


def _image_column(schema: pa.Schema, file: str) -> tuple[str, str | None]:
    """Return the columns with the encoded images and with their paths; None if they have none."""
    import pyarrow as pa

    name = _choose(schema, _IMAGES, [field.name for field in schema if _is_image(field.type)], "images", file)
    kind = schema.field(name).type
    if not pa.types.is_struct(kind):
        return name, None
    return f"{name}.bytes", f"{name}.path" if kind.get_field_index("path") >= 0 else None


def _label_column(schema: pa.Schema, file: str) -> str:
    """Return the column of the classes: numbers or names alone may be of anything, unless their classes are named."""
    named = [field.name for field in schema if field.name in _LABELS or _class_names(schema, field.name) is not None]
    return _choose(schema, _LABELS, [name for name in named if _is_label(schema.field(name).type)], "classes", file)


def _is_image(kind: pa.DataType) -> bool:
    import pyarrow as pa

    if pa.types.is_struct(kind) and kind.get_field_index("bytes") >= 0:
        kind = kind.field("bytes").type
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def _is_label(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind))


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
    held: Sequence[object], names: tuple[str, ...] | None, given: Classes | None, place: str
) -> tuple[Classes, str]:
    """Return the class of each value in the column of labels, as text, and what its order is."""
    present = {str(value) for value in held}
    if names is not None and given is None and all(isinstance(value, str) for value in held):
        return _by_their_names(present, names, place)
    if names is None or not all(isinstance(value, int) for value in held):
        return assign_classes(present, present, given), f"the labels in {place}"
    if not all(0 <= int(value) < len(names) for value in present):
        raise DatasetError(f"{place}: a label is not one of the {len(names)} named classes")
    if given is not None:
        by_name = assign_classes({names[int(value)] for value in present}, names, given)
        return Classes({value: by_name.index[names[int(value)]] for value in present}, by_name.count), "the class map"
    order, said = order_of_names(names)
    index: Mapping[str, int] = {value: order[int(value)] for value in present}
    return Classes(index, len(names)), f"{said} ({place})"


def _by_their_names(present: Collection[str], names: tuple[str, ...], place: str) -> tuple[Classes, str]:
    """Return the class of each label that is the name of a class."""
    places = {readable_id(name): number for number, name in enumerate(names)}
    strange = sorted(readable_id(value) for value in present if readable_id(value) not in places)
    if strange or len(places) < len(names):
        why = f"{list_some(strange)} is not one" if strange else "two are equal"
        raise DatasetError(f"{place}: of the {len(names)} named classes, {why}; give --class-map with each name")
    order, said = order_of_names(names)
    return Classes({value: order[places[readable_id(value)]] for value in present}, len(names)), f"{said} ({place})"
