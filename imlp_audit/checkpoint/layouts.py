"""The names that publishers' code gives to a model's tensors, and ours for them (facts of that code): one table."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from imlp_audit.checkpoint.names import PUBLISHED_RESMLP, RESMLP, rename_released


@dataclass(frozen=True)
class Layout:
    """The names of one code base: `mark` is found in one of its names and in no other's.

    `rules` are regular expressions with what to put in their place, one after the other.
    """

    name: str
    mark: str
    rules: tuple[tuple[str, str], ...]

    def rename(self, name: str) -> str:
        """Return our name of a tensor."""
        for pattern, ours in self.rules:
            name = re.sub(pattern, ours, name)
        return name


RESMLP_LAYOUT = Layout(
    "ResMLP's",
    r"\.norm1\.alpha$",
    (
        (r"^patch_embed\.", "stem."),
        (r"\.norm([12])\.", r".pre\1."),
        *(
            (rf"\.{re.escape(theirs)}\.(weight|bias)$", rf".{ours}.\1")
            for published in PUBLISHED_RESMLP
            for theirs, ours in zip(published.layers, RESMLP.layers, strict=True)
        ),
        (r"\.(ls|gamma_)([12])$", r".post\2.alpha"),
        (r"^norm\.", "pool.0."),
    ),
)
SWIN_LAYOUT = Layout(  # it downsamples at the end of a stage, timm at the beginning of the next
    "Swin's (microsoft/Swin-Transformer)",
    r"^layers\.0\.downsample\.reduction\.weight$",
    (
        *((rf"^layers\.{stage}\.downsample\.", f"layers.{stage + 1}.downsample.") for stage in (2, 1, 0)),
        (r"^head\.", "head.fc."),
    ),
)
POOLFORMER_LAYOUT = Layout(
    "PoolFormer's (sail-sg/poolformer)",
    r"^network\.0\.0\.norm1\.weight$",
    (
        (r"^patch_embed\.proj\.", "stem.conv."),
        *((rf"^network\.{2 * stage - 1}\.proj\.", f"stages.{stage}.downsample.conv.") for stage in (1, 2, 3)),
        *((rf"^network\.{2 * stage}\.(\d+)\.", rf"stages.{stage}.blocks.\1.") for stage in (0, 1, 2, 3)),
        (r"\.layer_scale_([12])$", r".layer_scale\1.scale"),
        (r"^head\.", "head.fc."),
        (r"^norm\.", "head.norm."),
    ),
)
LAYOUTS = (RESMLP_LAYOUT, SWIN_LAYOUT, POOLFORMER_LAYOUT)

_MMPRETRAIN = re.compile(r"^(backbone\.|head\.fc\.)")
_CLASSIFIERS = ("head.", "fc.", "head.fc.", "classifier.")


@dataclass(frozen=True)
class Dialect:
    """One way to map a checkpoint's names to ours; before that, `prefix` is removed from all of them."""

    names: Mapping[str, str]
    prefix: str = ""
    layout: Layout | None = None


def dialects(names: Collection[str]) -> Iterator[Dialect]:
    """Yield each way to map a checkpoint's names to ours: as they are, then without each prefix that all have."""
    for prefix in ("", *_common_prefixes(names)):
        short = {name: name.removeprefix(prefix) for name in names}
        for renamed, layout in _dialects(list(short.values())):
            yield Dialect({old: renamed[new] for old, new in short.items()}, prefix, layout)
    if all(map(_MMPRETRAIN.match, names)):
        for classifier in _CLASSIFIERS:
            yield Dialect({name: _rename_mmpretrain(name, classifier) for name in names}, "backbone.")


def _rename_mmpretrain(name: str, classifier: str) -> str:
    """Return the name without that of mmpretrain's part, the backbone or the head."""
    return re.sub(r"^head\.fc\.", classifier, name) if name.startswith("head.") else name.removeprefix("backbone.")


def _common_prefixes(names: Collection[str]) -> Iterator[str]:
    first = next(iter(names), "")
    for at, sign in enumerate(first):
        if sign == ".":
            if not all(name.startswith(first[: at + 1]) for name in names):
                return
            yield first[: at + 1]


def _dialects(names: Collection[str]) -> Iterator[tuple[Mapping[str, str], Layout | None]]:
    """Yield the names as they are, then by each layout that they show; released IMLP blocks get our names too."""
    yield rename_released(names), None
    for layout in LAYOUTS:
        if any(re.search(layout.mark, name) for name in names):
            ours = {name: layout.rename(name) for name in names}
            if len(set(ours.values())) == len(ours):
                released = rename_released(ours.values())
                yield {name: released[new] for name, new in ours.items()}, layout
