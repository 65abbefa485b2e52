"""Opening a data set: its images and the classes accepted for each, whatever form it has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from imlp_audit.errors import DatasetError
from imlp_audit.evaluate.data.agreement import check_order
from imlp_audit.evaluate.data.class_map import ClassMap, read_class_map
from imlp_audit.evaluate.data.folder import ENDINGS, Listing, chosen_folder, in_order, list_images
from imlp_audit.evaluate.data.imagenet import imagenet_classes, match_real_labels, validation_number
from imlp_audit.evaluate.data.images import FileImages, Images, PictureSource
from imlp_audit.evaluate.data.label_file import find_labels, read_labels
from imlp_audit.evaluate.data.labels import assign_classes, class_folders
from imlp_audit.evaluate.data.sources.hub import pinned_snapshot
from imlp_audit.evaluate.data.sources.named import is_named, open_torchvision
from imlp_audit.evaluate.data.sources.others import explain
from imlp_audit.evaluate.data.sources.parquet import list_tables, read_parquet
from imlp_audit.evaluate.data.sources.splits import check_undivided, choose_files, whole_split
from imlp_audit.evaluate.data.sources.tars import TarImages, holds_samples, images_in, list_shards, open_shards
from imlp_audit.numbers.words import count_of

__all__ = ["Images", "Labelling", "PictureSource", "check_classes", "open_images", "open_labelled"]

_NO_CLASS = -1


@dataclass(frozen=True)
class Labelling:
    """The user's files of labels: the class of each name, the name or class of each image, and ReaL labels."""

    class_map: Path | None = None
    labels: Path | None = None
    real_labels: Path | None = None

    def options(self) -> tuple[str, ...]:
        """Return the options that were given."""
        given = {"--class-map": self.class_map, "--labels": self.labels, "--real-labels": self.real_labels}
        return tuple(option for option, path in given.items() if path is not None)

    def read_map(self) -> ClassMap | None:
        """Read the class map, if there is one. Raises DatasetError."""
        return read_class_map(self.class_map) if self.class_map is not None else None


@dataclass(frozen=True)
class _Unlabelled:
    """Images before they have labels; `label` makes the data set from the class of each image."""

    name: str
    ids: tuple[str, ...]
    folders: tuple[str, ...]
    skipped: Mapping[str, int]
    label: Callable[[tuple[int, ...]], PictureSource]


def open_images(source: str, *, split: str, labelling: Labelling, allow_download: bool) -> Images:
    """Open the images of a data set with their labels. Raises DatasetError.

    `source` is a folder that holds CLASS/IMAGE or SPLIT/CLASS/IMAGE, parquet files or shards, a .parquet or .tar file,
    or a name: `torch/NAME:DIR`, `hfds/OWNER/NAME@COMMIT`, `wds/DIR`. Nothing is downloaded unless `allow_download` is
    set. ReaL labels and files of labels go by file names, and need no class folders.
    """
    images = open_labelled(source, split, labelling, allow_download=allow_download)
    if labelling.real_labels is not None:
        return images
    mapped = labelling.class_map is not None
    more = (*_note_unknown_count(images), *check_order(images, source, mapped=mapped))
    return replace(images, notes=(*images.notes, *more))


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


def open_labelled(source: str, split: str, labelling: Labelling, *, allow_download: bool) -> Images:
    """Open a data set as `open_images` does, without comparing its labels with those that people accept."""
    if is_named(source):
        return _open_named(source, split, labelling, allow_download=allow_download)
    place = chosen_folder(Path(source), split)
    if place.is_dir():
        return _of_folder(place, list_images(place), source, split, labelling)
    match place.suffix.lower() if place.is_file() else "":
        case ".parquet":
            return _of_parquet(place.parent, choose_files([place.name], split, str(place.parent)), labelling)
        case ".tar" if holds_samples(place):
            return _of_shards(place, split, labelling)
        case ".tar":
            return _of_files(_in_tar(place, split), source, labelling)
    raise DatasetError(
        (place.is_file() and explain(place))
        or f"{source} is neither a folder nor a .tar file nor a .parquet file; give a folder of images, or a name such "
        "as torch/cifar10:DIR or hfds/OWNER/NAME@COMMIT"
    )


def _of_folder(place: Path, below: Listing, source: str, split: str, labelling: Labelling) -> Images:
    """Open the images of a folder; if it has none, its parquet files or its shards."""
    tables = list_tables(place) if not below.ids else ()
    if tables:
        return _of_parquet(place, whole_split(tables, split, source), labelling)
    shards = list_shards(place) if not below.ids else ()
    if shards and holds_samples(place / shards[0]):
        return _of_shards(place, split, labelling)
    if place == Path(source) and below.ids:
        check_undivided(place, below.folders, split)
    name = Path(source).resolve().name
    found = _Unlabelled(
        name, below.ids, below.folders, below.skipped, lambda classes: FileImages(place, below.files, classes)
    )
    return _of_files(found, source, labelling)


def _open_named(source: str, split: str, labelling: Labelling, *, allow_download: bool) -> Images:
    prefix, _, rest = source.partition("/")
    match prefix.lower():
        case "torch":
            _refuse_labels(source, labelling)
            return open_torchvision(rest, split, allow_download=allow_download)
        case "wds":
            return _of_shards(Path(rest), split, labelling)
        case "hfds":
            name, _, revision = rest.partition("@")
            folder = pinned_snapshot(name, revision, allow_download=allow_download)
            return replace(open_labelled(str(folder), split, labelling, allow_download=False), name=f"hfds/{name}")
    raise DatasetError(
        f"{source}: {prefix}/ streams images in no fixed order, so a run could be neither shared nor resumed; "
        "give hfds/OWNER/NAME@COMMIT, a folder of parquet or .tar files, or a folder of images"
    )


def _refuse_labels(source: str, labelling: Labelling) -> None:
    given = labelling.options()
    if given:
        raise DatasetError(f"{source} has its own classes; leave out {' and '.join(given)}")


def _of_shards(place: Path, split: str, labelling: Labelling) -> Images:
    _refuse_labels(str(place), labelling)
    return open_shards(str(place), split)


def _of_parquet(root: Path, tables: Sequence[str], labelling: Labelling) -> Images:
    if labelling.labels is not None or labelling.real_labels is not None:
        raise DatasetError(f"{root}: parquet files have their own labels; leave out --labels and --real-labels")
    held = read_parquet(root, tables, labelling.read_map())
    labels = tuple((label,) for label in held.dataset.classes)
    published = held.classes.count == len(imagenet_classes()) and all(map(_is_validation_image, held.ids))
    name = "imagenet-1k" if published else root.resolve().name
    return Images(name, held.dataset, held.ids, labels, held.classes.count, held.classes.notes, held.order)


def _in_tar(place: Path, split: str) -> _Unlabelled:
    members = images_in(place)
    above = {PurePosixPath(member.name).parent.parent.as_posix() for member in members.values()}
    choose_files([f"{one}/{place.name}" for one in above], split, str(place))
    folders = tuple(in_order({one.partition("/")[0] for one in members if "/" in one}))
    held = tuple(members.values())
    return _Unlabelled(place.stem, tuple(members), folders, {}, lambda classes: TarImages(held, classes))


def _of_files(found: _Unlabelled, source: str, labelling: Labelling) -> Images:
    if not found.ids:
        other = explain(Path(source))
        raise DatasetError(other or f"{source} holds no image ({', '.join(ENDINGS)}){_as_ending(found.skipped)}")
    notes = tuple(_note_skipped(found.skipped))
    if labelling.real_labels is not None:
        if labelling.class_map is not None or labelling.labels is not None:
            raise DatasetError("ReaL labels are found by file names alone; leave out --class-map and --labels")
        return _by_real_labels(found, labelling.real_labels, notes)
    given = labelling.read_map()
    if labelling.labels is None:
        order = "the class map" if given is not None else "the names of the class folders"
        names = class_folders(found.ids, source, find_labels(Path(source)))
        return _by_names(found, names, found.folders, given, notes, order)
    held = read_labels(labelling.labels, given)
    names = held.of(found.ids, str(labelling.labels))
    more = len(held.by_name) - len(found.ids)
    left = (f"{count_of(more, 'line')} of {labelling.labels.name} without an image here",) if more > 0 else ()
    order = f"the labels in {labelling.labels.name}{' and the class map' if given is not None else ''}"
    return _by_names(found, names, held.known, given, (*notes, *held.notes, *left), order)


def _by_real_labels(found: _Unlabelled, path: Path, notes: tuple[str, ...]) -> Images:
    labels = match_real_labels(path, found.ids)
    classes = tuple(accepted[0] if accepted else _NO_CLASS for accepted in labels)
    unjudged = f"images not judged because they have no ReaL label: {sum(not accepted for accepted in labels)}"
    count = len(imagenet_classes())
    return Images("imagenet-real", found.label(classes), found.ids, labels, count, (*notes, unjudged), "ReaL labels")


def _by_names(
    found: _Unlabelled,
    names: Sequence[str],
    every: Collection[str],
    given: ClassMap | None,
    notes: tuple[str, ...],
    order: str,
) -> Images:
    """Label images by a name for each, of all the names that there are."""
    classes = assign_classes(set(names), every, given)
    label = tuple(classes.index[name] for name in names)
    return Images(
        _slug(found, classes.index, names),
        found.label(label),
        found.ids,
        tuple((one,) for one in label),
        classes.count,
        (*notes, *classes.notes),
        order,
    )


def _slug(found: _Unlabelled, classes: Mapping[str, int], names: Sequence[str]) -> str:
    """Return the data set's name in specs if images and labels show it; its folder's name otherwise."""
    published = dict(zip(imagenet_classes(), range(len(imagenet_classes())), strict=True))
    if classes.items() <= published.items() and all(map(_is_validation_image, found.ids)):
        return "imagenet-1k"
    tens = Counter(str(number) for number in range(1000) for _ in range(10))
    other = any(word in found.name for word in ("threshold", "top-images"))  # ImageNet-V2's other two samples
    numbers = all(str(number) == name for name, number in classes.items())
    return "imagenet-v2" if numbers and not other and Counter(names) == tens else found.name


def _is_validation_image(one: str) -> bool:
    return validation_number(one.rpartition("/")[2]) is not None


def _note_unknown_count(images: Images) -> Iterator[str]:
    if images.classes is None:
        low, high = min(map(min, images.labels)), max(map(max, images.labels))
        first = "" if low == 0 else ", and none is 0: if yours count from 1, the accuracy will be wrong"
        yield f"the labels go from {low} to {high}; the number of classes is not known{first}"


def _note_skipped(skipped: Mapping[str, int]) -> Iterator[str]:
    if skipped:
        kinds = ", ".join(f"{count} {kind}" for kind, count in skipped.items())
        yield f"skipped files that are not images by name: {kinds}"


def _as_ending(skipped: Mapping[str, int]) -> str:
    return "".join(f"; {note}" for note in _note_skipped(skipped))
