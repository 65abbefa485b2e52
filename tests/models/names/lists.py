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
            yield from (_with_sizes(name, *_sides(name)) for name in listed)
            kept = {name for name in dir(timm.models) if timm.is_model(name)} - listed
            yield from (f"{name} {OLD}" for name in kept)
        case Library.TORCHVISION:
            for name in torchvision.models.list_models(module=torchvision.models):
                weights = torchvision.models.get_model_weights(name)
                yield _with_sizes(name, *map(str, sorted({one.transforms.keywords["crop_size"] for one in weights})))
        case Library.TRANSFORMERS:
            yield from transformers.CONFIG_MAPPING
        case _:
            assert_never(library)


def _sides(name: str) -> Iterator[str]:
    """Yield the side of the images of timm's own weights, and those of its other weights.

    Where the own ones are tested on larger images, that size follows as in 224>320.
    """
    config = timm.models.get_pretrained_cfg(name)
    if config is None:
        yield str(USUAL_SIZE)
        return
    own, tested = config.input_size[-1], (config.test_input_size or config.input_size)[-1]
    yield f"{own}>{tested}" if tested > own else str(own)
    weights = timm.models.get_arch_pretrained_cfgs(name).values()
    sides = {size[-1] for one in weights for size in (one.input_size, one.test_input_size) if size is not None}
    yield from map(str, sorted(sides - {own, tested}))


def _with_sizes(name: str, *sizes: str) -> str:
    """Return a line with the sizes of a model's images, if it has others than the usual one."""
    return name if sizes == (str(USUAL_SIZE),) else f"{name} {' '.join(sizes)}"


def main() -> None:
    """Write the lists."""
    for library in Library:
        Path(names.__path__[0], f"{library}.txt").write_text(written(library), encoding="utf-8")


if __name__ == "__main__":
    main()
