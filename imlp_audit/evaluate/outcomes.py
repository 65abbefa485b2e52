"""Of each image whether it was classified rightly, on record with what says which images they were."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence

from imlp_audit.evaluate.statistics import DIGITS, wilson
from imlp_audit.numbers.interval import decimal_text
from imlp_audit.records.evidence import Accuracy
from imlp_audit.spec.tables import Metric


def accuracy(
    metric: Metric,
    right: Sequence[bool],
    images: Sequence[tuple[str, tuple[int, ...]]],
    *,
    available: int,
    unreadable: int,
    unlabelled: int,
    checkpoint: str,
    settings: Mapping[str, str],
) -> Accuracy:
    """Put an evaluation on record.

    `images` are the ids and accepted classes of those that could be read and have a label, in the data set's order, and
    `right` says of each whether it was classified rightly; the others are counted. `checkpoint` is a SHA-256.
    """
    looked_at = len(right) + unreadable
    return Accuracy(
        metric=metric,
        correct=sum(right),
        images=len(right),
        available=available,
        unreadable=unreadable,
        unlabelled=unlabelled,
        low=decimal_text(wilson(sum(right), looked_at).low, DIGITS),
        high=decimal_text(wilson(sum(right) + unreadable, looked_at).high, DIGITS),
        outcomes="".join(_digits(right)),
        checkpoint=checkpoint,
        data=data_digest(images),
        settings=dict(settings),
    )


def _digits(right: Sequence[bool]) -> Iterator[str]:
    for start in range(0, len(right), 4):
        bits = "".join("1" if one else "0" for one in right[start : start + 4])
        yield f"{int(bits.ljust(4, '0'), 2):x}"


def data_digest(images: Sequence[tuple[str, tuple[int, ...]]]) -> str:
    """Return the SHA-256 of images by their ids and accepted classes, in their order."""
    digest = hashlib.sha256()
    for name, labels in images:
        digest.update(json.dumps([name, *labels]).encode() + b"\n")
    return digest.hexdigest()
