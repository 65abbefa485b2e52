"""A model of one's own: a class or function in a Python file beside the spec, or of an installed package."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Self, final

from pydantic import Field, ValidationInfo, field_validator, model_validator
from pydantic.json_schema import SkipJsonSchema

from imlp_audit.models.hosts.host import BuildRequest, ClassCount, Count, FirstLayer, Host, OwnInput, Traits
from imlp_audit.models.values import FrozenMap, Inputs, Name, Values
from imlp_audit.processes.code import find_package, offered

if TYPE_CHECKING:
    from torch import nn

PYTHON_FILE = r"^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*\.py$"
ENTRY_POINTS = "imlp_audit.models"
"""The group in which installed packages name their models. Whoever installs a package trusts its code."""


@dataclass(frozen=True)
class SpecFolder:
    """Where the Python of a spec that is being read lies, and whether it may be run."""

    path: Path
    trusted: bool


@final
class PythonModule(Host):
    """What `name` in the Python `file`, or an `entry_point`, returns for the `arguments`: a torch module.

    It reads one image or feature map of the size `input`, (channels, height, width), or so many `tokens`, or the
    `inputs` that are named. `output` is the shape of the first tensor that it returns, without the batch, where the
    spec holds it to one. `beside` is where the file is, `folder` too; None where its code may not be run.
    """

    file: Annotated[str, Field(pattern=PYTHON_FILE)] | None = None
    name: Name | None = None
    entry_point: Annotated[str, Field(pattern=r"^[\w.-]+$")] | None = None
    arguments: Values = Field(default_factory=FrozenMap)
    input: tuple[Count, Count, Count] | None = None
    tokens: Count | None = None
    inputs: Inputs | None = None
    output: Annotated[tuple[Count, ...], Field(max_length=8)] | None = None
    folder: SkipJsonSchema[Annotated[Path | None, Field(repr=False, strict=True)]] = None  # none that a spec can write
    beside: SkipJsonSchema[Annotated[Path | None, Field(repr=False, strict=True)]] = None  # nor this one

    @model_validator(mode="before")
    @classmethod
    def _take_the_folder_of_the_spec(cls, written: object, info: ValidationInfo) -> object:
        if not isinstance(written, dict) or not isinstance(info.context, SpecFolder):
            return written  # a host that was read before
        for name in ("folder", "beside"):
            if name in written:
                raise ValueError(f"{name}: the file is looked for beside the spec")
        trusted = {"folder": info.context.path} if info.context.trusted else {}
        return {**written, "beside": info.context.path, **trusted}

    @field_validator("folder")
    @classmethod
    def _holds_the_file(cls, folder: Path | None, info: ValidationInfo) -> Path | None:
        file = info.data.get("file")
        if folder is not None and file is not None:
            real = (folder / file).resolve()
            if not real.is_file() or not real.is_relative_to(folder.resolve()):
                raise ValueError(f"{file}: there is no such file beside the spec")
        return folder

    @model_validator(mode="after")
    def _is_one_thing(self) -> Self:
        if (self.entry_point is None) == (self.file is None) or (self.file is None) != (self.name is None):
            raise ValueError("give file and name, or the entry_point of an installed package")
        return self

    @model_validator(mode="after")
    def _reads_one_thing(self) -> Self:
        if sum(given is not None for given in (self.input, self.tokens, self.inputs)) != 1:
            raise ValueError("give exactly one of input: [channels, height, width], tokens: how many, and inputs")
        return self

    @classmethod
    def traits(cls) -> Traits:
        """Return that nothing is known of it but what its fields say."""
        return Traits(
            key="python",
            reads=OwnInput(),
            classes=ClassCount.NONE,
            replaceable=False,
            class_token_optional=False,
            stem=frozenset(),
            head=frozenset(),
            body=None,
            parts=(),
        )

    def family(self) -> None:
        """Return None: the file is the model."""

    def patch_side(self) -> None:
        """Return None: its input is its own."""

    def clue(self) -> FirstLayer:
        """Return that nothing is known without building it."""
        return FirstLayer(None)

    def build(self, request: BuildRequest) -> nn.Module:
        """Run the code. Raises UntrustedError where it may not be run, BuildError where it makes no module."""
        from imlp_audit.models.nets.python import build_python

        return build_python(self)

    def kin(self) -> str:
        """Return the name: other arguments make another size of it."""
        return self.name or self.place

    @property
    def place(self) -> str:
        """Where its code is, for messages."""
        return self.file or f"the entry point {self.entry_point}"

    @property
    def code_folder(self) -> Path | None:
        """The folder of its code, which may be run; of an installed package, the package's. Nothing is imported."""
        if self.entry_point is None:
            return self.folder
        point = next((one for one in offered(ENTRY_POINTS) if one.name == self.entry_point), None)
        found = find_package(point) if point is not None else None
        return Path(found.origin).parent if found is not None and found.origin is not None else None

    @property
    def may_run(self) -> bool:
        """Whether its code may be run: its folder is trusted, or its package is installed."""
        return self.folder is not None or self.entry_point is not None
