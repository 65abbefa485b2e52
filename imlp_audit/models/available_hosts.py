"""The hosts of recipes: models of libraries by their names, and families of blocks by their sizes. Torch-free.

A new host is a class here, whose module imports nothing of this file, and a name in `HOSTS`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Self, final

from pydantic import Field, JsonValue, field_validator, model_validator

from imlp_audit.models.blocks import Communication, Gate, Nonlinearity, Norm, Pooling
from imlp_audit.models.host import Count, FrozenMap, Host, Inputs, Layers, PartNames, Reads, Stack, Values, divides
from imlp_audit.models.own import PythonModule
from imlp_audit.models.readings import Family, ResMlpForm, SpatialMatrix
from imlp_audit.models.recipe_changes import find_leaves

ARCHITECTURE = r"^[A-Za-z0-9_]+(\.[A-Za-z0-9_]+)?$"
"""A bare name of timm's: timm would take "hf-hub:..." as an order to download."""
CLASSIFIER = r"^[a-z0-9_]+$"
CLASS_NAME = r"^[A-Z][A-Za-z0-9]*$"

_SAID_ELSEWHERE = {"num_classes": "classes", "img_size": "image", "image_size": "image", "input_size": "image"}
_OF_FILES = re.compile(r"pretrained|checkpoint|cache_dir|hf_|^weights")


class _OfLibrary(Host):
    """A classifier of a library: the name of its architecture, and what is changed of its `arguments`.

    A recipe gives the name alone where nothing is: `timm: deit_tiny_patch16_224`.
    """

    foldable = True

    architecture: str
    arguments: Values = Field(default_factory=FrozenMap)

    @field_validator("arguments")
    @classmethod
    def _fresh_and_said_once(cls, arguments: FrozenMap[JsonValue]) -> FrozenMap[JsonValue]:
        for name in arguments:
            if name in _SAID_ELSEWHERE:
                raise ValueError(f"{name}: write `{_SAID_ELSEWHERE[name]}` beside the host instead")
            if _OF_FILES.search(name):
                raise ValueError(f"{name}: models are built with fresh weights, and nothing is read or downloaded")
        return arguments

    def value(self) -> object:
        """Return the name of the architecture, with its arguments if there are any."""
        return super().value() if self.arguments else self.architecture


@final
class Timm(_OfLibrary):
    """A classifier of timm."""

    key = "timm"
    builder = "libraries:build_timm"
    reads = Reads.OWN_IMAGE
    replaceable = True
    stem = frozenset({"patch_embed", "patch_embeds", "stem", "conv_stem", "conv1", "bn1", "norm_pre"})
    head = frozenset({"norm", "fc_norm", "head", "head_dist", "head_drop", "classifier", "fc", "bn2"}) | {
        "global_pool", "attn_pool", "conv_head"
    }  # fmt: skip

    architecture: Annotated[str, Field(pattern=ARCHITECTURE)]


@final
class Torchvision(_OfLibrary):
    """A classifier of torchvision."""

    key = "torchvision"
    builder = "libraries:build_torchvision"
    stem = frozenset({"conv1", "bn1", "stem", "conv_proj", "Conv2d_1a_3x3"})
    head = frozenset({"fc", "classifier", "head", "heads", "norm"})
    parts = ((r"^(features|layer\d|trunk_output|blocks|encoder)\b", "body"),)

    architecture: Annotated[str, Field(pattern=CLASSIFIER)]


@final
class Transformers(Host):
    """A model of transformers: the class `architecture` with the fields of its configuration that are not its defaults.

    It reads an image, `tokens` tokens of text, or the `inputs` that are named.
    """

    key = "transformers"
    builder = "from_transformers:build_transformers"
    reads = Reads.OWN_IMAGE
    foldable = True
    head = frozenset({"classifier"})
    parts = ((r"\bembed(ding)?s?\b", "embedding"), (r"^[a-z_]+\b", "body"))

    architecture: Annotated[str, Field(pattern=CLASS_NAME)]
    config: Values = Field(default_factory=FrozenMap)
    tokens: Count | None = None
    inputs: Inputs | None = None

    @field_validator("config")
    @classmethod
    def _nothing_is_downloaded(cls, config: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
        fields = find_leaves(config).items()
        if any(path[-1] == "use_pretrained_backbone" and str(value).lower() == "true" for path, value in fields):
            raise ValueError("use_pretrained_backbone: models are built with fresh weights, and nothing is downloaded")
        return config

    @model_validator(mode="after")
    def _reads_one_thing(self) -> Self:
        if self.tokens is not None and self.inputs is not None:
            raise ValueError("give only one of tokens and inputs")
        return self


@final
class Mixer(Host):
    """MLP-Mixer (arXiv 2105.01601, Table 1): `width` is C, `tokens_hidden` D_S and `channels_hidden` D_C.

    S follows from the image and the patch.
    """

    key = "mixer"
    builder = "mixer:MlpMixer"
    stem = frozenset({"stem"})
    head = frozenset({"norm", "head"})
    modules = frozenset({"token_mixing"})

    layers: Layers
    patch: Count
    width: Count
    tokens_hidden: Count
    channels_hidden: Count


_GMLP_PARTS: PartNames = (
    (r"\bu\b", "FC1, from C to D_C"),
    (r"\bsgu\.norm\b", "gate: norm"),
    (r"\bsgu\b", "gate: mixing of the tokens"),
    (r"\bv\b", "FC2, back to C"),
)


def _check_halves(gate: Gate, hidden: int | None) -> None:
    if gate is Gate.SPLIT and hidden is not None and hidden % 2:
        raise ValueError(f"hidden: a split gate needs an even number of channels, not {hidden}")


@final
class Gmlp(Host):
    """gMLP on the patches of an image (arXiv 2105.08050). `width` is C and `hidden` D_C."""

    key = "gmlp"
    builder = "gmlp:GmlpClassifier"
    stem = frozenset({"stem"})
    head = frozenset({"norm", "head"})
    parts = _GMLP_PARTS
    modules = frozenset({"sgu"})

    layers: Layers
    patch: Count
    width: Count
    hidden: Count
    gate: Gate = Gate.SPLIT
    spatial_matrix: SpatialMatrix = SpatialMatrix.FULL

    @model_validator(mode="after")
    def _gate_has_halves_and_patches_lie_on_a_grid(self) -> Self:
        _check_halves(self.gate, self.hidden)
        if self.spatial_matrix is SpatialMatrix.TOEPLITZ:
            raise ValueError("spatial_matrix: a Toeplitz matrix shifts along a sequence; patches lie on a 2-D grid")
        return self


class _Text(Stack):
    """A model of language, or a classifier of texts where the recipe gives classes."""

    reads = Reads.TOKENS
    head = frozenset({"head"})

    @property
    def family(self) -> Family:
        """The axes of models of language."""
        return Family.TEXT


@final
class GmlpText(_Text):
    """gMLP on token ids (arXiv 2105.08050). What is left out here is for the paper's reading to say.

    `hidden` is D_C, `spatial_matrix` full or Toeplitz (tMLP), `attention` the width of a tiny attention (aMLP).
    """

    key = "gmlp_text"
    builder = "gmlp:GmlpTextModel"
    head = frozenset({"norm", "head"})
    parts = (
        *_GMLP_PARTS,
        (r"^embedding\b", "token embedding"),
        (r"\bpooler\b", "pooler"),
        (r"^output\b", "output layer"),
    )
    modules = frozenset({"sgu"})

    width: Count
    hidden: Count | None = None
    gate: Gate = Gate.SPLIT
    spatial_matrix: SpatialMatrix | None = None
    attention: Count | None = None

    @model_validator(mode="after")
    def _gate_has_halves(self) -> Self:
        _check_halves(self.gate, self.hidden)
        return self


@final
class Bert(_Text):
    """BERT's encoder (arXiv 1810.04805); the rest is for the paper's reading to say.

    `positions` is the number of rows of the table of positions: 512 in the released models, whatever the length of
    the texts.
    """

    key = "bert"
    builder = "gmlp:BertTextModel"
    parts = (
        (r"\bposition_embeddings\b", "positions"),
        (r"\bword_embeddings\b", "token embedding"),
        (r"\btoken_type_embeddings\b", "segment embedding"),
        (r"\bembeddings\b", "norm of the embedding"),
        (r"\battention\b", "attention"),
        (r"\bintermediate\b", "MLP: FC1"),
        (r"\blayer\.output\.dense\b", "MLP: FC2"),
        (r"\bpooler\b", "pooler"),
        (r"^output\b", "output layer"),
        (r"\bLayerNorm\b", "norms of the blocks"),
    )
    modules = frozenset({"word_embeddings"})

    width: Count = 768
    heads: Count = 12
    hidden: Count = 3072
    positions: Count = 512

    @model_validator(mode="after")
    def _heads_divide_the_width(self) -> Self:
        divides(self.heads, self.width, "heads and width")
        return self


@final
class ResMlp(Stack):
    """ResMLP for images, and the rows of its ablations (arXiv 2105.03404).

    `form` left out is for the paper's reading to say. `expansion` is that of the communication MLP over the patches,
    where there is one.
    """

    key = "resmlp"
    builder = "resmlp:ResMlpClassifier"
    stem = frozenset({"stem"})
    head = frozenset({"head"})
    parts = (
        (r"\bacross_(patches|tokens)\b", "mixing of the tokens"),
        (r"\bacross_channels\b", "mixing of the channels"),
        (r"\bpost\d?\b", "scales after the sublayers"),
    )
    modules = frozenset({"across_channels", "mlp_channels", "gamma_1"})

    width: Count
    patch: Count = 16
    form: ResMlpForm | None = None
    norm: Norm = Norm.AFF
    pooling: Pooling = Pooling.AVERAGE
    communication: Communication = Communication.LINEAR
    expansion: Annotated[float, Field(gt=0, le=64, allow_inf_nan=False)] | None = None
    nonlinearity: Nonlinearity = Nonlinearity.GELU

    @model_validator(mode="after")
    def _expansion_has_an_mlp(self) -> Self:
        if self.expansion is not None and self.communication is not Communication.MLP:
            raise ValueError(f"expansion: it needs a communication MLP, and communication is {self.communication}")
        return self

    @property
    def family(self) -> Family | None:
        """The axis of its form, None where the recipe gives the form."""
        return Family.RESMLP if self.form is None else None


HOSTS: Mapping[str, type[Host]] = {
    host.key: host for host in (Timm, Bert, Gmlp, GmlpText, Mixer, PythonModule, ResMlp, Torchvision, Transformers)
}
"""The hosts by their keys in a recipe; a new one is a class above, and a name in this list."""
