"""Which class an image is of: from the names of class folders, or from a class map."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from imlp_audit.errors import DatasetError
from imlp_audit.evaluate.data.class_map import ClassMap
from imlp_audit.evaluate.data.folder import in_order
from imlp_audit.evaluate.data.imagenet import imagenet_classes

_TOLD = 3  # names listed in a message


@dataclass(frozen=True)
class Classes:
    """The class of each class folder; `count` is how many classes there are, None where nothing says so."""

    index: Mapping[str, int]
    count: int | None
    notes: tuple[str, ...] = ()


def class_folders(ids: Sequence[str], source: str) -> tuple[str, ...]:
    """Return the class folder of each image. Raises DatasetError unless every id is CLASS/IMAGE.

    Of deeper folders timm takes the last for the class and torchvision the first, so they are refused.
    """
    loose = [one for one in ids if "/" not in one]
    if loose:
        raise DatasetError(
            f"{source}: {_some(loose)} lie{_s(loose)} in no class folder, so nothing says of which class they are; "
            "move them to DIR/CLASS/IMAGE (of ImageNet: `imlp-audit doctor imagenet DIR` says how)"
        )
    deep = [one for one in ids if one.count("/") > 1]
    if deep:
        raise DatasetError(
            f"{source}: {_some(deep)} lie{_s(deep)} deeper than DIR/CLASS/IMAGE, where timm and torchvision read "
            "different classes; give the folder whose subfolders are the classes, or --split with its name"
        )
    return tuple(PurePosixPath(one).parts[0] for one in ids)


def numbered(present: Collection[str], folders: Collection[str], given: ClassMap | None) -> Classes:
    """Give class folders their classes. `present` are those with images, `folders` all of them.

    A class map decides; then ImageNet-1k's published order, for a part of its folders too; then names that are
    numbers; then timm's order of all names. Raises DatasetError where a folder is left without a class.
    """
    if given is not None:
        return _mapped(present, given)
    published = {name: index for index, name in enumerate(imagenet_classes())}
    known = [name for name in present if name in published]
    if 2 * len(known) > len(present):
        return _published(present, known, published)
    if all(re.fullmatch("[0-9]{1,9}", name) for name in present):
        return _by_number(present)
    return _by_order({*present, *folders}, present)


def _mapped(present: Collection[str], given: ClassMap) -> Classes:
    lacking = sorted(name for name in present if name not in given.index)
    if lacking:
        raise DatasetError(
            f"the class map names no class {_some(lacking)}; add a line for {_each(lacking)}, or remove the folder"
        )
    return Classes({name: given.index[name] for name in present}, given.count)


def _published(present: Collection[str], known: Sequence[str], published: Mapping[str, int]) -> Classes:
    strange = sorted(set(present) - set(known))
    if strange:
        raise DatasetError(
            f"{len(known)} class folders are of ImageNet-1k, but {_some(strange)} {_is(strange)} not, and would "
            "shift all classes that follow; rename or remove, or give --class-map"
        )
    notes = (f"{len(known)} of the 1000 classes of ImageNet-1k are here",) if len(known) < len(published) else ()
    return Classes({name: published[name] for name in known}, len(published), notes)


def _by_number(present: Collection[str]) -> Classes:
    index = {name: int(name) for name in present}
    twice = [number for number, times in Counter(index.values()).items() if times > 1]
    if twice:
        raise DatasetError(f"two class folders are numbered {twice[0]}, with zeros before the number and without")
    top = max(index.values())
    if sorted(index.values()) == list(range(1, top + 1)) and top > 1:
        raise DatasetError(
            f"the class folders are numbered from 1 to {top}, and classes from 0: whether 1 is the first class or the "
            "second, nothing says; give --class-map with the folders' names in the order of the model's outputs"
        )
    return Classes(index, top + 1 if len(index) == top + 1 else None)


def _by_order(names: Collection[str], present: Collection[str]) -> Classes:
    ordered = list(in_order(names))
    return Classes(
        {name: place for place, name in enumerate(ordered)}, len(ordered), tuple(_warnings(ordered, present))
    )


def _warnings(ordered: Sequence[str], present: Collection[str]) -> Iterator[str]:
    empty = [name for name in ordered if name not in present]
    if empty:
        yield f"class folders without an image count as classes: {_some(empty)}"
    if ordered != sorted(ordered):
        yield (
            "the classes are in timm's order, numbers in names by value; torchvision's ImageFolder orders them "
            "otherwise, and a model trained with it needs --class-map"
        )


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _TOLD} more" if len(names) > _TOLD else ""
    return ", ".join(names[:_TOLD]) + more


def _s(names: Sequence[str]) -> str:
    return "s" if len(names) == 1 else ""


def _is(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _each(names: Sequence[str]) -> str:
    return "it" if len(names) == 1 else "each"
