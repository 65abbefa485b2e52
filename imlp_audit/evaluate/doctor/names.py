"""What the names in a validation folder of ImageNet-1k tell: no file is opened."""

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
from imlp_audit.evaluate.doctor.findings import Finding, Kind, counted, some

_ARCHIVES = (".tar", ".gz", ".tgz", ".zip", ".xz", ".bz2", ".7z", ".rar")
_TRAINING = re.compile(r"n[0-9]{8}_[0-9]+\.jpe?g", re.IGNORECASE)
_GET_AGAIN = "get ILSVRC2012_img_val.tar again and unpack it anew"
_SORT = (
    "put ILSVRC2012_img_val.tar and ILSVRC2012_devkit_t12.tar.gz into a folder and run "
    "`python -c \"import torchvision; torchvision.datasets.ImageNet('FOLDER', split='val')\"`, which sorts them"
)


def from_names(listing: Listing) -> Iterator[Finding]:
    """Yield what is wrong with the names of class folders and of files, and with their numbers."""
    ids = listing.ids
    yield from _left_over(listing.skipped)
    if not ids:
        yield Finding(Kind.EMPTY, "there is no image here", f"unpack the archive into it, or {_GET_AGAIN}")
        return
    training = [one for one in ids if _TRAINING.fullmatch(file_name(one))]
    if 2 * len(training) > len(ids):
        what = f"{counted(len(training), 'image')} are called as those of the training set are: {some(training)}"
        yield Finding(Kind.TRAIN, what, "give the folder of the validation set", tuple(training))
        return
    if _is_other_data(ids):
        what = "no class folder, no file and no number of classes is as in ImageNet's validation set"
        then = "of other images `imlp-audit eval` says itself what is wrong; --class-map says which class a folder is"
        yield Finding(Kind.OTHER_DATA, what, then)
        return
    yield from _misplaced(listing)
    sorted_in = [one for one in ids if one.count("/") == 1]
    if sorted_in:
        yield from _class_folders(sorted({one.partition("/")[0] for one in sorted_in}))
        yield from _per_class(sorted_in)
    yield from _numbers(ids)


def _is_other_data(ids: Sequence[str]) -> bool:
    """Say whether images lie in class folders of which nothing shows that they are ImageNet's."""
    folders = {one.partition("/")[0] for one in ids if "/" in one}
    ours = folders & set(imagenet_classes()) or len(folders) == len(imagenet_classes())
    return bool(folders) and not ours and all(validation_number(file_name(one)) is None for one in ids)


def file_name(one: str) -> str:
    """Return the last part of an id."""
    return one.rpartition("/")[2]


def _left_over(skipped: Mapping[str, int]) -> Iterator[Finding]:
    for ending, count in skipped.items():
        if ending in _ARCHIVES:
            what = f"{counted(count, f'{ending} file')} left over"
            yield Finding(Kind.LEFT_OVER, what, "unpack it if that was not done, then move it out of here")


def _misplaced(listing: Listing) -> Iterator[Finding]:
    flat = tuple(one for one in listing.ids if "/" not in one)
    if flat:
        whole = "all" if len(flat) == len(listing.ids) else f"of {len(listing.ids)}"
        what = f"{counted(len(flat), 'image')} ({whole}) lie in no class folder: {some(flat)}"
        yield Finding(Kind.FLAT, what, _SORT if len(flat) == len(listing.ids) else "move them to their class", flat)
    deep = tuple(one for one in listing.ids if one.count("/") > 1)
    if deep:
        train = "train" in listing.folders
        then = "give the folder whose subfolders are the 1000 classes" + (
            ", that of the validation set" if train else ""
        )
        yield Finding(Kind.DEEP, f"{counted(len(deep), 'image')} lie deeper than CLASS/IMAGE: {some(deep)}", then, deep)


def _class_folders(names: Sequence[str]) -> Iterator[Finding]:
    published = imagenet_classes()
    known, there = set(published), set(names)
    strange = tuple(name for name in names if name not in known)
    lacking = tuple(name for name in published if name not in there)
    if strange:
        what = f"{counted(len(strange), 'class folder')} {_called(strange)}: {some(strange)}"
        yield Finding(Kind.CLASS_NAMES, what, _rename(strange), strange)
    if lacking and len(strange) < len(names):
        what = f"{counted(len(names) - len(strange), 'class folder')} of the 1 000, without {some(lacking)}"
        yield Finding(Kind.CLASSES, what, f"{_GET_AGAIN}; what is not there is not evaluated", lacking)
    elif len(names) != len(published):
        what = f"{counted(len(names), 'class folder')}, not 1 000"
        yield Finding(Kind.CLASSES, what, f"remove those that are no classes, or {_GET_AGAIN}")


def _called(strange: Collection[str]) -> str:
    if all(re.fullmatch("[0-9]+", name) for name in strange):
        numbers = [int(name) for name in strange]
        return f"numbered {min(numbers)} to {max(numbers)} in place of WordNet ids"
    return "not called by a WordNet id of ImageNet-1k"


def _rename(strange: Collection[str]) -> str:
    if all(re.fullmatch("[0-9]+", name) for name in strange):
        return "rename each to its WordNet id (class 0 is n01440764); the devkit numbers from 1, in an order of its own"
    return (
        "rename them (n01440764 is tench, ...), or give `eval --class-map` with the names in the order of the outputs"
    )


def _per_class(ids: Sequence[str]) -> Iterator[Finding]:
    held = Counter(one.partition("/")[0] for one in ids)
    other = tuple(name for name in sorted(held) if held[name] != IMAGES_A_CLASS)
    if other:
        told = some([f"{name} has {held[name]}" for name in other])
        then = f"move what is misplaced, or {_GET_AGAIN}"
        what = f"{counted(len(other), 'class folder')} without exactly {IMAGES_A_CLASS} images: {told}"
        yield Finding(Kind.IMAGES_PER_CLASS, what, then, other)


def _numbers(ids: Sequence[str]) -> Iterator[Finding]:
    places: dict[int | None, list[str]] = defaultdict(list)
    for one in ids:
        places[validation_number(file_name(one))].append(one)
    renamed = tuple(places.pop(None, ()))
    if renamed:
        what = f"{counted(len(renamed), 'file')} not called ILSVRC2012_val_NNNNNNNN.JPEG: {some(renamed)}"
        then = f"give them their names, by which ReaL labels go, or {_GET_AGAIN}"
        yield Finding(Kind.FILE_NAMES, what, then, renamed)
    twice = tuple(one for held in places.values() if len(held) > 1 for one in held)
    if twice:
        what = f"{counted(len(twice), 'file')} share a name, in two class folders each: {some(twice)}"
        yield Finding(Kind.TWICE, what, "remove those in the wrong one", twice)
    if len(ids) != VALIDATION_IMAGES:
        absent = [number for number in range(1, VALIDATION_IMAGES + 1) if number not in places]
        names = tuple(f"ILSVRC2012_val_{number:08d}.JPEG" for number in absent) if not renamed else ()
        told = f"; there is no {some(names)}" if names else ""
        what = f"{counted(len(ids), 'image')}, not 50 000{told}"
        yield Finding(Kind.IMAGES, what, _GET_AGAIN, names)
