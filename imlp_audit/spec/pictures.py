"""How the images of rows are prepared for a model, and the source that says so."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated, Self

from pydantic import Field, model_validator

from imlp_audit.errors import Problem
from imlp_audit.models.hosts.host import Count
from imlp_audit.records.base import Record
from imlp_audit.spec.fields import RowGlob, Sentence
from imlp_audit.spec.interpolation import Interpolation
from imlp_audit.spec.references import RowRef

if TYPE_CHECKING:
    from imlp_audit.spec.paper import Paper

Channel = Annotated[float, Field(allow_inf_nan=False)]
Divisor = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Pictures(Record):
    """What a source says on how the images of some rows are prepared; what it leaves open is as the model has it.

    `size` is the side of the images, `crop_pct` the share of the resized image that is cropped. `mean` is subtracted
    from the channels, which are then divided by `std`.
    """

    rows: Annotated[tuple[RowGlob, ...], Field(min_length=1)]
    because: Sentence
    size: Count | None = None
    crop_pct: Annotated[float, Field(ge=0.1, le=1)] | None = None
    interpolation: Interpolation | None = None
    mean: tuple[Channel, Channel, Channel] | None = None
    std: tuple[Divisor, Divisor, Divisor] | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.model_fields_set - {"rows", "because"}:
            raise ValueError("say how the images are prepared: size, crop_pct, interpolation, mean or std")
        return self


def pictures_of(row: RowRef) -> tuple[Pictures, ...]:
    """Return what each source says on a row's images; the first is what the row is evaluated with."""
    return tuple(one.value for one in row.paper.pictures if any(fnmatchcase(row.id, glob) for glob in one.value.rows))


def broken_pictures(paper: Paper) -> Iterator[Problem]:
    """Yield a problem for each glob that names no row of the paper."""
    for one in paper.pictures:
        for index, glob in enumerate(one.value.rows):
            if not paper.row_names.matching(glob):
                yield one.problem(f"no row {glob!r} in this paper", "rows", index)
