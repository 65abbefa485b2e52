"""What a column holds, guessed from its heading and its cells."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from imlp_audit.models.host import Setting
from imlp_audit.models.names.data_sets import other_data_sets
from imlp_audit.numbers.forms import parse_printed
from imlp_audit.spec.columns import Measure, Metric
from imlp_audit.transcribe.cells import MISSING, is_printed, read_cell, read_change, split_mark
from imlp_audit.transcribe.sides import sides_in
from imlp_audit.transcribe.units import counts_images, find_unit, is_quantity, own_unit


class ColumnRole(StrEnum):
    """What a column of a source is for."""

    LABEL = "label"
    NUMBERS = "numbers"
    CHANGES = "changes"  # of the column to its left
    SIZE = "size"  # of the images
    LINKS = "links"  # to files, which say nothing
    TRAINING = "training"  # how a row's model was trained, which changes nothing of the model
    WORDS = "words"  # any other text
    UNKNOWN = "unknown"  # numbers that the heading does not explain


@dataclass(frozen=True)
class ColumnGuess:
    """What a column seems to hold. `doubts` are what a person must confirm.

    `unit_headed` says that its heading gives the unit. `zeros` is how many zeros all its numbers end in, where they are
    printed in full and were rounded before: 25560000 is then 25.56 in M.
    """

    role: ColumnRole
    heading: str
    measure: Measure | None = None
    unit: str = ""
    fields: tuple[tuple[str, str], ...] = ()
    doubts: tuple[str, ...] = field(default=())
    zeros: int = 0
    unit_headed: bool = True


_LABEL = re.compile(r"\b(models?|methods?|networks?|arch(itecture)?s?|backbones?|names?|variants?|encoder|config)\b")
_SIZE = re.compile(
    r"((input|image|img|im|test|train|fine-?tun\w*|ft|eval\w*|inference)\s)*(resolution|res|reso|size|crop|input|image|img|px|pixels)(\ssize)?"
    r"(\s(train|test|eval\w*|inference))?"
)
_IN_PIXELS = re.compile(r"\s*[(\[]\s*(?:in\s)?(?:px|pixels?)\s*[)\]]|\.")
_TRAINING = re.compile(r"\b(epochs?|pre-?train(ed|ing)?( data)?|training( data)?|train data|extra data|venue|year"
                       r"|ref\w*|publication|conference|date|type|family|config|download|link|url|log|ckpt|checkpoint|weights?"
                       r"|hub|code|mode|teacher|distill\w*|optimizer|schedule)\b")  # fmt: skip
_TRAINED = re.compile(  # how weights came about that are then fine-tuned: the model is the label's
    r"(?:(?:fully[- ])?supervised|(?:trained )?(?:from )?scratch|random(?: init(?:\.|iali[sz]ation)?)?|(?:FC)?MAE)",
    re.IGNORECASE,
)
_LINK = re.compile(r"\W*((model|config|link|log|download|weights?|ckpt|checkpoint|github|google|baidu|here|url)\W*)+")
_PARAMETERS = re.compile(r"\bpar(a|am|ams|m|ms)?\b|\bparameters?\b|#p\b|\bweights\b(?=.*\(m\))")
_MEGA = re.compile(r"\bsize\W{1,3}m\b")
_FLOPS = re.compile(r"\b[kmgtb]?(flops?|macs?|madds?)\b|mult(i|iply)?-?\s?adds?|multiply-accumulates?|\b[mgtb]ops\b")
_MACS = re.compile(r"\b[kmgtb]?(macs?|madds?)\b|mult(i|iply)?-?\s?adds?|multiply-accumulates?")
_THROUGHPUT = re.compile(r"throughput|\bim(?:g|age)?s?\s?/\s?s|\bfps\b|samples/s")
_TIME = re.compile(r"latency|\b(inference|run|test|cpu|gpu) ?time\b|\b[mμµ]s\b|\bmilliseconds?\b")
_SPEED = re.compile(r"\bspeed\b")
_MEMORY = re.compile(r"\bmem(ory)?\b")
_TOP = re.compile(r"\b(?:top|acc)\s?-?\s?@?\s?([15])\b|\b(?:im(?:age)?net|in-?1k)\b|\bacc(?:uracy)?\b")
_ERROR = re.compile(r"\berr(or)?\b")
_MEASURES = re.compile(  # no text below such a heading changes a model
    rf"{_PARAMETERS.pattern}|{_FLOPS.pattern}|{_ERROR.pattern}|{_TIME.pattern}|{_THROUGHPUT.pattern}"
    r"|\b(?:top|acc)\s?-?\s?@?\s?[15]\b|\bacc(?:uracy)?\b"
)
_SCORE = re.compile(r"\b(m?ap\d*(\^?[bm])?|miou|bleu|f1|psnr|ssim|fid|ppl|perplexity|score|pq|ar|auc|map|rouge|wer|glue"
                    r"|mae|iou|top-?\d+|acc@\d+|real|v2|cifar\S*|coco)\b")  # fmt: skip
_CHANGE = re.compile(r"^(Δ|δ|delta|change|diff(erence)?|reduction|gain|savings?|impr\w*)\b|Δ")
_RATIO = re.compile(r"\bratio\b|speed-?\s?up|\bfaster\b|\bcompression\b|\brelative\b")
_SHARE = re.compile(r"(?<!\d)%|[×✕](?!\s*\d)|\(x\)")
_TIMES = re.compile(r"[~≈]?\s*\d+(?:\.\d+)?\s*[x×]?")
_SETTINGS = {
    r"#?\s?(layers|blocks)|depth": Setting.LAYERS, r"(embed(ding)?\s?)?(dim(ension)?|width)|hidden size": Setting.WIDTH,
    r"patch(\s?size)?": Setting.PATCH,
}  # fmt: skip
_DATA = {r"\breal\b": "imagenet-real", r"\bv2\b|imagenet-?v2": "imagenet-v2", r"imagenet|in-?1k|ilsvrc": "imagenet-1k"}
_NEEDS_TRAINING = ("needs", "trained weights and the data")


def guess_column(heading: str, cells: Sequence[str], caption: str) -> ColumnGuess:
    """Guess what a column holds. The first column that may hold labels does; the caller decides that."""
    words = " ".join(re.sub(r"[_\s]+", " ", split_mark(heading)[0].lower()).split())
    texts = [cell for cell in cells if cell not in MISSING]
    numeric = sum(_is_number(cell) for cell in texts)
    if _CHANGE.search(words) and texts and all(read_change(cell) is not None for cell in texts):
        return ColumnGuess(ColumnRole.CHANGES, heading)
    if _is_size(words, texts):
        return ColumnGuess(ColumnRole.SIZE, heading)
    if _RATIO.search(words) and texts and all(_TIMES.fullmatch(text) for text in texts):
        return ColumnGuess(ColumnRole.UNKNOWN, heading)
    measured = _MEASURES.search(words) is not None and all(map(is_quantity, texts))
    if numeric * 2 <= len(texts) and not (measured and numeric):
        return _words(heading, words, texts)
    if _SHARE.search(words) and (_PARAMETERS.search(words) or _FLOPS.search(words)):
        doubt = f"{heading!r} is left out: it is a share of another number, and not a total"
        return ColumnGuess(ColumnRole.UNKNOWN, heading, doubts=(doubt,))
    for pattern, guess in _KINDS:
        if pattern.search(words):
            found = guess(heading, words, texts, caption)
            if found is not None:
                return found
    if _TRAINING.search(words):
        return ColumnGuess(ColumnRole.TRAINING, heading)
    return ColumnGuess(ColumnRole.UNKNOWN, heading)


def _words(heading: str, words: str, texts: Sequence[str]) -> ColumnGuess:
    links = bool(texts) and all(_LINK.fullmatch(text.lower()) for text in texts)
    if links:
        return ColumnGuess(ColumnRole.LINKS, heading)
    measured = any(pattern.search(words) for pattern, guess in _KINDS if guess is not _setting)
    if measured and texts and all(_NUMBERS.fullmatch(text) for text in texts):
        doubt = f"{heading!r} is left out: its cells hold several numbers; give each a column"
        return ColumnGuess(ColumnRole.UNKNOWN, heading, doubts=(doubt,))
    if texts and all(_MEASURED.fullmatch(text) for text in texts):
        return ColumnGuess(ColumnRole.UNKNOWN, heading)
    if _MEASURES.search(words) and texts and all(map(is_quantity, texts)):
        doubt = f"{heading!r} is left out: its cells, such as {texts[0]!r}, are no plain numbers"
        return ColumnGuess(ColumnRole.UNKNOWN, heading, doubts=(doubt,))
    if texts and all(_TRAINED.fullmatch(text) for text in texts):
        return ColumnGuess(ColumnRole.TRAINING, heading)
    if _LABEL.search(words):
        return ColumnGuess(ColumnRole.LABEL, heading)
    role = ColumnRole.TRAINING if _TRAINING.search(words) else ColumnRole.WORDS
    return ColumnGuess(role, heading)


def _is_number(text: str) -> bool:
    digits = re.fullmatch(r"[~≈]?\s*[+\-−–]?\s*\.?\d[\d.,\s]*", text)  # also those no spec can hold: ５.７ and .57
    return (
        digits is not None
        or own_unit(text) != ""
        or (text[:1] in "~≈+-−–(0123456789" and read_cell(text, "%").number is not None)
    )


_MEASURED = re.compile(  # on hardware, as 41.6ms is: no such text changes a model
    r"[~≈<>]?\s*\d[\d.,]*\s*(?:[nµμm]?s|secs?|seconds?|mins?|minutes?|h|hrs?|hours?|days?|im(?:g|age)?s?/s(?:ec)?|fps|[kmg]i?b"
    r"|m?[wj]|[gt]pu[- ](?:days?|hours?))\.?",
    re.IGNORECASE | re.ASCII,
)
_NUMBERS = re.compile(r"(?:[~≈]?\s*\d+(?:[.,]\d+)?\s?[kKMGBT%]?\s*(?:[/|;(]\s*|\)?$))+", re.ASCII)  # 79.8 / 95.0


def _is_size(words: str, texts: Sequence[str]) -> bool:
    """Return whether a heading is that of sizes of images, and at least half of the cells hold one or several."""
    words = _IN_PIXELS.sub("", words)
    if not texts or not _SIZE.fullmatch(words) or 2 * sum(map(bool, map(sides_in, texts))) < len(texts):
        return False
    return words != "size" or not any(text.isdigit() and int(text) < _LEAST_IMAGE for text in texts)


_LEAST_IMAGE = 96  # a smaller number below "Size" may be of parameters
_ROUNDED = 3  # zeros at the end of all numbers of a column: chance gives them to one count in a thousand


def _parameters(heading: str, words: str, texts: Sequence[str], caption: str) -> ColumnGuess | None:
    del caption
    if re.search(r"\(\s*[kmg]i?b\s*\)", words):
        return None  # bytes of a file
    return _totals(heading, texts, Measure.PARAMETERS, "M")


def _mega(heading: str, words: str, texts: Sequence[str], caption: str) -> ColumnGuess:
    del words, texts, caption
    doubt = (
        f"{heading!r} is left out: it may be in megabytes or in millions of parameters; if it counts parameters, add "
        "the column with `measure: parameters`"
    )
    return ColumnGuess(ColumnRole.UNKNOWN, heading, doubts=(doubt,))


def _flops(heading: str, words: str, texts: Sequence[str], caption: str) -> ColumnGuess | None:
    prefix = re.search(r"\b([kmgtb])(?:flops?|macs?|madds?|ops)\b", words)
    if prefix is not None:
        found = ColumnGuess(ColumnRole.NUMBERS, heading, Measure.FLOPS, prefix[1].upper().replace("K", "k"))
    else:
        found = _totals(heading, texts, Measure.FLOPS, "G")
    if found.unit != "T" or counts_images(heading, caption):
        return found
    doubt = (
        f"{heading!r} is left out: nothing says that its numbers in T are of one image, and they may be a speed or "
        "those of the training; if they are of one image, add the column with `image`"
    )
    return ColumnGuess(ColumnRole.UNKNOWN, heading, doubts=(doubt,))


def _totals(heading: str, texts: Sequence[str], measure: Measure, usual: str) -> ColumnGuess:
    found = find_unit(heading, texts, usual)
    zeros = _common_zeros(texts) if not found.unit else 0
    if zeros < _ROUNDED:
        return ColumnGuess(
            ColumnRole.NUMBERS, heading, measure, found.unit, doubts=found.doubts, unit_headed=found.headed
        )
    doubt = f"the numbers of {heading!r} all end in {'0' * zeros}: they are read as rounded there, in {usual}"
    return ColumnGuess(ColumnRole.NUMBERS, heading, measure, usual, doubts=(doubt,), zeros=zeros)


def _common_zeros(texts: Sequence[str]) -> int:
    """Return how many zeros all of some whole numbers end in."""
    return min((len(text) - len(text.rstrip("0")) for text in texts), default=0)


def counts_macs(heading: str) -> bool:
    """Say whether a heading names multiply-accumulates."""
    return _MACS.search(heading.lower()) is not None


def _score(heading: str, words: str, texts: Sequence[str], caption: str) -> ColumnGuess | None:
    unit = "%" if "%" in heading or _TOP.search(words) or any("%" in text for text in texts) else ""
    above = sum(map(_above_hundred, texts)) if unit else 0
    if 2 * above > len(texts):
        doubt = f"{heading!r} is no score in %, so it is left out: {above} of its {len(texts)} numbers are above 100"
        return ColumnGuess(ColumnRole.UNKNOWN, heading, doubts=(doubt,))
    top = re.search(r"\b(?:top|acc)\s?-?\s?@?\s?([15])\b", words)
    where = f"{words} {caption.lower()}"
    headed = any(not one.has_imagenet for one in other_data_sets(heading, heading=True))
    data = None if headed else next((name for pattern, name in _DATA.items() if re.search(pattern, words)), None)
    others = headed or any(not one.has_imagenet for one in other_data_sets(caption)) or re.search(_OTHER_DATA, where)
    data = data or ("imagenet-1k" if re.search(_IMAGENET, where) and not others else None)
    fields: tuple[tuple[str, str], ...] = (_NEEDS_TRAINING,)
    if _TOP.search(words) and data is not None and unit == "%" and not _ERROR.search(words):
        metric = Metric.TOP5 if top is not None and top[1] == "5" else Metric.TOP1
        fields = (("metric", metric.value), ("data", data), *fields)
    return ColumnGuess(ColumnRole.NUMBERS, heading, Measure.SCORE, unit, fields)


def _above_hundred(text: str) -> bool:
    number = read_cell(text, "%").number
    return number is not None and is_printed(number, "%") and parse_printed(number, "%").value > 100


_IMAGENET = r"imagenet|\bin-?1k\b|ilsvrc"
_OTHER_DATA = r"coco|ade20k|cityscapes"


def _throughput(heading: str, words: str, texts: Sequence[str], caption: str) -> ColumnGuess | None:
    del words, texts, caption
    fields = (("needs", "the hardware that was used"),)
    return ColumnGuess(ColumnRole.NUMBERS, heading, Measure.THROUGHPUT, "images/s", fields)


def _time(heading: str, words: str, texts: Sequence[str], caption: str) -> ColumnGuess | None:
    del words, texts, caption
    doubt = f"{heading!r} is left out: a spec holds images per second, and neither times nor speeds without a unit"
    return ColumnGuess(ColumnRole.UNKNOWN, heading, doubts=(doubt,))


def _memory(heading: str, words: str, texts: Sequence[str], caption: str) -> ColumnGuess | None:
    del words, texts, caption
    batch = re.search(r"batch(?:\s?size)?\s?(?:of|=|:)?\s?(\d{1,4})|bs\s?=?\s?(\d{1,4})", heading.lower())
    if batch is None or not re.search(r"\bMi?B\b", heading):
        return None
    fields = (("batch", batch[1] or batch[2]), ("needs", "the hardware that was used"))
    return ColumnGuess(ColumnRole.NUMBERS, heading, Measure.MEMORY, "MB", fields)


def _setting(heading: str, words: str, texts: Sequence[str], caption: str) -> ColumnGuess | None:
    del texts, caption
    for pattern, setting in _SETTINGS.items():
        if re.fullmatch(pattern, words):
            return ColumnGuess(ColumnRole.NUMBERS, heading, Measure.SETTING, "", (("of", setting.value),))
    return None


_KINDS = (
    (_FLOPS, _flops),
    (_PARAMETERS, _parameters),
    (_MEGA, _mega),
    (_TIME, _time),
    (_THROUGHPUT, _throughput),
    (_SPEED, _time),
    (_MEMORY, _memory),
    (re.compile("|".join(_SETTINGS)), _setting),
    (_TOP, _score),
    (_SCORE, _score),
    (_ERROR, _score),
)
