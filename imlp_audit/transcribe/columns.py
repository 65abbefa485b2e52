"""The columns of a table: what each holds, by its heading and its cells, and how a spec calls it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from imlp_audit.models.names.data_sets import ALL_CLASSES, other_data_sets
from imlp_audit.models.names.known import Library
from imlp_audit.models.names.match import names_of
from imlp_audit.models.names.spelling import spellings
from imlp_audit.numbers.parsing import SCALES, NumberForm, headed_unit, parse_printed
from imlp_audit.spec.columns import Measure, Metric
from imlp_audit.transcribe.cells import MISSING, is_printed, read_cell, split_mark
from imlp_audit.transcribe.grid import GridRow, SourceTable
from imlp_audit.transcribe.labels import read_label, sides_in, sides_named


class ColumnRole(StrEnum):
    """What a column of a source is for."""

    LABEL = "label"
    NUMBERS = "numbers"
    SIZE = "size"  # of the images
    LINKS = "links"  # to files, which say nothing
    TRAINING = "training"  # how a row's model was trained, which changes nothing of the model
    WORDS = "words"  # any other text
    UNKNOWN = "unknown"  # numbers that the heading does not explain


@dataclass(frozen=True)
class ColumnGuess:
    """What a column seems to hold; `note` is what was guessed of it, or why it is left out.

    `unit_headed` says that its heading gives the unit.
    """

    role: ColumnRole
    heading: str
    measure: Measure | None = None
    unit: str = ""
    fields: tuple[tuple[str, str], ...] = ()
    note: str = ""
    unit_headed: bool = True


_LABEL = re.compile(r"\b(models?|methods?|networks?|arch(itecture)?s?|backbones?|names?|variants?|encoder|config)\b")
_SIZE = re.compile(
    r"((input|image|img|im|test|train|fine-?tun\w*|ft|eval\w*|infer\w*)\s)*(resolution|res|reso|size|crop|input|image|img|px|pixels)(\ssize)?"
    r"(\s(train|test|eval\w*|inference))?"
)
_IN_PIXELS = re.compile(r"\s*[(\[]\s*(?:in\s)?(?:px|pixels?)\s*[)\]]|\.")
_TRAINING = re.compile(r"\b(epochs?|pre-?train(ed|ing)?( data)?|training( data)?|train data|extra data|venue|year"
                       r"|ref\w*|publication|conference|date|type|family|config|download|link|url|log|ckpt|checkpoint|weights?"
                       r"|hub|code|mode|teacher|distill\w*|optimizer|schedule)\b")  # fmt: skip
_LINK = re.compile(r"\W*((model|config|link|log|download|weights?|ckpt|checkpoint|github|google|baidu|here|url)\W*)+")
_BYTES = re.compile(r"\(\s*[kmg]i?b\s*\)")  # of a file
_PARAMETERS = re.compile(r"\bm?par(a|am|ams|m|ms)?\b|\bparameters?\b|#p\b|\bweights\b(?=.*\(m\))|参数")
_FLOPS = re.compile(
    r"\b[kmgtb]?(flops?|macs?|madds?)\b|mult(i|iply)?-?\s?adds?|multiply-accumulates?|\b[mgtb]ops\b|计算量"
)
_THROUGHPUT = re.compile(r"throughput|\bim(?:g|age)?s?\s?/\s?s|\bfps\b|samples/s")
_TIME = re.compile(r"latency|\b(inference|run|test|cpu|gpu) ?time\b|\b[mμµ]s\b|\bmilliseconds?\b")
_SPEED = re.compile(r"\bspeed\b")
_TOP = re.compile(r"\b(?:top|acc)\s?-?\s?@?\s?([15])\b|\b(?:im(?:age)?net|in-?1k)\b|\bacc(?:uracy)?\b")
_OF_IMAGENET = re.compile(
    r"\b(?:(?:im(?:age)?-?net|in)(?:[-\s]?1k)?(?:[-\s]?(?:v2|real))?|ilsvrc(?:[-\s]?2012)?|1k|v2|real|top|acc(?:uracy)?"
    r"|val(?:idation)?|test|set|score|on|at|px)(?=\b|\d)"
)
_SCORE = re.compile(r"\b(m?ap\d*(\^?[bm])?|miou|bleu|f1|psnr|ssim|fid|ppl|perplexity|score|pq|ar|auc|map|rouge|wer|glue"
                    r"|mae|iou|top-?\d+|acc@\d+|real|v2|cifar\S*|coco)\b")  # fmt: skip
_RELATIVE = re.compile(r"\bratio\b|speed-?\s?up|\bfaster\b|\bcompression\b|\brelative\b|Δ"
                       r"|^(δ|delta|change|diff(erence)?|reduction|gain|savings?|impr\w*)\b")  # fmt: skip
_SHARE = re.compile(r"(?<!\d)%|[×✕](?!\s*\d)|\(x\)")
_CHANGE = re.compile(r"\(?\s*[~≈+\-−–↑↓]?\s*\d+(?:\.\d+)?\s*[x×%]?\s*\)?")
_DATA = {r"\breal\b": "imagenet-real", r"\bv2\b|imagenet-?v2": "imagenet-v2", r"imagenet|in-?1k|ilsvrc": "imagenet-1k"}
_IMAGENET = re.compile(r"imagenet|\bin-?1k\b|ilsvrc")
_OTHER_DATA = re.compile(r"coco|ade20k|cityscapes")
_MEASURED = re.compile(  # numbers on hardware, as 41.6ms is, and several in one cell
    r"\d[\d.,]*\s*(?:[nµμm]?s|secs?|seconds?|mins?|minutes?|h|hrs?|hours?|days?|im(?:g|age)?s?/s(?:ec)?|fps|[kmgt]?i?b"
    r"|m?[wj]|[gt]pu[- ](?:days?|hours?)|[kmgt])?(?![a-z])",
    re.IGNORECASE | re.ASCII,
)
_LETTERS = re.compile(r"[^\W_]")

NOUNS = ("parameters", "params", "flops", "macs")
"""Words for what is counted, which may stand behind a number."""
_NEEDS_TRAINING = ("needs", "trained weights and the data")
_SLUGS = {Measure.PARAMETERS: "params", Measure.FLOPS: "flops", Measure.THROUGHPUT: "throughput"}
_TEXT = (ColumnRole.LABEL, ColumnRole.WORDS)
_MOST_TEXTS = 300  # of a column, that are looked up
_LEAST_IMAGE = 96  # a smaller number below "Size" may be of parameters
_FULL = {"M": 5, "G": 7}  # digits of a number without a point, by the unit that is usual for such columns
_SMALL_MODEL = 20  # M: multiply-additions of mobile models; no table of them is in G
_LARGE_MODEL = 1000  # M: a classifier's FLOPs; few models have as many G


def guess_column(heading: str, cells: Sequence[str], caption: str) -> ColumnGuess:
    """Guess what a column holds. The first column that may hold labels does; the caller decides that."""
    words = " ".join(re.sub(r"[_\s]+", " ", split_mark(heading)[0].lower()).split())
    texts = [cell for cell in cells if cell not in MISSING]
    numeric = sum(map(_is_number, texts))
    if _is_size(words, texts):
        return ColumnGuess(ColumnRole.SIZE, heading)
    if _RELATIVE.search(words) and texts and all(map(_CHANGE.fullmatch, texts)):
        return ColumnGuess(ColumnRole.UNKNOWN, heading)
    counted = _PARAMETERS.search(words) or _FLOPS.search(words)
    if numeric * 2 <= len(texts) and not (counted and numeric):
        return _words(heading, words, texts)
    if counted and _SHARE.search(words):
        return ColumnGuess(ColumnRole.UNKNOWN, heading, note="a share of another number, and not a total")
    role = ColumnRole.TRAINING if _TRAINING.search(words) else ColumnRole.UNKNOWN
    return _of_numbers(heading, words, texts, caption) or ColumnGuess(role, heading)


def _of_numbers(heading: str, words: str, texts: Sequence[str], caption: str) -> ColumnGuess | None:
    if _FLOPS.search(words):
        unit, headed, note = _find_unit(heading, words, texts, "G")
        sides = sides_named(heading) or tuple(filter(None, [read_label(heading, None, ()).size]))  # as in FLOPs @384
        image = (("image", str(sides[0])),) if sides else ()
        return ColumnGuess(ColumnRole.NUMBERS, heading, Measure.FLOPS, unit, image, note, headed)
    if _PARAMETERS.search(words) and not _BYTES.search(words):
        unit, headed, note = _find_unit(heading, words, texts, "M")
        return ColumnGuess(ColumnRole.NUMBERS, heading, Measure.PARAMETERS, unit, (), note, headed)
    if _TIME.search(words) or (_SPEED.search(words) and not _THROUGHPUT.search(words)):
        return ColumnGuess(ColumnRole.UNKNOWN, heading, note="a spec holds images per second, and no times")
    if _THROUGHPUT.search(words):
        needs = (("needs", "the hardware that was used"),)
        return ColumnGuess(ColumnRole.NUMBERS, heading, Measure.THROUGHPUT, "images/s", needs)
    if _TOP.search(words) or _SCORE.search(words) or re.search(r"\berr(or)?\b", words):
        return _score(heading, words, texts, caption)
    return None


def _words(heading: str, words: str, texts: Sequence[str]) -> ColumnGuess:
    if texts and all(_LINK.fullmatch(text.lower()) for text in texts):
        return ColumnGuess(ColumnRole.LINKS, heading)
    if texts and not any(_LETTERS.search(_MEASURED.sub("", text)) for text in texts):
        return ColumnGuess(ColumnRole.UNKNOWN, heading, note=f"no plain numbers, such as {texts[0]!r}")
    if _LABEL.search(words):
        return ColumnGuess(ColumnRole.LABEL, heading)
    return ColumnGuess(ColumnRole.TRAINING if _TRAINING.search(words) else ColumnRole.WORDS, heading)


def _is_number(text: str) -> bool:
    digits = re.fullmatch(r"[~≈]?\s*[+\-−–]?\s*\.?\d[\d.,\s]*", text)  # also those no spec can hold: ５.７ and .57
    return (
        digits is not None
        or own_unit(text) != ""
        or (text[:1] in "~≈+-−–(0123456789" and read_cell(text, "%").number is not None)
    )


def _is_size(words: str, texts: Sequence[str]) -> bool:
    """Return whether a heading is that of sizes of images, and at least half of the cells hold one or several."""
    words = _IN_PIXELS.sub("", words)
    if not texts or not _SIZE.fullmatch(words) or 2 * sum(map(bool, map(sides_in, texts))) < len(texts):
        return False
    return words != "size" or not any(text.isdecimal() and int(text) < _LEAST_IMAGE for text in texts)


def _find_unit(heading: str, words: str, texts: Sequence[str], usual: str) -> tuple[str, bool, str]:
    """Return the unit of a heading and True, or the one that stands in the cells; else a guess and a note on it."""
    headed = headed_unit(heading)
    if headed is not None:
        return headed, True, ""
    numbers = [number for text in texts if not own_unit(text) and (number := read_cell(text).number) is not None]
    if numbers and 2 * sum(_is_full(one, usual) for one in numbers) > len(numbers):
        return "", False, ""
    units = Counter(filter(None, map(own_unit, texts)))
    if units:
        return units.most_common(1)[0][0], False, ""
    least = _SMALL_MODEL if re.search(r"madds?\b|mult-?adds?\b", words) else _LARGE_MODEL
    if usual == "G" and numbers and all(is_printed(n, "") and parse_printed(n, "").value >= least for n in numbers):
        usual = "M"
    return usual, False, f"no unit is printed; {usual} is a guess"


def own_unit(text: str) -> str:
    """Return the unit that a cell prints with its number, the nearest for a power of ten; "" for none."""
    unit = read_cell(text).unit
    if unit or not is_printed(text, "", NOUNS):
        return unit
    scale = parse_printed(text, NumberForm(nouns=NOUNS)).scale
    return next((one for one in ("T", "G", "M", "k") if scale >= SCALES[one]), "")


def why_no_total(text: str, unit: str, usual: str) -> str | None:
    """Return why a number without a unit is not in that of its column, which no heading gives."""
    number = read_cell(text).number
    if number is None or own_unit(text):
        return None
    digits = number.replace(",", "")
    if unit and digits.isdigit() and len(digits) > len(str(SCALES[unit])) - 1 >= len(str(SCALES["M"])) - 1:
        return f"it may be printed in full, and other cells are in {unit}"
    return "other cells are printed in full" if not unit and not _is_full(number, usual) else None


def _is_full(number: str, usual: str) -> bool:
    return len(number.replace(",", "")) >= _FULL[usual] and "." not in number


def _score(heading: str, words: str, texts: Sequence[str], caption: str) -> ColumnGuess | None:
    unit = "%" if "%" in heading or _TOP.search(words) or any("%" in text for text in texts) else ""
    if unit and 2 * sum(map(_above_hundred, texts)) > len(texts):
        return ColumnGuess(ColumnRole.UNKNOWN, heading, note="no score in %: most of its numbers are above 100")
    top = re.search(r"\b(?:top|acc)\s?-?\s?@?\s?([15])\b", words)
    where = f"{words} {caption.lower()}"
    other = _without_imagenet(heading, headed=True)
    data = None if other else next((name for pattern, name in _DATA.items() if re.search(pattern, words)), None)
    others = other or _without_imagenet(caption) or _OTHER_DATA.search(where)
    data = data or ("imagenet-1k" if _IMAGENET.search(where) and not others else None)
    fields: tuple[tuple[str, str], ...] = (_NEEDS_TRAINING,)
    plain = not re.search(r"[a-z]", _OF_IMAGENET.sub("", words))  # not of a linear probe, or of nearest neighbours
    if _TOP.search(words) and data is not None and unit == "%" and plain:
        metric = Metric.TOP5 if top is not None and top[1] == "5" else Metric.TOP1
        fields = (("metric", metric.value), ("data", data), *fields)
    return ColumnGuess(ColumnRole.NUMBERS, heading, Measure.SCORE, unit, fields)


def _without_imagenet(text: str, *, headed: bool = False) -> bool:
    """Return whether a text names a data set whose models are not pre-trained on it, unlike ImageNet-22k."""
    return any(classes != ALL_CLASSES for classes in other_data_sets(text, heading=headed).values())


def _above_hundred(text: str) -> bool:
    number = read_cell(text, "%").number
    return number is not None and is_printed(number, "%") and parse_printed(number, "%").value > 100


@dataclass(frozen=True)
class TableColumns:
    """The columns of a table by their places, with the `slugs` of those with numbers."""

    guesses: tuple[ColumnGuess, ...]
    label: int
    slugs: dict[int, str]

    @property
    def numbers(self) -> list[tuple[int, ColumnGuess]]:
        """The columns with numbers that a spec can hold."""
        return [(at, self.guesses[at]) for at in self.slugs]

    @property
    def scored(self) -> set[str]:
        """Those of numbers that training decides."""
        return {self.slugs[at] for at, guess in self.numbers if guess.measure is Measure.SCORE}

    @property
    def texts(self) -> list[int]:
        """The columns of texts that are not the labels."""
        return [at for at, guess in enumerate(self.guesses) if at != self.label and guess.role in _TEXT]

    @property
    def others(self) -> list[int]:
        """The columns that tell rows of one model apart: a method, a data set, a seed."""
        used = {self.label, *self.slugs}
        return [at for at, guess in enumerate(self.guesses) if at not in used and guess.role is not ColumnRole.LINKS]

    @property
    def size(self) -> int | None:
        """The column with the size of the images: of several, not that of training, as FLOPs are those of testing."""
        found = [at for at, guess in enumerate(self.guesses) if guess.role is ColumnRole.SIZE]
        return next((at for at in found if "train" not in self.guesses[at].heading.lower()), next(iter(found), None))


def read_columns(table: SourceTable) -> TableColumns:
    """Guess what the columns of a table hold."""
    rows = [row for row in table.rows if row.single is None]
    guesses = [
        guess_column(heading, [row.cells[at] for row in rows], table.caption)
        for at, heading in enumerate(table.headings)
    ]
    guesses = [_without_parts(guess, guesses) for guess in guesses]
    label = _find_label(guesses, rows)
    numbers = [at for at, guess in enumerate(guesses) if guess.role is ColumnRole.NUMBERS and at != label]
    return TableColumns(tuple(guesses), label, _name_columns(numbers, guesses))


def _without_parts(guess: ColumnGuess, guesses: Sequence[ColumnGuess]) -> ColumnGuess:
    """Return a column, left out if its heading is another's with words before: image_params beside params."""
    others = [
        one.heading for one in guesses if guess.measure and guess.measure.totalled and one.measure is guess.measure
    ]
    whole = next((one for one in others if one and re.fullmatch(rf".*\w[ _-]+{re.escape(one)}", guess.heading)), None)
    note = f"of a part of the model, or counted otherwise than {whole!r}"
    return guess if whole is None else ColumnGuess(ColumnRole.UNKNOWN, guess.heading, note=note)


def _find_label(guesses: Sequence[ColumnGuess], rows: Sequence[GridRow]) -> int:
    """Return the column with the most names of models, then texts, then a usual heading; a sparse one sorts rows."""
    texts = {at: _texts(rows, at) for at, guess in enumerate(guesses) if guess.role in _TEXT}
    most = max(map(len, texts.values()), default=0)

    def by_names(at: int) -> tuple[int, bool, bool, int, int]:
        named, usual = sum(map(_is_model, texts[at][:_MOST_TEXTS])), guesses[at].role is ColumnRole.LABEL
        return named, 2 * len(texts[at]) >= most, usual, 0 if usual else len(texts[at]), -at

    return max(texts, key=by_names, default=0)


def _texts(rows: Sequence[GridRow], at: int) -> list[str]:
    return list(dict.fromkeys(row.cells[at] for row in rows if row.cells[at] not in MISSING))


def _is_model(text: str) -> bool:
    name = read_label(text, None, ()).name
    return any(names_of(one, library) for one in spellings(name) for library in (Library.TIMM, Library.TORCHVISION))


def _name_columns(numbers: Sequence[int], guesses: Sequence[ColumnGuess]) -> dict[int, str]:
    slugs: dict[int, str] = {}
    for at in numbers:
        name = _slug(guesses[at])
        candidates = [name, *(f"{name}_{number}" for number in range(2, len(numbers) + 2))]
        slugs[at] = next(one for one in candidates if one not in slugs.values())
    return slugs


def _slug(guess: ColumnGuess) -> str:
    metric = dict(guess.fields).get("metric")
    usual = _SLUGS.get(guess.measure) if guess.measure is not None else None
    words = re.sub(r"[^a-z0-9]+", "_", guess.heading.lower()).strip("_")[:40]
    return usual or metric or words or "column"
