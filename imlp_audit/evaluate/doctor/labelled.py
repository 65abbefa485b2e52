"""Finds what is wrong with ImageNet's validation images whose labels do not lie in folders' names: parquet, shards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from imlp_audit.evaluate.data.decode import UnreadableError
from imlp_audit.evaluate.data.imagenet import IMAGES_A_CLASS, imagenet_classes
from imlp_audit.evaluate.doctor.names import file_name, find_number_problems
from imlp_audit.evaluate.doctor.problems import FolderProblem, ProblemKind
from imlp_audit.numbers.words import count_of, list_some

if TYPE_CHECKING:
    from imlp_audit.evaluate.data.images import Images

_DECODED = 100


def label_ids(images: Images) -> list[str]:
    """Return the images as LABEL/FILE, as if they lay in folders numbered by their classes."""
    return [f"{labels[0]}/{_with_ending(one)}" for one, labels in zip(images.ids, images.labels, strict=True)]


def find_label_problems(images: Images) -> Iterator[FolderProblem]:
    """Yield the problems with the numbers of images and classes, and with the names of the images."""
    held = Counter(labels[0] for labels in images.labels)
    if len(held) != len(imagenet_classes()):
        yield FolderProblem(
            ProblemKind.CLASSES, f"{count_of(len(held), 'class')} of 1 000", "missing classes are not evaluated"
        )
    other = [f"{label} has {count}" for label, count in sorted(held.items()) if count != IMAGES_A_CLASS]
    if other:
        what = f"{count_of(len(other), 'class')} without exactly {IMAGES_A_CLASS} images: {list_some(other)}"
        yield FolderProblem(ProblemKind.IMAGES_PER_CLASS, what, "get the missing files, or remove those that are twice")
    yield from find_number_problems(label_ids(images))


def find_broken(images: Images) -> Iterator[FolderProblem]:
    """Decode the first images, and yield a problem if some cannot be read."""
    broken = [(one, why) for index, one in enumerate(images.ids[:_DECODED]) if (why := _why_broken(images, index))]
    if broken:
        named = list_some([f"{one} ({why})" for one, why in broken])
        yield FolderProblem(
            ProblemKind.UNREADABLE,
            f"{count_of(len(broken), 'image')} of the first {_DECODED} cannot be read: {named}",
            "download them again; eval counts and names unreadable images",
            tuple(one for one, _ in broken),
        )


def _why_broken(images: Images, index: int) -> str:
    try:
        images.dataset[index]
    except UnreadableError as error:
        return str(error)
    return ""


def _with_ending(one: str) -> str:
    """Return the name of a file; the keys of shards have no ending."""
    name = file_name(one)
    return name if "." in name else f"{name}.JPEG"
