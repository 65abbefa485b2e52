"""The ways to read a checkpoint's names: as they are, without a prefix, and by each layout that they show."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from imlp_audit.checkpoint.layouts.authors import AUTHORS
from imlp_audit.checkpoint.layouts.hugging_face import HUGGING_FACE
from imlp_audit.checkpoint.layouts.layout import NameLayout
from imlp_audit.checkpoint.layouts.mmpretrain import MMPRETRAIN
from imlp_audit.checkpoint.layouts.torchvision import TORCHVISION
from imlp_audit.checkpoint.names import rename_released

_PARTS = NameLayout("mmpretrain's", r"^(backbone\.|head\.fc\.)", ((r"^backbone\.", ""),))
_CLASSIFIERS = ("head.", "fc.", "head.fc.", "classifier.")
_LONGEST_PREFIX = 8  # parts, such as backbone.


LAYOUTS = (*AUTHORS, *HUGGING_FACE, *TORCHVISION, *MMPRETRAIN)


@dataclass(frozen=True)
class Dialect:
    """One way to map a checkpoint's names to ours; before that, `prefix` is removed from all of them."""

    names: Mapping[str, str]
    prefix: str = ""
    layout: NameLayout | None = None


def dialects(names: Collection[str]) -> Iterator[Dialect]:
    """Yield each way to map a checkpoint's names to ours: as they are, then without each prefix that all have."""
    for prefix in ("", *_common_prefixes(names)):
        short = {name: name.removeprefix(prefix) for name in names}
        for renamed, layout in _dialects(list(short.values())):
            yield Dialect({old: renamed[new] for old, new in short.items() if new in renamed}, prefix, layout)
    if all(re.search(_PARTS.mark, name) for name in names):
        for classifier in _CLASSIFIERS:
            ours = {name: re.sub(r"^head\.fc\.", classifier, name) for name in names}
            yield Dialect({name: _PARTS.rename(new) for name, new in ours.items()}, layout=_PARTS)


def _common_prefixes(names: Collection[str]) -> Iterator[str]:
    first = next(iter(names), "")
    for at, sign in enumerate(first):
        if sign == ".":
            if first.count(".", 0, at) >= _LONGEST_PREFIX or not all(
                name.startswith(first[: at + 1]) for name in names
            ):
                return
            yield first[: at + 1]


def _dialects(names: Collection[str]) -> Iterator[tuple[Mapping[str, str], NameLayout | None]]:
    """Yield the names as they are, then by each layout that they show; released IMLP blocks get our names too."""
    yield {name: name for name in names}, None
    yield rename_released(names), None
    for layout in LAYOUTS:
        if any(re.search(layout.mark, name) for name in names):
            ours = layout.rename_all(names)
            released = rename_released(ours.values())
            yield {name: released[new] for name, new in ours.items()}, layout
