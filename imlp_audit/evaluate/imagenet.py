"""What is wrong with a validation folder of ImageNet-1k, in seconds."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from imlp_audit.errors import DatasetError
from imlp_audit.evaluate.findings import Finding, Kind
from imlp_audit.evaluate.folder import Listing, chosen_folder, listed
from imlp_audit.evaluate.imagenet_files import look
from imlp_audit.evaluate.imagenet_names import from_names
from imlp_audit.evaluate.imagenet_order import from_order

_ORDER_UNKNOWN = "of an image that lies in the folder of another class nothing tells; only whole folders are compared"


@dataclass(frozen=True)
class Examination:
    """What was examined, and what is wrong with it. `folder` is relative to what was given."""

    folder: str
    images: int
    classes: int
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]


def examine(root: Path, *, decode_all: bool = False) -> Examination:
    """Examine a validation folder, or one that holds it. Raises DatasetError where it cannot be listed."""
    if not root.is_dir():
        raise DatasetError(f"{root} is no folder; give that of ImageNet's validation images")
    if not os.access(root, os.R_OK | os.X_OK):
        raise DatasetError(f"{root} cannot be listed; its permissions forbid it")
    folder = chosen_folder(root, "validation")
    listing = listed(folder)
    named = tuple(from_names(listing))
    looked = look(folder, listing, decode_all=decode_all)
    ordered = () if any(one.kind is Kind.TRAIN for one in named) else tuple(from_order(listing.ids))
    classes = len({one.partition("/")[0] for one in listing.ids if "/" in one})
    return Examination(
        folder.relative_to(root).as_posix(),
        len(listing.ids),
        classes,
        (*named, *ordered, *looked.findings),
        (*looked.notes, *_notes(listing)),
    )


def _notes(listing: Listing) -> Iterator[str]:
    for kind, count in listing.skipped.items():
        yield f"{count} skipped: {kind}"
    if listing.ids:
        yield _ORDER_UNKNOWN
