"""The images a checkpoint is evaluated on, with the classes that count as right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from imlp_audit.errors import DatasetError
from imlp_audit.evaluate.data.class_map import ClassMap, read_class_map
from imlp_audit.evaluate.data.decode import opened
from imlp_audit.evaluate.data.folder import ENDINGS, chosen_folder, in_order, listed
from imlp_audit.evaluate.data.imagenet import imagenet_classes, validation_number
from imlp_audit.evaluate.data.imagenet import real_labels as accepted_by_people
from imlp_audit.evaluate.data.images import Images, Pictures
from imlp_audit.evaluate.data.labels import class_folders, numbered
from imlp_audit.evaluate.data.named import is_named, open_named
from imlp_audit.evaluate.data.tars import Tarred, images_in

__all__ = ["Images", "Pictures", "check_classes", "open_images"]

_NO_CLASS = -1


@dataclass(frozen=True)
class Files:
    """Image files below a folder, each with its class."""

    root: Path
    files: tuple[str, ...]
    classes: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, index: int) -> tuple[Image.Image, int]:
        return opened(self.root / self.files[index]), self.classes[index]


@dataclass(frozen=True)
class _Found:
    """Images without their labels yet; `held` makes the data set once each image has its class."""

    name: str
    ids: tuple[str, ...]
    folders: tuple[str, ...]
    skipped: Mapping[str, int]
    held: Callable[[tuple[int, ...]], Pictures]


def open_images(
    source: str, *, split: str, class_map: Path | None, real_labels: Path | None, allow_download: bool
) -> Images:
    """Find the images of a data set, and their labels. Raises DatasetError.

    `source` is a folder with CLASS/IMAGE or SPLIT/CLASS/IMAGE in it, a .tar file of CLASS/IMAGE, or a name of timm's:
    `torch/NAME:DIR`, `hfds/OWNER/NAME@COMMIT`, `wds/DIR` or `wds/FILE.tar`. Nothing is downloaded unless allowed.
    ReaL labels go by the images' names, and need no class folders.
    """
    if is_named(source):
        if class_map is not None or real_labels is not None:
            raise DatasetError(f"{source} has classes of its own: class maps and ReaL labels are for folders of images")
        return open_named(source, split, allow_download=allow_download)
    found = _found(source, split)
    if not found.ids:
        raise DatasetError(f"{source}: there is no image ({', '.join(ENDINGS)}) in it{_but(found.skipped)}")
    notes = tuple(_skipped(found.skipped))
    if real_labels is not None and class_map is not None:
        raise DatasetError("ReaL labels go by the images' names, not by class folders: leave out --class-map")
    if real_labels is not None:
        labels = accepted_by_people(real_labels, found.ids)
        classes = tuple(accepted[0] if accepted else _NO_CLASS for accepted in labels)
        unjudged = f"images without a ReaL label, which are not judged: {sum(not accepted for accepted in labels)}"
        count = len(imagenet_classes())
        return Images("imagenet-real", found.held(classes), found.ids, labels, count, (*notes, unjudged))
    return _by_folders(found, source, read_class_map(class_map) if class_map is not None else None, notes)


def check_classes(images: Images, model_classes: int) -> None:
    """Raise DatasetError where the labels are not of the classes that a model tells apart."""
    used = {label for accepted in images.labels for label in accepted}
    told = f"{images.name}: the model has {model_classes} outputs"
    remedy = "if they are its own, give --class-map with the names of the class folders in the order of its outputs"
    if images.classes is not None and images.classes != model_classes:
        here = "" if len(used) == images.classes else f" ({len(used)} of them are here)"
        raise DatasetError(f"{told}, but the labels are of {images.classes} classes{here}; {remedy}")
    if used and max(used) >= model_classes:
        raise DatasetError(
            f"{told}, for classes 0 to {model_classes - 1}, but the labels go up to {max(used)}; {remedy}"
        )


def _found(source: str, split: str) -> _Found:
    root = Path(source)
    if root.is_file() and root.suffix.lower() == ".tar":
        members = images_in(root)
        folders = tuple(in_order({one.partition("/")[0] for one in members if "/" in one}))
        held = tuple(members.values())
        return _Found(root.stem, tuple(members), folders, {}, lambda classes: Tarred(held, classes))
    if not root.is_dir():
        raise DatasetError(
            f"{source} is neither a folder nor a .tar file; give a folder of images, or a name such as "
            "torch/cifar10:DIR or hfds/OWNER/NAME@COMMIT"
        )
    folder = chosen_folder(root, split)
    below = listed(folder)
    return _Found(
        root.resolve().name,
        below.ids,
        below.folders,
        below.skipped,
        lambda classes: Files(folder, below.files, classes),
    )


def _by_folders(found: _Found, source: str, given: ClassMap | None, notes: tuple[str, ...]) -> Images:
    names = class_folders(found.ids, source)
    classes = numbered(set(names), found.folders, given)
    label = tuple(classes.index[name] for name in names)
    return Images(
        _slug(found, classes.index, names),
        found.held(label),
        found.ids,
        tuple((one,) for one in label),
        classes.count,
        (*notes, *classes.notes, *_open_end(label, classes.count)),
    )


def _slug(found: _Found, classes: Mapping[str, int], names: Sequence[str]) -> str:
    """Return the name that specs know a data set by, where images and labels show which it is."""
    published = dict(zip(imagenet_classes(), range(len(imagenet_classes())), strict=True))
    if classes.items() <= published.items() and all(validation_number(one.rpartition("/")[2]) for one in found.ids):
        return "imagenet-1k"
    tens = Counter(str(number) for number in range(1000) for _ in range(10))
    other = any(word in found.name for word in ("threshold", "top-images"))  # ImageNet-V2's other two samples
    numbers = all(str(number) == name for name, number in classes.items())
    return "imagenet-v2" if numbers and not other and Counter(names) == tens else found.name


def _open_end(label: Sequence[int], count: int | None) -> Iterator[str]:
    if count is None:
        yield f"the labels go from {min(label)} to {max(label)}; of how many classes they are, nothing says"


def _skipped(skipped: Mapping[str, int]) -> Iterator[str]:
    if skipped:
        told = ", ".join(f"{count} {kind}" for kind, count in skipped.items())
        yield f"skipped what is no image by its name: {told}"


def _but(skipped: Mapping[str, int]) -> str:
    return "".join(f"; {note}" for note in _skipped(skipped))
