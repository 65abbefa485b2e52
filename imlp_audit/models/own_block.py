"""A block of one's own in place of a host's MLPs, as a spec writes it. Torch-free."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo, model_validator
from pydantic.json_schema import SkipJsonSchema

from imlp_audit.models.declared_axes import DECIDED, AxisValue, read_axes
from imlp_audit.models.hosts.python import PYTHON_FILE, SpecFolder
from imlp_audit.models.own_axes import BlockReading, OwnFamily, axis_of, word_of
from imlp_audit.models.reading import Family
from imlp_audit.models.values import FrozenMap, Name, Values

_OF_THE_SPEC = ("beside", "trusted", "axes")
"""Fields that follow from where the spec lies, and that none can write."""


class OwnBlock(BaseModel):
    """What the class or function `name` in the Python `file` returns for the sizes of an MLP and these `arguments`.

    Its class may declare `axes`: what the paper's text leaves open about the block. `arguments` fix some of them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    file: Annotated[str, Field(pattern=PYTHON_FILE)]
    name: Name
    arguments: Values = Field(default_factory=FrozenMap)
    beside: SkipJsonSchema[Annotated[Path | None, Field(repr=False, strict=True)]] = None
    trusted: SkipJsonSchema[Annotated[bool, Field(repr=False, strict=True)]] = False
    axes: SkipJsonSchema[Annotated[dict[str, tuple[AxisValue, ...]], AfterValidator(FrozenMap), Field(repr=False)]] = (
        Field(default_factory=FrozenMap)
    )

    @model_validator(mode="before")
    @classmethod
    def _look_beside_the_spec(cls, written: object, info: ValidationInfo) -> object:
        if not isinstance(written, Mapping):
            return written
        if isinstance(info.context, SpecFolder):
            given = next((name for name in _OF_THE_SPEC if name in written), None)
            if given is not None:
                raise ValueError(f"unknown key {given!r}; known here: file, name, arguments")
            written = {**written, "beside": info.context.path, "trusted": info.context.trusted}
        beside, file, name = (written.get(key) for key in ("beside", "file", "name"))
        known = isinstance(beside, Path) and isinstance(file, str) and isinstance(name, str)
        return {**written, "axes": _find_axes(beside, file, name) if known else {}}  # type: ignore[arg-type]

    @model_validator(mode="after")
    def _takes_what_it_is_given(self) -> Self:
        for name in DECIDED:
            if name in self.arguments:
                raise ValueError(f"arguments: {name} is that of the MLP that is replaced")
        if self.name in set(Family):
            raise ValueError(f"name: {self.name} is what a family of bundled models is called; rename the class")
        return self

    @property
    def folder(self) -> Path | None:
        """Where the file is; None where its code may not be run."""
        return self.beside if self.trusted else None

    @property
    def may_run(self) -> bool:
        """Whether its code may be run."""
        return self.folder is not None

    @property
    def place(self) -> str:
        """Where its code is, for messages."""
        return self.file

    @property
    def code_folder(self) -> Path | None:
        """The folder of its code, which may be run."""
        return self.folder

    @property
    def family(self) -> OwnFamily | None:
        """The family of the axes that its class declares, None without any."""
        axes = tuple((axis_of(self.name, axis), tuple(map(word_of, self.axes[axis]))) for axis in self.axes)
        return OwnFamily(self.name, self.file, axes) if axes else None

    def answers(self, reading: BlockReading | None) -> dict[str, AxisValue]:
        """Return the arguments that a reading gives to the class; without a reading, the default on each axis."""
        if self.family is None:
            return {}
        words = dict((reading or self.family.reading({})).answers)
        return {
            axis: next(value for value in values if word_of(value) == words[axis_of(self.name, axis)])
            for axis, values in self.axes.items()
        }


def _find_axes(beside: Path, file: str, name: str) -> dict[str, Any]:
    real = (beside / file).resolve()
    if not real.is_file() or not real.is_relative_to(beside.resolve()):
        raise ValueError(f"{file}: there is no such file beside the spec")
    return dict(read_axes(real, file, name))
