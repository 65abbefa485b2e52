"""The lists of names and sizes of images, a text file a library; `python -m tests.models.names.lists` writes them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum, StrEnum
from functools import cache
from pathlib import Path


class Library(StrEnum):
    """A library whose models a recipe can name."""

    TIMM = "timm"
    TORCHVISION = "torchvision"
    TRANSFORMERS = "transformers"


OLD = "(old)"
"""What follows a name that a library keeps for old code alone."""

USUAL_SIZE = 224  # the side of the images where nothing says another


@cache
def known_models(library: Library) -> frozenset[str]:
    """Return every name that a library builds a model by: of transformers, its types of models, such as bert."""
    return frozenset(_notes(library))


@cache
def current_models(library: Library) -> frozenset[str]:
    """Return the names that a library lists: those that it only keeps for old code are left out."""
    return frozenset(name for name, note in _notes(library).items() if note != OLD)


def own_size(library: Library, name: str) -> int:
    """Return the side of the images that a library's model was published for, the first that its list gives."""
    return sizes_of(library, name)[0]


def sizes_of(library: Library, name: str) -> tuple[int, ...]:
    """Return the sides of the images that a library's weights of a model were trained or tested on, its own first.

    A list has 224>320 for weights that are tested on larger images; a newer library has names that it lacks.
    """
    note = _notes(library).get(name, "")
    return tuple(map(int, dict.fromkeys(re.findall(r"\d+", note)))) or (USUAL_SIZE,)


class Trait(Enum):
    """What papers or library code say of models, with the library and the names of those that have it."""

    BRANCHES = r"timm (repvgg|mobileone|fastvit|repvit|ghostnetv3|lcnetv2)_.*"
    """Training has branches that are merged for inference, so that papers count two forms."""
    BOTTLENECKS = r"(timm|torchvision) (wide_|(legacy_)?se)?resne(t|xt)\d+(_\d+)?(_\d+x\d+d)?"
    """A ResNet, whose bottlenecks, if it has any, papers count with strides in 1x1 convolutions too."""
    AUXILIARY_HEADS = r"(timm|torchvision) (googlenet|inception_v3)"
    """Classifiers that only training uses, with which torchvision builds it and timm does not; papers count both."""
    LIKE = r"timm (coatnex?t_.*|skresnex?t.*|mixnet_xx?l|nfnet_l\d|.*_rw\d?(_.*)?)"
    """Comments in timm's files say that it is not the paper's: its own, or one that tries to be like it."""
    NAMESAKE = r"timm iformer_[sl]"
    """Another paper has a model of the name: Inception Transformer (arXiv 2205.12956)."""
    ONE_SIZE = r"timm (crossvit_.*|efficientformer_l\d)|torchvision maxvit_t"
    """It is built for images of its own sizes alone."""


def has(trait: Trait, library: Library, name: str) -> bool:
    """Return whether a library's model has a trait."""
    return re.fullmatch(trait.value, f"{library} {name}") is not None


def takes_size(library: Library, name: str, side: int) -> bool:
    """Return whether a library's model can be built for images of a size, as far as is known without building it."""
    return side in sizes_of(library, name) or not has(Trait.ONE_SIZE, library, name)


def former_meaning(library: Library, name: str) -> Mapping[str, object] | None:
    """Return the model that a name stood for before, which papers still print, as timm can build it now; else None."""
    return _FORMER.get(name) if library is Library.TIMM else None


_FORMER: Mapping[str, Mapping[str, object]] = {
    "vit_small_patch16_224": {  # until timm 0.4.9
        "architecture": "vit_base_patch16_224",
        "arguments": {"depth": 8, "num_heads": 8, "mlp_ratio": 3, "qkv_bias": False},
    }
}


@cache
def size_in_name(library: Library, name: str) -> int | None:
    """Return the side of the images that a model's name ends in; None for one that does not, such as regnety_320."""
    size = own_size(library, name)
    return size if name.endswith(f"_{size}") else None


def version_of(library: Library) -> str:
    """Return the version of the library that its list was written from."""
    return _lines(library)[0].split()[-1]


@cache
def _notes(library: Library) -> Mapping[str, str]:
    """Return the names, each with what follows it: nothing, OLD, or its sizes of images if not just the usual."""
    return {name: note for name, _, note in (line.partition(" ") for line in _lines(library)[1:])}


@cache
def _lines(library: Library) -> tuple[str, ...]:
    return tuple(Path(__file__).with_name(f"{library}.txt").read_text(encoding="utf-8").splitlines())
