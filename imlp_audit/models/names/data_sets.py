"""Names in texts: data sets with their numbers of classes, and models of texts that transformers has."""

from __future__ import annotations

import re

_LARGE = "hidden_size: 1024, num_hidden_layers: 24, num_attention_heads: 16, intermediate_size: 4096"
_ROBERTA = "max_position_embeddings: 514, type_vocab_size: 1"
_TEXTS = {  # labels of one size, with the class, and what the configuration of its weights has besides the defaults
    "bertbase": "BertModel", "bertlarge": f"BertModel, config: {{{_LARGE}}}", "electrasmall": "ElectraModel",
    "gpt2small": "GPT2Model", "gpt2medium": "GPT2Model, config: {n_embd: 1024, n_layer: 24, n_head: 16}",
    "gpt2large": "GPT2Model, config: {n_embd: 1280, n_layer: 36, n_head: 20}",
    "gpt2xl": "GPT2Model, config: {n_embd: 1600, n_layer: 48, n_head: 25}",
    "robertabase": f"RobertaModel, config: {{{_ROBERTA}}}",
    "robertalarge": f"RobertaModel, config: {{{_LARGE}, {_ROBERTA}}}",
}  # fmt: skip


def text_recipe(label: str) -> str | None:
    """Return the recipe of the text model of transformers that a label names with its size, where its class has it."""
    found = _TEXTS.get("".join(re.findall("[a-z]+|[0-9]+", label.lower())))
    return f"{{transformers: {{architecture: {found}, tokens: 512}}}}" if found is not None else None


_CLIP = re.compile(
    r"(?:.*clip[-_ ]?)?vit[-_ ]?(b|l|h)(?:ase|arge|uge)?[-_ /]?(?:patch)?(\d\d)(?:[-_@](\d{3}))?(?:[-_]quickgelu)?"
)
_TOWERS = {  # arXiv 2103.00020, Table 20, and OpenCLIP's ViT-H: width and layers for texts, then for images
    "b": (512, 12, 768, 12),
    "l": (768, 12, 1024, 24),
    "h": (1024, 24, 1280, 32),
}


def clip_recipe(label: str, side: int | None) -> str | None:
    """Return the recipe of the two towers of CLIP that a label such as ViT-B-32 names, on images of a size."""
    found = _CLIP.fullmatch(label.lower())
    if found is None:
        return None
    width, layers, wide, deep = _TOWERS[found[1]]
    side = int(found[3] or side or 224)
    text, image = _tower(width, layers, width // 64), _tower(wide, deep, 16 if wide > 768 else 12)
    image += f", patch_size: {found[2]}, image_size: {side}"
    config = f"{{projection_dim: {width}, text_config: {{{text}}}, vision_config: {{{image}}}}}"
    inputs = f"{{pixel_values: {{shape: [3, {side}, {side}]}}, input_ids: {{shape: [77], dtype: int64}}}}"
    return f"{{transformers: {{architecture: CLIPModel, config: {config}, inputs: {inputs}}}}}"


def _tower(width: int, layers: int, heads: int) -> str:
    sizes = {"hidden_size": width, "num_hidden_layers": layers, "num_attention_heads": heads}
    return ", ".join(f"{key}: {value}" for key, value in {**sizes, "intermediate_size": 4 * width}.items())


USUAL_CLASSES = 1000
# The outputs that the heads of timm's weights have, besides 1000 and none: `num_classes` of each, in timm 1.0.31.
PUBLISHED_HEADS = (384, 512, 640, 768, 1024, 1152, 1280, 11_221, 11_821, 19_168, 21_841, 21_842, 21_843, 115_217)
SMALL_HEADS = (2, 10, 100, 1, *range(3, 10), *range(11, 21), 43, 50, 101, 102, 120, 196, 200, 365, 397, 1010, 8142)
"""The numbers of classes that models are usually trained for, besides those of ImageNet and of published weights."""
ALL_CLASSES = 21_841
"""All classes of ImageNet, which papers call ImageNet-21k or -22k."""
# The numbers are those that the authors of the data sets publish. Words that mean something else too need their case.
_KNOWN = {
    r"(?i:cifar[-\s]?100)\b": 100, r"(?i:cifar[-\s]?10)\b": 10, r"(?i:cifars?)\b": None,
    r"(?i:tiny[-\s]?(?:imagenet|in\b)(?:-?200)?|t-(?:imagenet|in\b)|imagenet-?200\b)": 200,
    r"(?i:imagenet[-\s]?100\b(?!\s*epochs?)|mini-?imagenet)|IN-?100\b": 100, r"(?i:imagenet-?10\b)": 10,
    r"(?i:svhn|(?:fashion-?|f-?|k|q)?mnist|stl-?10|eurosat)\b": 10, r"(?i:gtsrb)\b": 43,
    r"(?i:inat(?:uralist)?[-\s]?(?:20)?18)\b": 8142, r"(?i:inat(?:uralist)?[-\s]?(?:20)?19)\b": 1010,
    r"(?i:inat(?:uralist)?)(?:\b|(?=[-\s]?(?:20)?\d\d\b))": None, r"(?i:places[-\s]?365)\b": 365, r"Places\b": None,
    r"(?i:(?:oxford[-\s])?flowers?[-\s]?102)\b|(?:Oxford[-\s])?Flowers\b": 102,
    r"(?i:oxford(?:[-\s]iiit)?[-\s]?pets?)\b|Pets\b": 37, r"(?i:stanford[-\s]?cars|cars-?196)\b|Cars\b": 196,
    r"(?i:fgvc[-\s]?aircrafts?)\b|Aircrafts?\b": 100, r"(?i:food[-\s]?101)\b": 101,
    r"CUB(?:[-\s]?200)?(?:-?2011)?\b": 200, r"(?i:sun-?397)\b": 397, r"(?i:caltech-?101)\b": 101,
    r"(?i:(?:nwpu-?)?resisc-?45)\b": 45, r"(?i:kinetics[-\s]?400)\b|K-?400\b": 400,
    r"(?i:kinetics[-\s]?600)\b|K-?600\b": 600, r"Kinetics\b": None, r"(?i:ss-?v2|something-something)\b": 174,
    r"(?i:ucf-?101)\b": 101, r"(?i:hmdb-?51)\b": 51, r"LFW\b|(?i:ms-?1m\w*|celeb-?a|vtab|market-?1501)\b": None,
}  # fmt: skip
_WIDER = {r"(?:(?i:image-?net)|IN)[-\s]?2[12][kK](?:-P)?\b": ALL_CLASSES}
_IN_HEADING = {r"C-?100\b": 100, r"C-?10\b": 10, r"Food\b": 101}
_COUNTED = re.compile(
    r"(?<![\w.,])(\d[\d,]*)(k?)[\s-]+(?:\w+[\s-]+)?(?:class(?:es)?|categories|identities|species)\b",
    re.IGNORECASE | re.ASCII,
)
_IMAGENET = re.compile(
    r"(?<!\b[tT])(?<!\b[tT][-\s])(?<!(?i:tiny|mini))(?<!(?i:tiny|mini)[-\s])(?<!(?i:tiered))(?<!(?i:tiered)[-\s])"
    r"(?:(?i:\bim(?:age)?-?net)(?![-\s]?(?:2[12][kK]|100\b(?!\s*epoch))|-?(?:10|200)\b)|(?i:\bin-?1k)\b|(?i:\bilsvrc))"
)


def _joined(patterns: dict[str, int | None]) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?:{'|'.join(f'({one})' for one in patterns)})")


_EVERYWHERE = {**_KNOWN, **_WIDER}
_HEADINGS = {**_IN_HEADING, **_EVERYWHERE}
_FOUND = {
    False: (_joined(_EVERYWHERE), tuple(_EVERYWHERE.values())),
    True: (_joined(_HEADINGS), tuple(_HEADINGS.values())),
}


def names_imagenet(text: str) -> bool:
    """Return whether a text names the ImageNet of 1000 classes, and not a part of it or all of it."""
    return _IMAGENET.search(text) is not None


def other_data_sets(text: str, *, heading: bool = False) -> dict[str, int | None]:
    """Return the data sets other than ImageNet-1k that a text names, with their classes; a heading may write C10.

    The classes are None where models for a data set are not all built for one number of them.
    """
    pattern, classes = _FOUND[heading]
    return {one[0].casefold(): classes[(one.lastindex or 1) - 1] for one in pattern.finditer(text)}


def _stated_classes(text: str) -> set[int]:
    numbers = {int(one[1].replace(",", "")) * (1000 if one[2] else 1) for one in _COUNTED.finditer(text)}
    return {ALL_CLASSES if number in (21_000, 22_000) else number for number in numbers if number > 1} - {USUAL_CLASSES}


def classes_named(title: str, headings: str) -> tuple[int, ...]:
    """Return the numbers of classes other than 1000 that a table states, or that the data sets it names have."""
    named = {*other_data_sets(title).values(), *other_data_sets(headings, heading=True).values()} - {None}
    return tuple(sorted(_stated_classes(f"{title} | {headings}") | {one for one in named if one is not None}))
