"""How a row's model is built, as a spec writes it. Torch-free."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, GetPydanticSchema, model_validator
from pydantic_core import CoreSchema, core_schema

from imlp_audit.models.available_hosts import HOSTS, Timm, Torchvision
from imlp_audit.models.blocks import Activation, ImlpRecipe, Part
from imlp_audit.models.host import IMAGENET_SIZE, Count, Host, Reads, Sides, Size, divides
from imlp_audit.models.own import OwnBlock, OwnCode, PythonModule
from imlp_audit.models.readings import AnyFamily, AnyReading, Family, PaperReading
from imlp_audit.models.recipe_changes import Change, find_leaves, merge, takes, value_at, write_value
from imlp_audit.processes.code import is_bundled


class Replacement(BaseModel):
    """What replaces the MLPs of the host: every one, or those whose module paths match one of `sites` (globs)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    imlp: ImlpRecipe | None = None
    python: OwnBlock | None = None
    sites: Annotated[tuple[str, ...], Field(min_length=1)] = ("*",)

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if (self.imlp is None) == (self.python is None):
            raise ValueError("give exactly one of imlp, python")
        return self

    @property
    def block(self) -> ImlpRecipe | OwnBlock:
        """What stands in the place of an MLP."""
        return next(block for block in (self.imlp, self.python) if block is not None)


class Form(StrEnum):
    """Which form of a model whose branches are merged, or whose batch norms are folded, after training."""

    TRAINING = "training"
    DEPLOYED = "deployed"


def _host_schema(_source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
    """Validate `{mixer: {...}}`, or a host that is built already, as the host of that key."""

    def choice(key: str, host: type[Host]) -> CoreSchema:
        def unpack(value: object) -> object:
            return host.unpack(value[key]) if isinstance(value, dict) else value

        return core_schema.no_info_before_validator_function(unpack, handler.generate_schema(host))

    return core_schema.tagged_union_schema({key: choice(key, host) for key, host in HOSTS.items()}, _key_of)


def _key_of(value: object) -> str | None:
    if isinstance(value, Host):
        return value.key
    return next(iter(value), None) if isinstance(value, dict) else None


class Recipe(BaseModel):
    """One host, and what is changed of it.

    A spec writes the host under a key of its own: `{mixer: {layers: 8, ...}, image: 32}`. `image` is the side of the
    input, or its height and width, and `classes` the number of classes, where they are not the host's own.
    `form` is `deployed` for a model that is counted with its branches merged, or if it has none, with its batch norms
    folded into the convolutions before them. `stride_in_1x1` puts the strides of a ResNet's bottlenecks into their
    first convolutions. `activation` is that of its MLPs where it is not the host's own, `agelu` gives it AGeLU's
    coefficients, and `mlp` is what replaces the MLPs.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    host: Annotated[Host, GetPydanticSchema(_host_schema)]
    image: Sides | None = None
    classes: Count | None = None
    form: Form = Form.TRAINING
    stride_in_1x1: bool = False
    activation: Activation | None = None
    agelu: bool = False
    mlp: Replacement | None = None

    @classmethod
    def of(cls, **fields: object) -> Self:
        """Return the recipe that a spec writes with these keys. Raises ValidationError."""
        return cls.model_validate(fields)

    @classmethod
    def keys(cls) -> Mapping[str, type[Host] | None]:
        """Return the keys that a spec may write in a recipe, with the host's record where the key names a host."""
        return {**HOSTS, **dict.fromkeys(name for name in cls.model_fields if name != "host")}

    @model_validator(mode="before")
    @classmethod
    def _one_key_names_the_host(cls, written: object) -> object:
        if not isinstance(written, dict) or isinstance(written.get("host"), Host):
            return written
        given = {key: value for key, value in written.items() if key in HOSTS and value is not None}
        rest = {key: value for key, value in written.items() if key not in HOSTS}
        library = next((key for key in ("timm", "torchvision") if key in given), None)
        if library is not None and "arguments" in rest:
            raise ValueError(
                f"arguments: they stand in the host, as {library}: {{architecture: NAME, arguments: {{...}}}}"
            )
        if len(given) == 1 and "host" not in rest:
            return {"host": given, **rest}
        if not given and not rest.keys() <= cls.keys().keys() and "host" not in rest:
            return rest  # a misspelt key is the better message
        raise ValueError(f"give exactly one host of {', '.join(HOSTS)}; given: {', '.join(given) or 'none'}")

    @model_validator(mode="after")
    def _nothing_is_ignored(self) -> Self:
        message = next((message for wrong, message in self._contradictions() if wrong), None)
        if message is not None:
            raise ValueError(message)
        return self

    def _contradictions(self) -> Iterator[tuple[bool, str]]:
        """Yield what fields may say that the others make void, and whether they do."""
        host, deployed, replaced = self.host, self.form is Form.DEPLOYED, self.mlp is not None
        yield self.agelu and replaced, "agelu: it goes into the host's own MLPs, but these are replaced"
        yield (
            self.own_block is not None and self.activation is not None,
            "activation: a block of your own has its own; give it one of its arguments instead",
        )
        sized = self.image is not None
        yield sized and host.reads is Reads.TOKENS, "image: this host reads token ids"
        yield sized and host.reads is Reads.OWN, "image: this host has its input next to its name"
        mlps = "mlp, activation and agelu"
        yield self.changes_mlps and not host.replaceable, f"{mlps} change timm's MLPs, and this host has none"
        yield self.classes is not None and not host.classified, "classes: this host is not a classifier"
        yield (
            deployed and not host.foldable,
            "form: only models of timm, torchvision, transformers and your own have a deployed form",
        )
        yield (
            self.stride_in_1x1 and not isinstance(host, Timm | Torchvision),
            "stride_in_1x1: only ResNets of timm and torchvision have their strides moved",
        )
        yield (
            deployed and self.changes_mlps,
            f"form: a deployed model is merged as it is; {mlps} would change it before",
        )

    @model_validator(mode="after")
    def _patch_divides_the_image(self) -> Self:
        patch = self.host.patch_side
        for side in self.image or IMAGENET_SIZE:
            if patch is not None:
                divides(patch, side, "patch and image")
        return self

    @property
    def imlp(self) -> ImlpRecipe | None:
        """The IMLP block that replaces the MLPs, where one does."""
        return self.mlp.imlp if self.mlp is not None else None

    @property
    def own_block(self) -> OwnBlock | None:
        """The block of one's own that replaces the MLPs, where one does."""
        return self.mlp.python if self.mlp is not None else None

    @property
    def codes(self) -> tuple[OwnCode, ...]:
        """What of the model a paper's own Python makes: the host, and the blocks in place of its MLPs."""
        return tuple(one for one in (self.host, self.own_block) if isinstance(one, OwnCode))

    @property
    def code(self) -> OwnCode | None:
        """The first of these, None without any."""
        return next(iter(self.codes), None)

    @property
    def runs_code(self) -> bool:
        """Whether code that does not come with this package builds the model, and may be run."""
        return any(one.folder is not None for one in self.codes) and self.code_folders is None

    @property
    def code_folders(self) -> frozenset[Path] | None:
        """The folders of papers that come with this package whose Python makes the model; None if another's does."""
        folders = [one.folder for one in self.codes]
        bundled = frozenset(one for one in folders if one is not None and is_bundled(one))
        return bundled if bundled.issuperset(folders) else None

    @property
    def changes_mlps(self) -> bool:
        """Whether the host's MLPs are not its own any more."""
        return self.mlp is not None or self.activation is not None or self.agelu

    def with_own_mlps(self) -> Self:
        """Return the recipe of the host with its own MLPs."""
        return self.model_copy(update={"mlp": None, "activation": None, "agelu": False})

    def as_written(self) -> dict[str, object]:
        """Return the recipe as a spec writes it: the keys that were given, and their values."""
        changes = self.model_dump(exclude_unset=True, exclude={"host"})
        return {self.host.key: self.host.value(), **changes}

    def takes(self, change: Mapping[str, object]) -> bool:
        """Say whether the recipe has the parts that a change changes: a mapping inside it needs one to change."""
        return takes(self.as_written(), change)

    def with_change(self, change: Mapping[str, object]) -> Self:
        """Return the recipe with other values of some fields. Raises ValidationError where there is no such model."""
        return type(self).model_validate(merge(self.as_written(), change))

    def with_image(self, image: Size) -> Self:
        """Return the recipe for other images. Raises ValidationError where the model reads none of its own choice."""
        if isinstance(self.host, PythonModule) and self.host.input is not None:
            host = self.host.model_copy(update={"input": (self.host.input[0], *image)})
            return self.model_copy(update={"host": host})
        return self.with_change({"image": list(image)})

    def essence(self) -> Self:
        """Return the recipe without what changes nothing: the kernel of a block that has no convolution."""
        if self.mlp is None or self.mlp.imlp is None or self.mlp.imlp.part is not Part.CHANNEL:
            return self
        block = self.mlp.imlp.model_copy(update={"kernel": ImlpRecipe().kernel})
        return self.model_copy(update={"mlp": self.mlp.model_copy(update={"imlp": block})})

    def describe(self, change: Change) -> str:
        """Write the values that the recipe has where a change changes it: "kernel 3"."""
        own = {self.host.key: self.host, **{name: getattr(self, name) for name in type(self).model_fields}}
        paths = find_leaves(change)
        return " and ".join(f"{path[-1]} {write_value(value_at(own.get(path[0]), path[1:]))}" for path in paths)

    @property
    def family(self) -> AnyFamily | None:
        """The part of a paper's reading that the model depends on, None where it is the same under all."""
        if self.mlp is None:
            return self.host.family
        block = self.mlp.block
        return block.family if isinstance(block, OwnBlock) else Family.IMLP

    @property
    def family_name(self) -> str | None:
        """What the family is called in results."""
        return None if self.family is None else str(self.family)

    def part_of(self, reading: PaperReading) -> AnyReading | None:
        """Return what a paper's reading says about the model, None where nothing is left open."""
        return reading.of(self.family) if self.family else None

    @property
    def name(self) -> str:
        """What to call the model in a message: its architecture in timm, where that says all except its MLPs."""
        value = self.host.value()
        sized = self.image is not None or self.classes is not None
        as_it_is = self.form is Form.TRAINING and not self.stride_in_1x1
        return value if isinstance(value, str) and as_it_is and not sized else str(self)

    def __str__(self) -> str:
        value = self.host.value()
        host = f"{self.host.key}: {value if isinstance(value, str) else write_value(self.host)}"
        given = [name for name in type(self).model_fields if name in self.model_fields_set and name != "host"]
        return ", ".join([host, *(f"{name}: {write_value(getattr(self, name))}" for name in given)])
