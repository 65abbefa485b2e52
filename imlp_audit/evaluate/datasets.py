"""Opening a data set: its images and the classes accepted for each, in the same order on every machine."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from imlp_audit.errors import DatasetError
from imlp_audit.evaluate.images import ENDINGS, FileImages, Images, in_order
from imlp_audit.evaluate.labels import (
    Classes,
    assign_classes,
    check_order,
    class_folders,
    imagenet_classes,
    match_real_labels,
    read_class_map,
    validation_number,
)
from imlp_audit.numbers.words import count_of, list_some

SPLIT_SYNONYMS = (("validation", "val", "valid", "eval", "evaluation"), ("train", "training"))
_SPLITS = {word: words[0] for words in (*SPLIT_SYNONYMS, ("test", "testing")) for word in words}


def choose_files(files: Sequence[str], split: str, source: str) -> tuple[str, ...]:
    """Return the files, given relative to `source`, whose names name a split; all if none names any.

    Raises DatasetError if the files name other splits only, or none where another than the usual one is asked for, and
    if they lie in several folders: these are several forms of a data set on the hub, often of the same images.
    """
    splits = {file: _splits_of(file) for file in files}
    chosen = tuple(file for file, named in splits.items() if _SPLITS.get(split, split) in named)
    if not any(splits.values()):
        _refuse_unnamed(split, source)
        chosen = tuple(files)
    if not chosen:
        there = sorted(set().union(*splits.values()))
        raise DatasetError(f"{source} has no files of the split {split!r}; pass --split with {list_some(there)}")
    folders = sorted({PurePosixPath(file).parent.as_posix() for file in chosen})
    if len(folders) > 1:
        raise DatasetError(
            f"{source} has files in {list_some(folders)}, which may hold the same images; give one of them"
        )
    return chosen


def check_undivided(root: Path, folders: Collection[str], split: str) -> None:
    """Raise DatasetError for a folder without a folder of the split if it looks as if it should have one."""
    if folders and all(name.lower() in _SPLITS for name in folders):
        raise DatasetError(
            f"{root} holds {list_some(sorted(folders))}, which are splits, not classes; pass --split with one of them"
        )
    if _SPLITS.get(split, split) not in _splits_of(root.resolve().name):
        _refuse_unnamed(split, str(root))


def _refuse_unnamed(split: str, source: str) -> None:
    if split not in ("", *SPLIT_SYNONYMS[0]):
        raise DatasetError(
            f"{source}: nothing here is named after the split {split!r}; leave out --split if these are its images"
        )


def _splits_of(file: str) -> set[str]:
    """Return the splits that a file's name has; if it has none, those that its folders have."""
    folders, _, name = file.lower().rpartition("/")
    named = ({_SPLITS[word] for word in re.findall("[a-z]+", text) if word in _SPLITS} for text in (name, folders))
    return next(filter(None, named), set())


@dataclass(frozen=True)
class Data:
    """Images and their labels: a folder of CLASS/IMAGE, SPLIT/CLASS/IMAGE or parquet files, or a .parquet file.

    `class_map` gives the class of each name; `real` takes ImageNet's ReaL labels in place of class folders. `limit` is
    how many images are used (None: all); `on` names the data set of the table's columns that they are, for images that
    do not show it themselves.
    """

    source: str
    split: str = "validation"
    class_map: Path | None = None
    real: bool = False
    limit: int | None = None
    on: str | None = None

    def read_map(self) -> Classes | None:
        """Read the class map, if there is one. Raises DatasetError."""
        return read_class_map(self.class_map) if self.class_map is not None else None


@dataclass(frozen=True)
class Listing:
    """The images of a folder.

    `ids` are their paths with "/" and in composed Unicode, and `folders` those of the direct subfolders. `skipped`
    counts the other files. `name` is the data set's.
    """

    ids: tuple[str, ...]
    folders: tuple[str, ...]
    skipped: int
    files: FileImages
    name: str = ""


def open_images(data: Data) -> Images:
    """Open the images of a data set with their labels. Raises DatasetError."""
    images = _open(data)
    if data.class_map is None:  # by which a model may have its outputs in an order of its own
        check_order(images, data.source)
    return replace(images, notes=(*images.notes, *_note_unknown_count(images)))


def check_classes(images: Images, model_classes: int) -> None:
    """Raise DatasetError if the labels do not belong to the classes that a model distinguishes."""
    used = {label for accepted in images.labels for label in accepted}
    start = f"{images.name}: the model has {count_of(model_classes, 'output')}"
    remedy = "if the images are the model's own data, give --class-map with its classes in the order of its outputs"
    if images.classes is not None and images.classes != model_classes:
        here = "" if len(used) == images.classes else f" ({len(used)} of them are here)"
        raise DatasetError(f"{start}, but there are {images.classes} classes{here}; {remedy}")
    if used and max(used) >= model_classes:
        raise DatasetError(
            f"{start}, for classes 0 to {model_classes - 1}, but the labels go up to {max(used)}; {remedy}"
        )


def _open(data: Data) -> Images:
    """Open the images of a folder, or if it has none, its parquet files; or one such file."""
    place = chosen_folder(Path(data.source), data.split)
    if place.is_file() and place.suffix.lower() == ".parquet":
        return _of_parquet(place.parent, choose_files([place.name], data.split, str(place.parent)), data)
    if not place.is_dir():
        raise DatasetError(
            f"{data.source} is neither a folder nor a .parquet file; give a folder of images (unpack archives); `hf "
            "download` fetches data sets of the hub, such as uoft-cs/cifar10"
        )
    found = list_images(place)
    tables = _list_tables(place) if not found.ids else ()
    if tables:
        return _of_parquet(place, choose_files(tables, data.split, data.source), data)
    if place == Path(data.source) and found.ids:
        check_undivided(place, found.folders, data.split)
    return _of_files(replace(found, name=Path(data.source).resolve().name), data)


def _of_parquet(root: Path, tables: Sequence[str], data: Data) -> Images:
    if data.real:
        raise DatasetError(f"{root}: parquet files have their own labels; leave out --labels")
    from imlp_audit.evaluate.parquet import read_parquet

    return read_parquet(root, tables, data.read_map())


def _list_tables(folder: Path) -> tuple[str, ...]:
    """Return the paths of the .parquet files below a folder, in order; hidden ones are left out."""
    paths = (path.relative_to(folder) for path in folder.rglob("*.parquet"))
    shown = (path.as_posix() for path in paths if not any(part.startswith(".") for part in path.parts))
    return tuple(in_order(shown).values())


def _of_files(found: Listing, data: Data) -> Images:
    if not found.ids:
        raise DatasetError(
            f"{data.source} holds no image ({', '.join(ENDINGS)}), but {count_of(found.skipped, 'other file')}; unpack "
            "archives, and write other forms as DIR/CLASS/IMAGE or as parquet with the columns image and label"
        )
    notes = (f"skipped files that are not images by name: {found.skipped}",) if found.skipped else ()
    if not data.real:
        return _by_class_folders(found, class_folders(found.ids, data.source), data.read_map(), notes)
    if data.class_map is not None:
        raise DatasetError("ReaL labels are found by file names alone; leave out --class-map")
    labels = match_real_labels(found.ids)
    unjudged = f"images not judged because they have no ReaL label: {sum(not accepted for accepted in labels)}"
    count = len(imagenet_classes())
    return Images("imagenet-real", found.files, found.ids, labels, count, (*notes, unjudged), "ReaL labels")


def _by_class_folders(found: Listing, names: Sequence[str], given: Classes | None, notes: tuple[str, ...]) -> Images:
    classes = assign_classes(set(names), found.folders, given)
    return Images(
        _slug(found, classes.index, names),
        found.files,
        found.ids,
        tuple((classes.index[name],) for name in names),
        classes.count,
        (*notes, *classes.notes),
        "the class map" if given is not None else "the names of the class folders",
    )


def _slug(found: Listing, classes: Mapping[str, int], names: Sequence[str]) -> str:
    """Return the data set's name in specs if images and labels show it; its folder's name otherwise."""
    published = dict(zip(imagenet_classes(), range(len(imagenet_classes())), strict=True))
    if classes.items() <= published.items() and all(map(validation_number, found.ids)):
        return "imagenet-1k"
    tens = Counter(str(number) for number in range(1000) for _ in range(10))
    other = any(word in found.name for word in ("threshold", "top-images"))  # ImageNet-V2's other two samples
    numbers = all(str(number) == name for name, number in classes.items())
    return "imagenet-v2" if numbers and not other and Counter(names) == tens else found.name


def _note_unknown_count(images: Images) -> Iterator[str]:
    if images.classes is None:
        low, high = min(map(min, images.labels)), max(map(max, images.labels))
        first = "" if low == 0 else ", and none is 0: if yours count from 1, the accuracy will be wrong"
        yield f"the labels go from {low} to {high}; the number of classes is not known{first}"


def list_images(root: Path) -> Listing:
    """List the images below a folder, following links. Raises DatasetError for a folder that is reached twice."""
    files: list[str] = []
    folders: list[str] = []
    skipped = 0
    seen: dict[tuple[int, int], str] = {}
    for folder, below, names in os.walk(root, onerror=_refuse_folder, followlinks=True):
        _check_new(folder, seen)
        below[:] = [name for name in below if not name.startswith(".")]
        start = "" if (here := os.path.relpath(folder, root)) == "." else f"{here}/"
        folders += [] if start else below
        images = [name for name in names if _is_image(Path(folder, name))]
        files += [f"{start}{name}" for name in images]
        skipped += len(names) - len(images)
    identified = in_order(files)
    return Listing(
        tuple(identified),
        tuple(in_order(folders)),
        skipped,
        FileImages([str(root / file) for file in identified.values()]),
    )


def _refuse_folder(error: OSError) -> None:
    raise DatasetError(f"{error.filename} cannot be listed: {error.strerror}") from error


def _check_new(folder: str, seen: dict[tuple[int, int], str]) -> None:
    status = Path(folder).stat()
    before = seen.setdefault((status.st_dev, status.st_ino), folder)
    if before != folder:
        raise DatasetError(
            f"{folder} is a link to {before}, so its images would count twice or without end; remove the link"
        )


def _is_image(path: Path) -> bool:
    """Say whether a file is an image by its name; a lost link is one that cannot be read."""
    named = path.suffix.lower() in ENDINGS and not path.name.startswith(".")
    return named and (path.is_symlink() or path.is_file())


def chosen_folder(root: Path, split: str) -> Path:
    """Return the subfolder of a split, by timm's synonyms too; the folder itself if there is none."""
    alike = next((names for names in SPLIT_SYNONYMS if split in names), ())
    return next((root / name for name in (split, *alike) if name and (root / name).is_dir()), root)
