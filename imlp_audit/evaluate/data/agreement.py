"""What can be said about labels before the first batch: ImageNet's in another order, and copies of images."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from hashlib import sha256
from pathlib import PurePosixPath
from typing import Protocol, runtime_checkable

from imlp_audit.errors import DatasetError
from imlp_audit.evaluate.data.ends import Ends, FileSpan, find_alike, hash_spans, read_ends, read_tail
from imlp_audit.evaluate.data.imagenet import shipped_real_labels, validation_number
from imlp_audit.evaluate.data.images import Images
from imlp_audit.numbers.words import count_of, list_some

_ENOUGH = 20  # images from which a share means something
_USUAL = Fraction(3, 4)  # in the published set, people accept about nine in ten labels
_CLASSES = 1000


@runtime_checkable
class InFiles(Protocol):
    """Images whose bytes lie in files as they are."""

    def span(self, index: int) -> FileSpan:
        """Return where the bytes of an image lie."""


@runtime_checkable
class InTables(Protocol):
    """Images whose bytes lie in files of another form."""

    def tables(self) -> tuple[str, ...]:
        """Return the paths of the files."""


def check_order(images: Images, source: str, *, mapped: bool) -> Iterator[str]:
    """Compare labels of ImageNet's validation images, known by their file names, with those that people accept (ReaL).

    Yields a note where too few agree. Raises DatasetError if less than half agree, unless the user's class map made it
    so (`mapped`): a model may have its outputs in an order of its own.
    """
    numbered = [
        (number, labels)
        for one, labels in zip(images.ids, images.labels, strict=True)
        if labels and (number := _number(PurePosixPath(one).name)) is not None
    ]
    if not numbered or images.classes not in (None, _CLASSES) or max(max(one) for _, one in numbered) >= _CLASSES:
        return
    accepted = shipped_real_labels()
    judged = [not set(labels).isdisjoint(accepted[number - 1]) for number, labels in numbered if accepted[number - 1]]
    if len(judged) < _ENOUGH or sum(judged) >= _USUAL * len(judged):
        return
    said = (
        f"only {sum(judged)} of {count_of(len(judged), 'image')} have a label that people accept (ReaL); in "
        "ImageNet's own order nine in ten do"
    )
    if 2 * sum(judged) < len(judged) and not mapped:
        raise DatasetError(
            f"{source}: {said}, so the classes are in another order; `imlp-audit doctor imagenet DIR` says which"
        )
    yield f"{images.name}: {said}; are the classes in the order of the model's outputs?"


def _number(name: str) -> int | None:
    """Return the number of a validation image; the keys of shards are names without an ending."""
    return validation_number(name if "." in name else f"{name}.JPEG")


def chosen_ends(images: Images, chosen: Sequence[int]) -> dict[str, Ends | str]:
    """Return by id both ends of each chosen image, or why it cannot be read; nothing for images without own bytes."""
    spans = _spans(images, chosen)
    return dict(zip(spans, read_ends(list(spans.values())), strict=True))


def bytes_digest(images: Images, ends: Mapping[str, Ends | str]) -> str:
    """Return a digest of the sizes and ends of images, or of the files of tables that hold them."""
    tables = images.dataset.tables() if isinstance(images.dataset, InTables) else ()
    whole = sha256(repr([read_tail(path) for path in tables]).encode())
    for one, found in ends.items():
        whole.update(repr((one, found)).encode())
    return whole.hexdigest()


def whole_digest(images: Images, chosen: Sequence[int]) -> str:
    """Return a digest of all bytes of images, or of the files of tables that hold them; each is read once."""
    tables = images.dataset.tables() if isinstance(images.dataset, InTables) else ()
    spans = [*_spans(images, chosen).values(), *map(FileSpan, tables)]
    return sha256(repr(list(hash_spans(spans))).encode()).hexdigest()


def find_repeats(images: Images, chosen: Sequence[int], ends: Mapping[str, Ends | str]) -> Iterator[str]:
    """Yield notes on images that have the same bytes as another one, and on those of them with different labels."""
    groups = find_alike(_spans(images, chosen), ends)
    labels = {images.ids[index]: images.labels[index] for index in chosen}
    more = sum(len(group) - 1 for group in groups)
    if more:
        named = list_some([" = ".join(group) for group in groups])
        yield f"{count_of(more, 'image')} {_have(more)} the same bytes as another image: {named}"
    torn = [group for group in groups if len({labels[one] for one in group}) > 1]
    if torn:
        named = list_some([" = ".join(group) for group in torn])
        yield f"{count_of(len(torn), 'image')} {_have(len(torn))} copies in several classes: {named}"


def _spans(images: Images, chosen: Sequence[int]) -> dict[str, FileSpan]:
    dataset = images.dataset
    return {images.ids[index]: dataset.span(index) for index in chosen} if isinstance(dataset, InFiles) else {}


def _have(count: int) -> str:
    return "has" if count == 1 else "have"
