"""How a row's model is built, as a spec writes it. Torch-free."""

from __future__ import annotations

import json
import re
from enum import StrEnum
from typing import Annotated, Self, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from imlp_audit.models.hosts.bert import Bert
from imlp_audit.models.hosts.dense import Architecture, MaskRcnn, UperNet
from imlp_audit.models.hosts.gmlp import Gmlp, GmlpText
from imlp_audit.models.hosts.host import Count, Host, divides
from imlp_audit.models.hosts.lvt import Lvt
from imlp_audit.models.hosts.mixer import Mixer
from imlp_audit.models.hosts.resmlp import CaitChain, ResMlp, ResMlpTranslation
from imlp_audit.models.hosts.vanillanet import VanillaBlock
from imlp_audit.models.reading import AnyReading, PaperReading


class Activation(StrEnum):
    """A base activation, which AGeLU's form (Eq. 3) extends."""

    GELU = "gelu"
    RELU = "relu"
    PRELU = "prelu"
    SOFTPLUS = "softplus"


class Part(StrEnum):
    """Which enhancement of the IMLP block is used (Table 2)."""

    CHANNEL_AND_SPATIAL = "channel_and_spatial"
    CHANNEL = "channel"
    SPATIAL = "spatial"


class Imlp(BaseModel):
    """The IMLP block in place of a host's MLPs.

    `ratio` is the expansion of the first FC layer (r in Sec. 5.1), `kernel` the side of the depthwise
    convolution (n there). `plain` leaves out the coefficients of its channel part's AGeLUs (Table 3, "GeLU+concat").
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    ratio: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 2
    kernel: Annotated[int, Field(gt=0)] = 3
    part: Part = Part.CHANNEL_AND_SPATIAL
    plain: bool = False

    @model_validator(mode="after")
    def _kernel_is_odd(self) -> Self:
        if self.kernel % 2 == 0:
            raise ValueError(f"an even kernel ({self.kernel}) cannot keep the size of the grid; use an odd one")
        return self

    @model_validator(mode="after")
    def _plain_has_a_channel_part(self) -> Self:
        if self.plain and self.part is Part.SPATIAL:
            raise ValueError("plain: the spatial part alone has no AGeLUs to leave coefficients out of")
        return self


class Sums(BaseModel):
    """`ratio` times C nonlinear functions added up in place of an MLP of C channels (imlp Sec. 5.2, Table 4).

    With `agelu` each has AGeLU's coefficients, for every channel; else all are the activation itself.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    ratio: Annotated[int, Field(gt=0, le=1000)] = 4
    agelu: bool = False


class Replacement(BaseModel):
    """What replaces the MLPs of the host: every one, or those whose module paths match one of `sites` (globs)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    imlp: Imlp | None = None
    sums: Sums | None = None
    sites: Annotated[tuple[str, ...], Field(min_length=1)] = ("*",)

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if (self.imlp is None) == (self.sums is None):
            raise ValueError("give exactly one of imlp, sums")
        return self


def _sides(image: object) -> tuple[int, ...]:
    """Read `224` as `[224, 224]`; raise ValueError for what is neither a side nor two."""
    sides = [image, image] if isinstance(image, str | int) else image
    told = [str(side) for side in sides] if isinstance(sides, list | tuple) else []
    if len(told) != 2 or not all(re.fullmatch("[1-9][0-9]{0,4}", side) and int(side) <= LARGEST_SIDE for side in told):
        raise ValueError(f"image is a side in pixels, or [height, width], of at most {LARGEST_SIDE}, not {image!r}")
    return tuple(map(int, told))


LARGEST_SIDE = 16384
Size: TypeAlias = tuple[int, int]
HOSTS = (
    "timm", "mixer", "gmlp", "gmlp_text", "bert", "resmlp", "resmlp_translation", "cait_chain", "lvt",
    "mask_rcnn", "upernet", "vanilla_block",
)  # fmt: skip


class Recipe(BaseModel):
    """One host, and what is changed of it.

    `image` is the side of the input, or its height and width, and `classes` the number of classes, where they are
    not the host's own. `activation` is that of its MLPs where it is not the host's own, `agelu` gives it AGeLU's
    coefficients, and `mlp` is what replaces the MLPs.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    timm: Architecture | None = None
    mixer: Mixer | None = None
    gmlp: Gmlp | None = None
    gmlp_text: GmlpText | None = None
    bert: Bert | None = None
    resmlp: ResMlp | None = None
    resmlp_translation: ResMlpTranslation | None = None
    cait_chain: CaitChain | None = None
    lvt: Lvt | None = None
    mask_rcnn: MaskRcnn | None = None
    upernet: UperNet | None = None
    vanilla_block: VanillaBlock | None = None
    image: Annotated[Size, BeforeValidator(_sides)] | None = None
    classes: Count | None = None
    activation: Activation | None = None
    agelu: bool = False
    mlp: Replacement | None = None

    @model_validator(mode="after")
    def _one_host(self) -> Self:
        given = [name for name in HOSTS if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"give exactly one host of {', '.join(HOSTS)}; given: {', '.join(given) or 'none'}")
        return self

    @model_validator(mode="after")
    def _no_activation_is_lost(self) -> Self:
        if self.agelu and self.mlp is not None:
            raise ValueError("agelu: it stands in the host's own MLPs, and these are replaced")
        if self.activation is not None and self.mlp is not None and self.mlp.sums is not None:
            raise ValueError("activation: the functions that are added up are GeLU or AGeLU")
        return self

    @model_validator(mode="after")
    def _nothing_is_ignored(self) -> Self:
        text = isinstance(self.host, GmlpText | Bert | ResMlpTranslation)
        if self.image is not None and text:
            raise ValueError("image: this host reads token ids")
        if self.classes is not None and isinstance(self.host, MaskRcnn | UperNet):
            raise ValueError("classes: a detector's or segmenter's stand in its host, beside the backbone")
        replaced = self.mlp is not None or self.activation is not None or self.agelu
        if replaced and not isinstance(self.host, str | Lvt | MaskRcnn | UperNet):
            raise ValueError("mlp, activation and agelu change timm's MLPs, and this host has none of them")
        if self.classes is not None and isinstance(self.host, ResMlpTranslation | VanillaBlock):
            raise ValueError("classes: this host classifies nothing")
        return self

    @model_validator(mode="after")
    def _patch_divides_the_image(self) -> Self:
        for side in self.image or (224,):
            if isinstance(self.host, Mixer | Gmlp | ResMlp | CaitChain):
                divides(self.host.patch, side, "patch and image")
        return self

    @property
    def host(self) -> str | Host:
        """The host: an architecture of timm by its name, or the sizes of one of ours."""
        given: tuple[str | Host | None, ...] = tuple(getattr(self, name) for name in HOSTS)
        return next(host for host in given if host is not None)

    @property
    def family(self) -> str | None:
        """The part of a paper's reading that the model depends on, None where it is the same under all."""
        if self.mlp is not None and self.mlp.imlp is not None:
            return "imlp"
        match self.host:
            case GmlpText() | Bert():
                return "text"
            case ResMlp(form=None):
                return "resmlp"
            case _:
                return None

    def part_of(self, reading: PaperReading) -> AnyReading | None:
        """Return what a paper's reading says about the model, None where nothing is left open."""
        part: AnyReading | None = getattr(reading, self.family) if self.family else None
        return part

    @property
    def name(self) -> str:
        """What to call the model in a message: its architecture in timm, where that says it all but for the MLPs."""
        return self.timm if self.timm and self.image is None and self.classes is None else str(self)

    def __str__(self) -> str:
        """The recipe on one line, as a spec would write it."""
        return ", ".join(f"{name}: {_shown(getattr(self, name))}" for name in sorted(self.model_fields_set, key=_rank))


def _rank(field: str) -> int:
    return list(Recipe.model_fields).index(field)


def _shown(value: object) -> str:
    """Write a value as YAML would have it."""
    match value:
        case BaseModel():
            given = (name for name in type(value).model_fields if name in value.model_fields_set)
            return "{" + ", ".join(f"{name}: {_shown(getattr(value, name))}" for name in given) + "}"
        case (int(height), int(width)) if height == width:
            return str(height)
        case tuple():
            return "[" + ", ".join(map(_shown, value)) + "]"
        case bool():
            return "true" if value else "false"
        case float():
            return repr(value).removesuffix(".0")
        case str() if not re.fullmatch(r"[A-Za-z0-9_.]+", value):
            return json.dumps(value)  # a glob has signs that YAML takes for its own
        case _:
            return str(value)
