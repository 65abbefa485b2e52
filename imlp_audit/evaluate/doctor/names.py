"""Finds what is wrong with the names in a validation folder of ImageNet-1k, without opening a file."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence

from imlp_audit.evaluate.data.folder import Listing
from imlp_audit.evaluate.data.imagenet import (
    IMAGES_A_CLASS,
    VALIDATION_IMAGES,
    imagenet_classes,
    validation_number,
)
from imlp_audit.evaluate.doctor.problems import FolderProblem, ProblemKind
from imlp_audit.numbers.words import count_of, list_some

_ARCHIVES = (".tar", ".gz", ".tgz", ".zip", ".xz", ".bz2", ".7z", ".rar")
_TRAINING = re.compile(r"n[0-9]{8}_[0-9]+\.jpe?g", re.IGNORECASE)
_GET_AGAIN = "download ILSVRC2012_img_val.tar again and unpack it"
_SORT = (
    "put ILSVRC2012_img_val.tar and ILSVRC2012_devkit_t12.tar.gz into a folder and run "
    "`python -c \"import torchvision; torchvision.datasets.ImageNet('FOLDER', split='val')\"`, which sorts them"
)


def find_name_problems(listing: Listing) -> Iterator[FolderProblem]:
    """Yield the problems with the names and numbers of class folders and files."""
    ids = listing.ids
    yield from _left_over(listing.skipped)
    if not ids:
        yield FolderProblem(ProblemKind.EMPTY, "there is no image here", f"unpack the archive here, or {_GET_AGAIN}")
        return
    training = [one for one in ids if _TRAINING.fullmatch(file_name(one))]
    if 2 * len(training) > len(ids):
        what = f"{count_of(len(training), 'image')} have names of the training set: {list_some(training)}"
        yield FolderProblem(ProblemKind.TRAIN, what, "give the folder of the validation set", tuple(training))
        return
    if _is_other_data(ids):
        what = "class folders, file names and the number of classes are all unlike ImageNet's validation set"
        then = "for other images `imlp-audit eval` reports problems itself; --class-map gives each folder's class"
        yield FolderProblem(ProblemKind.OTHER_DATA, what, then)
        return
    yield from _find_misplaced(listing)
    sorted_in = [one for one in ids if one.count("/") == 1]
    if sorted_in:
        yield from _class_folders(sorted({one.partition("/")[0] for one in sorted_in}))
        yield from _per_class(sorted_in)
    yield from find_number_problems(ids)


def _is_other_data(ids: Sequence[str]) -> bool:
    """Return whether images lie in class folders and nothing shows that they are ImageNet's."""
    folders = {one.partition("/")[0] for one in ids if "/" in one}
    ours = folders & set(imagenet_classes()) or len(folders) == len(imagenet_classes())
    return bool(folders) and not ours and all(validation_number(file_name(one)) is None for one in ids)


def file_name(one: str) -> str:
    """Return the last part of an id."""
    return one.rpartition("/")[2]


def _left_over(skipped: Mapping[str, int]) -> Iterator[FolderProblem]:
    for ending, count in skipped.items():
        if ending in _ARCHIVES:
            what = f"{count_of(count, f'{ending} file')} left over"
            yield FolderProblem(ProblemKind.LEFT_OVER, what, "unpack it if you have not, then move it elsewhere")


def _find_misplaced(listing: Listing) -> Iterator[FolderProblem]:
    flat = tuple(one for one in listing.ids if "/" not in one)
    if flat:
        whole = "all" if len(flat) == len(listing.ids) else f"of {len(listing.ids)}"
        what = f"{count_of(len(flat), 'image')} ({whole}) not in a class folder: {list_some(flat)}"
        yield FolderProblem(
            ProblemKind.FLAT,
            what,
            _SORT if len(flat) == len(listing.ids) else "move them to the folder of their class",
            flat,
        )
    deep = tuple(one for one in listing.ids if one.count("/") > 1)
    if deep:
        train = "train" in listing.folders
        then = "give the folder whose subfolders are the 1000 classes" + (
            ", that of the validation set" if train else ""
        )
        yield FolderProblem(
            ProblemKind.DEEP, f"{count_of(len(deep), 'image')} deeper than CLASS/IMAGE: {list_some(deep)}", then, deep
        )


def _class_folders(names: Sequence[str]) -> Iterator[FolderProblem]:
    published = imagenet_classes()
    known, there = set(published), set(names)
    strange = tuple(name for name in names if name not in known)
    lacking = tuple(name for name in published if name not in there)
    if strange:
        what = f"{count_of(len(strange), 'class folder')} {_describe_strange(strange)}: {list_some(strange)}"
        yield FolderProblem(ProblemKind.CLASS_NAMES, what, _rename(strange), strange)
    if lacking and len(strange) < len(names):
        what = f"{count_of(len(names) - len(strange), 'class folder')} of 1 000; missing: {list_some(lacking)}"
        yield FolderProblem(ProblemKind.CLASSES, what, f"{_GET_AGAIN}; missing classes are not evaluated", lacking)
    elif len(names) != len(published):
        what = f"{count_of(len(names), 'class folder')}, not 1 000"
        yield FolderProblem(ProblemKind.CLASSES, what, f"remove the folders that are not classes, or {_GET_AGAIN}")


def _describe_strange(strange: Collection[str]) -> str:
    if all(re.fullmatch("[0-9]+", name) for name in strange):
        numbers = [int(name) for name in strange]
        return f"numbered {min(numbers)} to {max(numbers)} instead of WordNet ids"
    return "not named by a WordNet id of ImageNet-1k"


def _rename(strange: Collection[str]) -> str:
    if all(re.fullmatch("[0-9]+", name) for name in strange):
        return (
            "if they are numbered from 0 in the published order, rename each to its WordNet id (class 0 is n01440764); "
            "the devkit numbers from 1, in an order of its own"
        )
    return (
        "rename them (n01440764 is tench, ...), or give `eval --class-map` with the names in the order of the outputs"
    )


def _per_class(ids: Sequence[str]) -> Iterator[FolderProblem]:
    held = Counter(one.partition("/")[0] for one in ids)
    other = tuple(name for name in sorted(held) if held[name] != IMAGES_A_CLASS)
    if other:
        counts = list_some([f"{name} has {held[name]}" for name in other])
        then = f"move misplaced images, or {_GET_AGAIN}"
        what = f"{count_of(len(other), 'class folder')} without exactly {IMAGES_A_CLASS} images: {counts}"
        yield FolderProblem(ProblemKind.IMAGES_PER_CLASS, what, then, other)


def find_number_problems(ids: Sequence[str]) -> Iterator[FolderProblem]:
    """Yield the problems with the numbers in the names of images, and with how many images there are."""
    places: dict[int | None, list[str]] = defaultdict(list)
    for one in ids:
        places[validation_number(file_name(one))].append(one)
    renamed = tuple(places.pop(None, ()))
    if renamed:
        what = f"{count_of(len(renamed), 'file')} not named ILSVRC2012_val_NNNNNNNN.JPEG: {list_some(renamed)}"
        then = f"restore their names, which ReaL labels need, or {_GET_AGAIN}"
        yield FolderProblem(ProblemKind.FILE_NAMES, what, then, renamed)
    twice = tuple(one for held in places.values() if len(held) > 1 for one in held)
    if twice:
        what = f"{count_of(len(twice), 'file')} share a name with a file in another class folder: {list_some(twice)}"
        yield FolderProblem(ProblemKind.TWICE, what, "remove those in the wrong folder", twice)
    if len(ids) != VALIDATION_IMAGES:
        absent = [number for number in range(1, VALIDATION_IMAGES + 1) if number not in places]
        names = tuple(f"ILSVRC2012_val_{number:08d}.JPEG" for number in absent) if not renamed else ()
        missing = f"; missing: {list_some(names)}" if names else ""
        what = f"{count_of(len(ids), 'image')}, not 50 000{missing}"
        yield FolderProblem(ProblemKind.IMAGES, what, _GET_AGAIN, names)
