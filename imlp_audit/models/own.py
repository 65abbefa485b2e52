"""A model and a block of one's own, as a spec writes them. Torch-free."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Self, final

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, model_validator

from imlp_audit.models.arguments import FrozenMap, Inputs, Name, Tries, Values
from imlp_audit.models.host import Count, Host, Reads
from imlp_audit.models.python_source import DECIDED, AxisValue, DeclaredAxes, find_beside, read_axes
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


class OwnCode(BaseModel):
    """The class or function `name` of the Python `file`, which is called with `arguments`.

    `beside` is the folder of the file, and `folder` too; None where its code may not be run.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    file: Annotated[str, Field(pattern=PYTHON_FILE)]
    name: Name
    arguments: Values = Field(default_factory=FrozenMap)
    folder: Annotated[Path | None, Field(repr=False, strict=True)] = None  # none that a spec can write
    beside: Annotated[Path | None, Field(repr=False, strict=True)] = None  # nor this one

    @model_validator(mode="before")
    @classmethod
    def _take_the_folder_of_the_spec(cls, written: object, info: ValidationInfo) -> object:
        if not isinstance(written, dict) or not isinstance(info.context, SpecFolder):
            return written  # a host or block that was read before
        for name in ("folder", "beside"):
            if name in written:
                raise ValueError(f"{name}: the file is looked for beside the spec")
        beside, trusted = info.context.path, info.context.trusted
        if (paper := written.get("paper")) is not None:
            beside, trusted = bundled_folder() / str(paper), True
            if beside.parent != bundled_folder() or not beside.is_dir():
                raise ValueError(f"paper: no paper {paper!r} comes with this package")
        return {**written, "beside": beside, **({"folder": beside} if trusted else {})}


@final
class PythonModule(OwnCode, Host):
    """A torch module that a class or function of one's own makes.

    It reads one image or feature map of the size `input`, (channels, height, width), or so many `tokens`, or the
    `inputs` that are named. With `paper`, the file is that of a paper that comes with this package. `path` are folders
    below the spec's that it imports from, `stubs` packages that it imports and does not need, and `try` values of
    arguments that may be what a number that differs was counted with.
    """

    key = "python"
    reads = Reads.OWN
    classified = False
    replaceable = True
    foldable = True

    paper: Name | None = None
    input: tuple[Count, Count, Count] | None = None
    tokens: Count | None = None
    inputs: Inputs | None = None
    path: Annotated[tuple[Annotated[str, Field(pattern=FOLDER)], ...], Field(max_length=8)] = ()
    stubs: Annotated[tuple[Annotated[str, Field(pattern=PACKAGE)], ...], Field(max_length=20)] = ()
    tries: Annotated[Tries, Field(alias="try")] = Field(default_factory=FrozenMap)

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


class OwnBlock(OwnCode):
    """A block of one's own in the place of an MLP, which is made for its sizes.

    Its class may declare `axes`: what the paper's text leaves open about the block. `arguments` fix some of them.
    """

    @cached_property
    def axes(self) -> DeclaredAxes:
        """The axes that its class declares, as its file has them when the block is read."""
        return {} if self.beside is None else read_axes(find_beside(self.beside, self.file), self.file, self.name)

    @model_validator(mode="after")
    def _takes_what_it_is_given(self) -> Self:
        _ = self.axes  # read now, so that what is wrong with them is the spec's error
        for name in DECIDED:
            if name in self.arguments:
                raise ValueError(f"arguments: {name} is that of the MLP that is replaced")
        if self.name in set(Family):
            raise ValueError(f"name: {self.name} is what a family of bundled models is called; rename the class")
        return self

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
