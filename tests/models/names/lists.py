"""The lists of names as the installed libraries give them: `python -m tests.models.names.lists` writes them anew."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import assert_never

import timm
import torchvision.models
import transformers

from imlp_audit.models import names
from imlp_audit.models.names.known import OLD, USUAL_SIZE, Library


def written(library: Library) -> str:
    """Return the list of an installed library."""
    return "\n".join([f"# {library} {installed(library)}", *sorted(_lines(library)), ""])


def installed(library: Library) -> str:
    """Return the version of a library that is installed."""
    return version(library).partition("+")[0]


def _lines(library: Library) -> Iterator[str]:
    match library:
        case Library.TIMM:
            listed = set(timm.list_models())
            yield from (_with_size(name, {_side(name)}) for name in listed)
            kept = {name for name in dir(timm.models) if timm.is_model(name)} - listed
            yield from (f"{name} {OLD}" for name in kept)
        case Library.TORCHVISION:
            for name in torchvision.models.list_models(module=torchvision.models):
                weights = torchvision.models.get_model_weights(name)
                yield _with_size(name, {one.transforms.keywords["crop_size"] for one in weights})
        case Library.TRANSFORMERS:
            yield from transformers.CONFIG_MAPPING
        case _:
            assert_never(library)


def _side(name: str) -> int:
    """Return the side of the images of timm's weights."""
    config = timm.models.get_pretrained_cfg(name)
    return config.input_size[-1] if config is not None else USUAL_SIZE


def _with_size(name: str, sizes: set[int]) -> str:
    """Return a line with the smallest of the sizes that a model was published for, if it is not the usual one."""
    return name if min(sizes) == USUAL_SIZE else f"{name} {min(sizes)}"


def main() -> None:
    """Write the lists."""
    for library in Library:
        Path(names.__path__[0], f"{library}.txt").write_text(written(library), encoding="utf-8")


if __name__ == "__main__":
    main()
