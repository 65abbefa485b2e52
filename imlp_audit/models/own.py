"""A model and a block of one's own, as a spec writes them. Torch-free."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Self, final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo, model_validator

from imlp_audit.models.arguments import FrozenMap, Inputs, Name, Tries, Values
from imlp_audit.models.host import Count, Host, Reads
from imlp_audit.models.python_source import DECIDED, AxisValue, find_beside, read_axes
from imlp_audit.models.readings import BlockReading, Family, OwnFamily, axis_of, word_of
from imlp_audit.processes.code import bundled_folder

PYTHON_FILE = r"^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*\.py$"
FOLDER = r"^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*$"
PACKAGE = r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$"


@dataclass(frozen=True)
class SpecFolder:
    """Where the Python of a spec that is being read lies, and whether it may be run."""

    path: Path
    trusted: bool


@final
class PythonModule(Host):
    """What `name` in the Python `file` returns for the `arguments`: a torch module.

    It reads one image or feature map of the size `input`, (channels, height, width), or so many `tokens`, or the
    `inputs` that are named. With `paper`, the file is that of a paper that comes with this package. `path` are folders
    below the spec's that it imports from, `stubs` packages that it imports and does not need, and `try` values of
    arguments that may be what a number that differs was counted with. `beside` is where the file is, `folder` too;
    None where its code may not be run.
    """

    key = "python"
    reads = Reads.OWN
    classified = False
    replaceable = True
    foldable = True

    file: Annotated[str, Field(pattern=PYTHON_FILE)]
    name: Name
    paper: Name | None = None
    arguments: Values = Field(default_factory=FrozenMap)
    input: tuple[Count, Count, Count] | None = None
    tokens: Count | None = None
    inputs: Inputs | None = None
    path: Annotated[tuple[Annotated[str, Field(pattern=FOLDER)], ...], Field(max_length=8)] = ()
    stubs: Annotated[tuple[Annotated[str, Field(pattern=PACKAGE)], ...], Field(max_length=20)] = ()
    tries: Annotated[Tries, Field(alias="try")] = Field(default_factory=FrozenMap)
    folder: Annotated[Path | None, Field(repr=False, strict=True)] = None  # none that a spec can write
    beside: Annotated[Path | None, Field(repr=False, strict=True)] = None  # nor this one

    @model_validator(mode="before")
    @classmethod
    def _take_the_folder_of_the_spec(cls, written: object, info: ValidationInfo) -> object:
        if not isinstance(written, dict) or not isinstance(info.context, SpecFolder):
            return written  # a host that was read before
        for name in ("folder", "beside"):
            if name in written:
                raise ValueError(f"{name}: the file is looked for beside the spec")
        beside, trusted = info.context.path, info.context.trusted
        if (paper := written.get("paper")) is not None:
            beside, trusted = bundled_folder() / str(paper), True
            if beside.parent != bundled_folder() or not beside.is_dir():
                raise ValueError(f"paper: no paper {paper!r} comes with this package")
        return {**written, "beside": beside, **({"folder": beside} if trusted else {})}

    @model_validator(mode="after")
    def _holds_what_it_names(self) -> Self:
        if self.folder is not None:
            find_beside(self.folder, self.file)
            for one in self.path:
                find_beside(self.folder, one, is_folder=True)
        return self

    @model_validator(mode="after")
    def _reads_one_thing(self) -> Self:
        if sum(given is not None for given in (self.input, self.tokens, self.inputs)) != 1:
            raise ValueError("give exactly one of input: [channels, height, width], tokens: how many, and inputs")
        return self


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
    beside: Annotated[Path | None, Field(repr=False, strict=True)] = None
    trusted: Annotated[bool, Field(repr=False, strict=True)] = False
    axes: Annotated[dict[str, tuple[AxisValue, ...]], AfterValidator(FrozenMap), Field(repr=False)] = Field(
        default_factory=FrozenMap
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
        return {**written, "axes": read_axes(find_beside(beside, file), file, name) if known else {}}  # type: ignore[arg-type]

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
