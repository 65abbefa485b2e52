"""Opening a data set: its images and the classes accepted for each, whatever form it has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from imlp_audit.errors import DatasetError
from imlp_audit.evaluate.data.class_map import ClassMap, read_class_map
from imlp_audit.evaluate.data.decode import open_image
from imlp_audit.evaluate.data.folder import ENDINGS, chosen_folder, in_order, list_images
from imlp_audit.evaluate.data.imagenet import imagenet_classes, match_real_labels, validation_number
from imlp_audit.evaluate.data.images import Images, PictureSource
from imlp_audit.evaluate.data.labels import assign_classes, class_folders
from imlp_audit.evaluate.data.named import is_named, open_named
from imlp_audit.evaluate.data.tars import TarImages, images_in
from imlp_audit.numbers.words import count_of

__all__ = ["Images", "PictureSource", "check_classes", "open_images"]

_NO_CLASS = -1


@dataclass(frozen=True)
class FolderImages:
    """Image files below a folder, each with its class."""

    root: Path
    files: tuple[str, ...]
    classes: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, index: int) -> tuple[Image.Image, int]:
        return open_image(self.root / self.files[index]), self.classes[index]


@dataclass(frozen=True)
class _Unlabelled:
    """Images before they have labels; `label` makes the data set from the class of each image."""

    name: str
    ids: tuple[str, ...]
    folders: tuple[str, ...]
    skipped: Mapping[str, int]
    label: Callable[[tuple[int, ...]], PictureSource]


def open_images(
    source: str, *, split: str, class_map: Path | None, real_labels: Path | None, allow_download: bool
) -> Images:
    """Open the images of a data set with their labels. Raises DatasetError.

    `source` is a folder that holds CLASS/IMAGE or SPLIT/CLASS/IMAGE, a .tar file of CLASS/IMAGE, or one of timm's
    names: `torch/NAME:DIR`, `hfds/OWNER/NAME@COMMIT`, `wds/DIR` or `wds/FILE.tar`. Nothing is downloaded unless
    `allow_download` is set. ReaL labels are found by file names, and need no class folders.
    """
    if is_named(source):
        if class_map is not None or real_labels is not None:
            raise DatasetError(
                f"{source} has its own classes; leave out --class-map and --real-labels, which are for image folders"
            )
        return open_named(source, split, allow_download=allow_download)
    found = _find_images(source, split)
    if not found.ids:
        raise DatasetError(f"{source} holds no image ({', '.join(ENDINGS)}){_as_ending(found.skipped)}")
    notes = tuple(_note_skipped(found.skipped))
    if real_labels is not None and class_map is not None:
        raise DatasetError("ReaL labels are found by file names, not by class folders; leave out --class-map")
    if real_labels is not None:
        labels = match_real_labels(real_labels, found.ids)
        classes = tuple(accepted[0] if accepted else _NO_CLASS for accepted in labels)
        unjudged = f"images not judged because they have no ReaL label: {sum(not accepted for accepted in labels)}"
        count = len(imagenet_classes())
        return Images("imagenet-real", found.label(classes), found.ids, labels, count, (*notes, unjudged))
    return _by_folders(found, source, read_class_map(class_map) if class_map is not None else None, notes)


def check_classes(images: Images, model_classes: int) -> None:
    """Raise DatasetError if the labels do not belong to the classes that a model distinguishes."""
    used = {label for accepted in images.labels for label in accepted}
    start = f"{images.name}: the model has {count_of(model_classes, 'output')}"
    remedy = (
        "if the images are the model's own data, give --class-map with the folders' names in the order of its outputs"
    )
    if images.classes is not None and images.classes != model_classes:
        here = "" if len(used) == images.classes else f" ({len(used)} of them are here)"
        raise DatasetError(f"{start}, but there are {images.classes} classes{here}; {remedy}")
    if used and max(used) >= model_classes:
        raise DatasetError(
            f"{start}, for classes 0 to {model_classes - 1}, but the labels go up to {max(used)}; {remedy}"
        )


def _find_images(source: str, split: str) -> _Unlabelled:
    root = Path(source)
    if root.is_file() and root.suffix.lower() == ".tar":
        members = images_in(root)
        folders = tuple(in_order({one.partition("/")[0] for one in members if "/" in one}))
        held = tuple(members.values())
        return _Unlabelled(root.stem, tuple(members), folders, {}, lambda classes: TarImages(held, classes))
    if not root.is_dir():
        raise DatasetError(
            f"{source} is neither a folder nor a .tar file; give a folder of images, or a name such as "
            "torch/cifar10:DIR or hfds/OWNER/NAME@COMMIT"
        )
    folder = chosen_folder(root, split)
    below = list_images(folder)
    return _Unlabelled(
        root.resolve().name,
        below.ids,
        below.folders,
        below.skipped,
        lambda classes: FolderImages(folder, below.files, classes),
    )


def _by_folders(found: _Unlabelled, source: str, given: ClassMap | None, notes: tuple[str, ...]) -> Images:
    names = class_folders(found.ids, source)
    classes = assign_classes(set(names), found.folders, given)
    label = tuple(classes.index[name] for name in names)
    return Images(
        _slug(found, classes.index, names),
        found.label(label),
        found.ids,
        tuple((one,) for one in label),
        classes.count,
        (*notes, *classes.notes, *_note_unknown_count(label, classes.count)),
    )


def _slug(found: _Unlabelled, classes: Mapping[str, int], names: Sequence[str]) -> str:
    """Return the data set's name in specs if images and labels show it; its folder's name otherwise."""
    published = dict(zip(imagenet_classes(), range(len(imagenet_classes())), strict=True))
    if classes.items() <= published.items() and all(validation_number(one.rpartition("/")[2]) for one in found.ids):
        return "imagenet-1k"
    tens = Counter(str(number) for number in range(1000) for _ in range(10))
    other = any(word in found.name for word in ("threshold", "top-images"))  # ImageNet-V2's other two samples
    numbers = all(str(number) == name for name, number in classes.items())
    return "imagenet-v2" if numbers and not other and Counter(names) == tens else found.name


def _note_unknown_count(label: Sequence[int], count: int | None) -> Iterator[str]:
    if count is None:
        yield f"the labels go from {min(label)} to {max(label)}; the number of classes is not known"


def _note_skipped(skipped: Mapping[str, int]) -> Iterator[str]:
    if skipped:
        kinds = ", ".join(f"{count} {kind}" for kind, count in skipped.items())
        yield f"skipped files that are not images by name: {kinds}"


def _as_ending(skipped: Mapping[str, int]) -> str:
    return "".join(f"; {note}" for note in _note_skipped(skipped))
