"""FLOPs on images of a second size, of models whose windows are made for one size: the paper's model may be another."""

from __future__ import annotations

import re
from dataclasses import replace

from imlp_audit.models.names.known import own_size
from imlp_audit.models.names.match import names_of_all_windows
from imlp_audit.numbers.words import list_some
from imlp_audit.transcribe.columns import TableColumns
from imlp_audit.transcribe.image_sizes import Named
from imlp_audit.transcribe.models import ModelGuess
from imlp_audit.transcribe.rows import RowNumbers

_WINDOWED = re.compile(
    r".*window.*|swin.*|max(?:x?vit|xvitv2).*|coatn(?:e|ex)t.*|twins_svt.*|davit.*|gcvit.*|tiny_vit.*|nest.*|efficientvit_m\d"
    r"|hiera.*|.*(?:halo|bot)ne[tx]t?.*"
)


def hold_back_windowed(model: ModelGuess, numbers: RowNumbers, columns: TableColumns) -> tuple[ModelGuess, RowNumbers]:
    """Return a row without the FLOPs whose column is of images that its model's windows are not made for.

    Windows that do not divide the images are padded, and Swin-B for images of 384 has windows of 12 instead of 7. A row
    of such numbers alone stays open.
    """
    named = _model_of(model)
    if named is None or not _WINDOWED.fullmatch(named[1]):
        return model, numbers
    sizes = {slug: size for slug, size in columns.sizes.items() if size is not None and size != own_size(*named)}
    waiting = {slug: text for slug, text in numbers.printed.items() if slug in sizes}
    if not waiting:
        return model, numbers
    why = _why(named, [sizes[slug] for slug in waiting])
    printed = {slug: text for slug, text in numbers.printed.items() if slug not in waiting}
    if not printed:
        return model.opened(why), numbers
    changes = {slug: text for slug, text in numbers.changes.items() if slug not in waiting}
    return model, replace(numbers, printed=printed, changes=changes, waiting=waiting, why_waiting=why)


def _model_of(model: ModelGuess) -> Named | None:
    found = re.match(rf"{{{model.library}: (\w+)", model.recipe or "")
    return (model.library, found[1]) if found is not None and model.library is not None else None


def _why(named: Named, sizes: list[int]) -> str:
    library, name = named
    others = [one for one in names_of_all_windows(name, library) if own_size(library, one) in sizes]
    such = f", such as {list_some(others)}" if others else ""
    listed = " and ".join(map(str, sizes))
    return (
        f"the windows of {name} are made for images of {own_size(library, name)}, and the paper may count another "
        f"model on images of {listed}{such}: give that one a row of its own"
    )
