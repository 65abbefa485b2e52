"""Why a row's model may not be the library's of its name: other classes, other windows, images of unknown size."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from imlp_audit.models.names.data_sets import (
    ALL_CLASSES,
    USUAL_CLASSES,
    DataSet,
    names_imagenet,
    other_data_sets,
    stated_classes,
    without_pretraining,
)
from imlp_audit.models.names.known import own_size
from imlp_audit.models.names.match import families_in, names_of_all_windows
from imlp_audit.numbers.words import list_some
from imlp_audit.spec.columns import Measure
from imlp_audit.transcribe.columns import TableColumns
from imlp_audit.transcribe.grid import SourceTable
from imlp_audit.transcribe.image_sizes import Named
from imlp_audit.transcribe.models import ModelGuess
from imlp_audit.transcribe.rows import RowNumbers


@dataclass(frozen=True)
class TableClasses:
    """What is known of the classes: `doubt` is why they may not be the libraries' 1000, `given` what a person says."""

    doubt: OtherClasses | None = None
    given: int | None = None

    def doubt_below(self, heading: str) -> OtherClasses | None:
        """Return why the models of a row may have other heads, which the heading between rows above it may say too."""
        return self.doubt or (why_group(heading) if self.given is None else None)

    def put_into(self, model: ModelGuess, doubt: OtherClasses | None) -> ModelGuess:
        """Return a row's model with the classes that a person gives, or with proposals of those that it may have."""
        if self.given is not None:
            return _with_given(model, self.given)
        if doubt is None or not model.candidates:
            return model
        first, *others = model.candidates
        proposed = [with_classes(first, number) for number in doubt.classes]
        return replace(model, candidates=tuple(dict.fromkeys((*proposed, first, *others))))


def _with_given(model: ModelGuess, classes: int) -> ModelGuess:
    if classes == USUAL_CLASSES:
        return model
    return replace(
        model,
        recipe=with_classes(model.recipe, classes) if model.recipe is not None else None,
        candidates=tuple(with_classes(one, classes) for one in model.candidates),
        nearest=tuple(with_classes(one, classes) for one in model.nearest),
    )


def with_classes(recipe: str, classes: int) -> str:
    """Return a recipe of a classifier of images with a number of classes; a comment behind it stays."""
    if "transformers:" in recipe:
        return recipe
    model, mark, comment = recipe.partition("  #")
    return f"{model[:-1]}, classes: {classes}}}{mark}{comment}"


_TASKS = re.compile(
    r"\b(coco|ade20k|cityscapes|detection|detectors?|segmentation|retinanet|mask r-?cnn|faster r-?cnn|upernet|fcos|"
    r"semantic fpn|m?iou|m?ap|ap\^?[bm]|box ap|mask ap|(?:depth|pose|flow|motion) estimation|optical flow|vqa"
    r"|visual question answering|captioning|(?:crowd|object) counting|(?:object|visual) tracking|atari)\b",
    re.IGNORECASE,
)
_PART = re.compile(
    r"(?:\w+ )*(?:(?:en|de)coder|backbone|(?:feature )?extractor)s?(?: (?:networks?|nets?|models?|arch\w*|names?))?"
)
_TWO_TOWERS = re.compile(
    r"\b(?:\w*CLIP|SigLIP)\b|(?i:\bzero-?\s?shot\b(?!\s(?:nas\b|prox|search|neural))|\bvision-(?:and-)?language\b"
    r"|\bvision language\b|\bimage[-–\s]text\b|\bcontrastive language\b)"
)
_TOP1 = re.compile(r"top-?\s?@?1|acc|imagenet|\bin-?1k\b", re.IGNORECASE)
_TOP1_ALONE = re.compile(r"top-?\s?@?1\b", re.IGNORECASE)
_OTHER_TASK = re.compile(
    r"\bdata-?\s?sets?\b|\bbinary\b|\bmedical\b|\bx-?rays?\b|\bchest\b|\bskin\b|\blesions?\b|\bretina\w*"
    r"|\bhisto\w*log\w*|\bcancers?\b|\btumou?rs?\b|\bcovid\b|\bdiseases?\b|\bdeep-?fakes?\b"
    r"|(?<!hugging )\bfac(?:e|ial)\b|\bre-?identification\b|\bfine-?grained\b|\bremote sensing\b|\baerial\b"
    r"|\bsatellite\b|\bhyperspectral\b|\baction recognition\b|\bvideos?\b|\baudio\b|\bspe(?:ech|aker)\b"
    r"|\bemotions?\b|\bpoint clouds?\b|\bfew-?shot\b|\bretrieval\b|\bage estimation\b",
    re.IGNORECASE,
)
_OTHER_SCORE = re.compile(
    r"\b(?:auc|auroc|roc|f1|precision|recall|sensitivity|specificity|dice|eer|kappa|psnr|ssim|fid|wer|bleu|rank-?1)\b",
    re.IGNORECASE,
)
_ON = re.compile(
    r"\b(?:accurac\w+|results?|performances?|evaluat\w+|trained|tested|compar\w+|classification|recognition|scores?"
    r"|fine-?tun\w+|experiments?|benchmark\w*)\b[^.;]*?\bon\s+(?:the\s+)?(?P<name>[A-Za-z][\w+-]*)",
    re.IGNORECASE,
)
_IDENTIFIER = re.compile(r".*[A-Z].*[A-Z].*|[A-Z].*\d.*|.*\+\+")
_NO_DATA = re.compile(
    r"(?:[ACGNTX]PUs?|[AVTPH]\d{1,3}0?0?|M[1-4]|(?:GTX|RTX)\w*|\d+\w*Ti|NVIDIA|AMD|AWS|ARM\w*|iPhone\w*|iOS|Py[tT]orch|TensorRT|ONNX"
    r"|TFLite|CoreML|CUDA|JAX|TensorFlow|MLPs?|CNNs?|Conv\w*|ViTs?|FFNs?|SE|FLOPs?|MACs?|SOTA|NAS|Top-?\d)\b.*",
)


@dataclass(frozen=True)
class OtherClasses:
    """Why the models may have other heads than the libraries', and the numbers of classes that they may have."""

    reason: str
    classes: tuple[int, ...] = ()


def find_other_classes(
    table: SourceTable, labels: Sequence[str] = (), *, headed: str = "", given: bool = False
) -> OtherClasses | None:
    """Return why the labels of a table may not name whole classifiers of 1000 classes; None where nothing says so.

    `headed` is the heading above the labels. Where a person has `given` the number of classes, only another task than
    classification is a reason.
    """
    towers = _TWO_TOWERS.search(" | ".join([table.caption, *table.headings]))
    if towers is not None:
        return _of_towers(towers[0])
    caption, headings = without_pretraining(table.caption), " | ".join(table.headings)
    in_caption = other_data_sets(caption)
    task = _TASKS.search(f"{caption} {headings}")
    if task is not None and not any(map(_TOP1.search, table.headings)):
        return OtherClasses(
            f"the table is about {task[0]!r}, so a label may name only a part of the model that was counted"
        )
    if given:
        small = [one for one in (*in_caption, *other_data_sets(headings, heading=True)) if one.small]
        return _of_data_sets(small) if small else None
    usual = names_imagenet(caption) or names_imagenet(headings)
    stated = stated_classes(" | ".join([caption, headings, *(text for _, text in table.marks)]))
    stated -= {ALL_CLASSES} if usual else set()
    if stated:
        return _of_counts(stated)
    in_headings = () if usual else other_data_sets(headings, heading=True)
    named = [one for one in (*in_caption, *in_headings) if not (usual and one.has_imagenet)]
    if named:
        return _of_data_sets(named)
    return None if usual else _of_part(headed, table.headings) or _of_words(caption, headings, labels)


def _of_towers(word: str) -> OtherClasses:
    return OtherClasses(f"the table says {word!r}, so a text encoder may be counted too, and no classifier")


def _of_part(headed: str, headings: Sequence[str]) -> OtherClasses | None:
    """Return why a label may name only a part of the model that was counted, by the heading above it."""
    if not _PART.fullmatch(" ".join(re.findall(r"\w+", headed.lower()))) or any(map(_TOP1_ALONE.search, headings)):
        return None
    return OtherClasses(
        f"the heading {headed!r} may be that of a part of the model that was counted; if these are classifiers, write "
        "the spec with `--classes` and their number, which is 1000 for ImageNet"
    )


def why_group(heading: str) -> OtherClasses | None:
    """Return why the models below a heading between rows may have other heads."""
    heading = without_pretraining(heading)
    towers = _TWO_TOWERS.search(heading)
    if towers is not None:
        return _of_towers(towers[0])
    named = [one for one in other_data_sets(heading) if not one.has_imagenet]
    return _of_data_sets(named) if named else None


def _of_counts(numbers: set[int]) -> OtherClasses:
    listed = list_some([str(number) for number in sorted(numbers)])
    return OtherClasses(f"the table speaks of {listed} classes, {_SAY}", tuple(sorted(numbers)[:_MOST]))


def _of_data_sets(found: Sequence[DataSet]) -> OtherClasses:
    named = {one.name: f" ({one.classes} classes)" if one.classes else "" for one in found}
    classes = sorted({one.classes for one in found if one.classes})
    listed = list_some([f"{name!r}{count}" for name, count in named.items()])
    say = _SAY_SMALL if any(one.small for one in found) else _SAY
    return OtherClasses(f"the table is about {listed}, {say}", tuple(classes[:_MOST]))


_MOST = 3
_SAY = (
    "and the libraries' models have 1000 classes: write the spec with `--classes` and their number, which is 1000 for "
    "the sizes of ImageNet's models, or give each row `classes:`"
)
_SAY_SMALL = (
    "and models for such small images often have other first layers than the libraries', and other `classes:` than "
    "1000: take only those that are the same, as below or with `classes:` of your own"
)


def _of_words(caption: str, headings: str, labels: Sequence[str]) -> OtherClasses | None:
    """Return why a table that does not name ImageNet may be about something else: by its task, scores or data."""
    task = _OTHER_TASK.search(caption) or _OTHER_SCORE.search(headings)
    name = task[0] if task is not None else _unknown_data(caption, labels)
    return None if name is None else OtherClasses(f"the table is about {name!r}, {_SAY}")


def _unknown_data(caption: str, labels: Sequence[str]) -> str | None:
    """Return what results are on, where it may be a data set: it is neither a model nor what models run on."""
    for found in _ON.finditer(caption):
        name = found["name"]
        model = families_in(name) or any(label.casefold().startswith(name.casefold()) for label in labels)
        if _IDENTIFIER.fullmatch(name) and not _NO_DATA.fullmatch(name) and not model:
            return name
    return None


_WINDOWED = re.compile(
    r".*window.*|swin.*|max(?:x?vit|xvitv2).*|coatn(?:e|ex)t.*|twins_svt.*|davit.*|gcvit.*|tiny_vit.*|nest.*|efficientvit_m\d"
    r"|hiera.*|.*(?:halo|bot)ne[tx]t?.*"
)


def hold_back_windowed(model: ModelGuess, numbers: RowNumbers, columns: TableColumns) -> tuple[ModelGuess, RowNumbers]:
    """Return a row without the FLOPs whose column is of images that its model's windows are not made for.

    Windows that do not divide the images are padded, and Swin-B for images of 384 has windows of 12 instead of 7. A row
    of such numbers alone stays open.
    """
    named = _model_of(model)
    if named is None or not _WINDOWED.fullmatch(named[1]):
        return model, numbers
    sizes = {slug: size for slug, size in columns.sizes.items() if size is not None and size != own_size(*named)}
    waiting = {slug: text for slug, text in numbers.printed.items() if slug in sizes}
    if not waiting:
        return model, numbers
    why = _why(named, [sizes[slug] for slug in waiting])
    printed = {slug: text for slug, text in numbers.printed.items() if slug not in waiting}
    if not printed:
        return model.opened(why), numbers
    changes = {slug: text for slug, text in numbers.changes.items() if slug not in waiting}
    return model, replace(numbers, printed=printed, changes=changes, waiting=waiting, why_waiting=why)


def _model_of(model: ModelGuess) -> Named | None:
    found = re.match(rf"{{{model.library}: (\w+)", model.recipe or "")
    return (model.library, found[1]) if found is not None and model.library is not None else None


def _why(named: Named, sizes: list[int]) -> str:
    library, name = named
    others = [one for one in names_of_all_windows(name, library) if own_size(library, one) in sizes]
    such = f", such as {list_some(others)}" if others else ""
    listed = " and ".join(map(str, sizes))
    return (
        f"the windows of {name} are made for images of {own_size(library, name)}, and the paper may count another "
        f"model on images of {listed}{such}: give that one a row of its own"
    )


def keep_parameters(model: ModelGuess, numbers: RowNumbers, columns: TableColumns) -> tuple[ModelGuess, RowNumbers]:
    """Return an open row's first candidate as its model, and its numbers without FLOPs.

    Both are as they were where a row has a model, prints no parameters, or may be of another model.
    """
    measures = {columns.slugs[at]: guess.measure for at, guess in columns.numbers}
    counted = any(measures[slug] is Measure.PARAMETERS for slug in numbers.printed)
    if model.recipe is not None or not model.sizeless or not counted:
        return model, numbers
    waiting = {slug: text for slug, text in numbers.printed.items() if measures[slug] is Measure.FLOPS}
    first, *others = model.candidates
    kept = replace(
        numbers,
        printed={slug: text for slug, text in numbers.printed.items() if slug not in waiting},
        changes={slug: text for slug, text in numbers.changes.items() if slug not in waiting},
        waiting=waiting,
    )
    return replace(model, recipe=first, library=model.sizeless, candidates=tuple(others)), kept
