"""The words of labels and names, and how other code bases and papers spell the names of libraries."""

from __future__ import annotations

import re
from decimal import Decimal

_SIZES = {"ti": "tiny", "t": "tiny", "s": "small", "b": "base", "big": "base", "l": "large", "h": "huge", "m": "medium",
          "a": "atto", "f": "femto", "p": "pico", "n": "nano"}  # fmt: skip
_SHORT = re.compile(rf"(x{{0,2}})({'|'.join(_SIZES)})")  # xs is x-small, xl is x-large
_LONG = re.compile(rf"(x{{0,2}})({'|'.join(set(_SIZES.values()))})")
_LETTERS = r"[a-z]+?(?=v\d(?!\d)|(?![a-z]))"  # up to a version: mobilenet of mobilenetv3
_WORD = re.compile(
    rf"res2nex?t|t2t|(?<![a-z0-9])\d+[mb](?![a-z0-9])|v\d(?!\d)|{_LETTERS}|\d+"
)  # of 22B, v3, mobilenet, 50

_APART = re.compile(r"(?<=(?<![a-z])x)[-_ ](?=small|large)|(?<=(?<![a-z])xx)[-_ ](?=small|large)")  # xx_small


def words_of(text: str) -> tuple[str, ...]:
    """Return the words and numbers of a text, the sizes of models in full: ("deit", "small") for DeiT-S.

    A letter right behind a number, as in ResNet-50t, is no size.
    """
    text = _APART.sub("", text.lower())
    found = (one for one in _WORD.finditer(text) if one[0] != "v1")
    return tuple(one[0] if text[: one.start()][-1:].isdigit() else _spell(one[0]) for one in found)


def _spell(word: str) -> str:
    short = _SHORT.fullmatch(word)
    return short[1] + _SIZES[short[2]] if short is not None else word


def is_size(word: str) -> bool:
    """Return whether a word in full is the size of a model, such as small or xlarge."""
    return _LONG.fullmatch(word) is not None


_WIDE = r"mobilenet[-_ ]?v[123](?:[-_ ](?:large|small))?|mobilevit[-_ ]?v2|ghostnet(?:[-_ ]?v2)?"
_PUBLISHED = (
    (re.compile(r"(?<=[A-Za-z0-9])(?=(?:Tiny|Small|Base|Medium|Large|Huge|Patch)(?![a-z]))"), "-"),  # SwinV2Tiny
    (re.compile(r"(?<=[a-z])(?=[A-UW-Z]\d)|(?<=[a-z][A-Z])(?=X{0,2}[STBLMH]\d)"), "-"),  # EfficientNetB0, CaiTS24
    (re.compile(r"\b(res2?nex?t[-_ ]?\d+)_vd(?![a-z])", re.IGNORECASE), r"\1d"),  # as PaddlePaddle calls ResNet-D
    (re.compile(rf"\b({_WIDE})_x(\d)_(\d+)$", re.IGNORECASE), r"\1 x\2.\3"),  # MobileNetV2_x0_5
    (re.compile(r"^(?:timm|torchvision)[-_ /:]+", re.IGNORECASE), ""),
    (re.compile(r"(?<=[-_ ][SBLHsblh])\+(?=[-_ /]|$)"), "-plus"),  # ViT-S+/16
    (re.compile(r"\bvision[-_ ]transformer\b", re.IGNORECASE), "ViT"),
    (re.compile(r"\b(swin)[-_ ]?transformer(?=v\d|[^a-z]|$)", re.IGNORECASE), r"\1"),
    (re.compile(r"\bwrn[-_ ]?(\d+)[-_ ](\d)\b", re.IGNORECASE), r"wide_resnet\1_\2"),
    (re.compile(r"\b(?:rn|r)(?=-?(?:18|34|50|101|152)\b)", re.IGNORECASE), "ResNet"),
    (re.compile(r"\b(?:rx|x)(?=-?(?:50|101)\b)", re.IGNORECASE), "ResNeXt"),
    (re.compile(r"\beff(?:[-_ ]?net)?(?=[-_ ]?(?:b\d|v2|lite|l2))", re.IGNORECASE), "EfficientNet"),
    (re.compile(r"\bdeit[-_ ]?iii\b", re.IGNORECASE), "DeiT3"),
    (re.compile(r"(?<=\d) ?× ?(?=\d)"), "x"),  # ResNeXt-101-32×4d
    (re.compile(r"\b(resnext[-_ ]?\d+) ?\((\d+x\d+d?)\)$", re.IGNORECASE), r"\1-\2"),
    (re.compile(r"(?<=\S) ?\(([a-z]{2,})\)$", re.IGNORECASE), r"-\1"),  # FocalNet-T (SRF); one letter may be a footnote
    (re.compile(r"\b(swin.*?)[-_ ]*\(?w(?:in(?:dow)?)?[-_ ]?(\d+)(?:x\2)?\)?$", re.IGNORECASE), r"\1-\2"),  # of 12x12
)
_SPELLINGS = (
    (re.compile(r"\bresmlp[-_ ]?s(\d+)$", re.IGNORECASE), r"resmlp_\1"),
    (re.compile(r"\bmnasnet[-_ ]?a1$", re.IGNORECASE), "semnasnet_100"),
    (re.compile(r"\b(shufflenet)[-_ ]?v2[-_ (]+[x×]?([012])\.(\d)[x×]?\)?$", re.IGNORECASE), r"\1_v2_x\2_\3"),
    (re.compile(r"\b(shufflenet)[-_ ]?v2[-_ (]+([12])[x×]\)?$", re.IGNORECASE), r"\1_v2_x\2_0"),
    (re.compile(r"\bmlp[-_ ]?mixer\b", re.IGNORECASE), "mixer"),
    (re.compile(r"\bresnet[-_ ]?v1([cds])[-_ ]?(\d+)\b", re.IGNORECASE), r"resnet\2\1"),  # OpenMMLab's resnetv1d50
    (re.compile(r"(?<=[a-z\d])[-_ ]p(\d+)\b", re.IGNORECASE), r"/\1"),  # patches of 16, as in OpenMMLab's vit-base-p16
)
_MEANT = (  # what a label stands for in the papers that first printed it
    (re.compile(r"\bViT[-_ ]?G(?=[-_ /]|$)"), "vit_gigantic"),  # arXiv 2106.04560: the large letter
    (re.compile(r"\bViT[-_ ]?g(?=[-_ /]|$)"), "vit_giant"),
    (re.compile(r"^xception$", re.IGNORECASE), "legacy_xception"),  # arXiv 1610.02357; the others are DeepLab's
    (re.compile(r"\b(res2net[-_ ]?(?:50|101))$", re.IGNORECASE), r"\1_26w_4s"),  # arXiv 1904.01169, Table 1
)
_MOBILENET = re.compile(rf"\b({_WIDE})(?:[-_ (]+[x×]?|[x×])([012]\.\d\d?)[x×]?\)?$", re.IGNORECASE)
_REGNET = re.compile(r"\bregnet[-_ ]?([xy])[-_ ]?(\d{1,4}(?:\.\d)?)[-_ ]?([mg])f", re.IGNORECASE)


def spellings(label: str) -> tuple[str, ...]:
    """Return a label as it is, with its abbreviations spelt out, and in the words that timm uses."""
    whole = label
    for pattern, spelling in _PUBLISHED:
        whole = pattern.sub(spelling, whole)
    return tuple(dict.fromkeys((label, whole, respell(whole))))


def first_meaning(label: str) -> str | None:
    """Return what a label without all of a name stands for in the paper that first printed it: vit_giant for ViT-g."""
    return next((pattern.sub(name, label) for pattern, name in _MEANT if pattern.search(label)), None)


def respell(label: str) -> str:
    """Return a label in the words that timm uses: mixer-b/16 for mlp-mixer-b-p16, regnety_160 for RegNetY-16GF.

    Widths of MobileNets are in percent: mobilenetv2_140 for MobileNetV2 1.4.
    """
    for pattern, spelling in _SPELLINGS:
        label = pattern.sub(spelling, label)
    label = _MOBILENET.sub(lambda found: f"{found[1]}_{100 * Decimal(found[2]):03.0f}", label)
    return _REGNET.sub(lambda found: f"regnet{found[1].lower()}_{_tenths(found[2], found[3])}", label)


def _tenths(number: str, unit: str) -> str:
    """Return work in tenths of a billion, as timm's names of RegNets have it: 040 for 4.0 G, 004 for 400 M."""
    work = Decimal(number) * (10 if unit in "gG" else Decimal("0.01"))
    return f"{work:03.0f}" if work == work.to_integral_value() else number
