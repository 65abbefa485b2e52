"""The models that a row may be of, the likeliest first: its numbers decide among them, never these words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from imlp_audit.models.names.data_sets import ALL_CLASSES, classes_named, clip_recipe, names_imagenet, text_recipe
from imlp_audit.models.names.known import USUAL_SIZE, Library, Trait, former_meaning, has, own_size, takes_size
from imlp_audit.models.names.match import WEIGHTS, Named, is_of_family, names_of, rank
from imlp_audit.models.names.spelling import first_meaning, spellings
from imlp_audit.models.recipe_changes import write_value
from imlp_audit.transcribe.labels import LabelParts, is_tagged, may_be_side

MOST = 20
_MOST_OF_NAME = 6  # of a label that is a name
_FAR = 7.0  # below the best score: these share little with the label
_END = re.compile(r"(?P<name>.*[^\W_])[-_ /]+(?P<side>\d{3,4})")
_WIDE = re.compile(r"(?<![\d.])(?P<number>12|21|22)[kK](?P<part>-?[pP]\b)?")
_OF_21843 = re.compile(r"vit|mixer|bit|efficientnetv2|r\d+x\d", re.IGNORECASE)  # whose authors kept two classes more
_PLAIN_LIBRARIES = (Library.TIMM, Library.TORCHVISION)


@dataclass(frozen=True)
class Surroundings:
    """What stands around the labels of a table: its title, caption and headings, and the sides of images in them."""

    title: str
    headings: str
    sides: tuple[int, ...] = ()
    file: str = ""


@dataclass(frozen=True)
class Proposal:
    """Recipes of the models that a row may be of; `named` says that its label is exactly the first one's name."""

    recipes: tuple[str, ...] = ()
    named: bool = False


def propose(label: LabelParts, around: Surroundings, group: str, side: int | None) -> Proposal:
    """Return the candidates of a row below a heading `group`; `side` is that of its images, where it gives one."""
    label = replace(label, name=label.name.removeprefix("timm/"))  # as its weights are called where they are published
    tagged = is_tagged(label.name)
    short = WEIGHTS.sub("", label.name.partition(".")[0] if tagged else label.name)
    name, said = _split_size(short)
    side = label.size or side or said
    likely = side or next(iter(around.sides), None)
    exact, sure = _exact(name, likely)
    scored = rank(name, f"{around.title} {around.headings} {group}", likely)
    near = [named for score, named in scored if score > scored[0][0] - _FAR and named not in exact]
    if not is_of_family(name) and not exact:
        near = near[:_MOST_OF_NAME]
    models = [*exact, *near]
    plain = [_write(model, side) for model in models]
    plain[:0] = [plain[0].replace(models[0][1], label.name, 1)] if tagged else []
    first = max(1, len(exact) + tagged)
    recipes = [
        *_with_classes(plain[:first], f"{label.text} {group}", around),
        *_forms(models[:1], side),
        *plain[first:],
    ]
    towers = re.search("clip", f"{around.title} {around.headings} {group} {around.file}", re.IGNORECASE)
    both = towers or re.search("clip", label.text, re.IGNORECASE)
    text = text_recipe(label.name) or (clip_recipe(label.name, side) if both else None)
    found = dict.fromkeys([*([text] if text else []), *recipes])
    more = label.changed or label.remark
    named = sure and not (text or towers or more or _is_open(models[0], short))  # in CLIP a name is that of one tower
    return Proposal(tuple(found)[: _MOST_OF_NAME if sure else MOST], named)


def _split_size(label: str) -> tuple[str, int | None]:
    """Return a label without the size of images at its end, and that size: of ConvNeXt-B-384, but not of LeViT-256."""
    found = _END.fullmatch(label)
    if found is None or not may_be_side(int(found["side"])) or _exact(label, None)[0]:
        return label, None
    return (found["name"], int(found["side"])) if _exact(found["name"], None)[0] else (label, None)


def _exact(label: str, side: int | None) -> tuple[list[Named], bool]:
    """Return the models that a label is a name of, and whether each library has just one."""
    found: list[Named] = []
    sure = True
    for library in _PLAIN_LIBRARIES:
        names = next(filter(None, (names_of(spelt, library, side) for spelt in spellings(label))), [])
        sure = sure and len(names) < 2
        found += [(library, name) for name in sorted(names, key=lambda one: ("_100" not in one, len(one)))]
    return found, bool(found) and sure


def _is_open(model: Named, label: str) -> bool:
    """Return whether papers mean one of several models by a name: forms, heads, a former or another paper's."""
    if has(Trait.AUXILIARY_HEADS, *model):
        return True
    several = any(has(trait, *model) for trait in (Trait.BRANCHES, Trait.NAMESAKE, Trait.LIKE))
    return label != model[1] and (several or former_meaning(*model) is not None or first_meaning(label) is not None)


def _write(model: Named, side: int | None, more: str = "") -> str:
    """Return the recipe of a model for images of a size; None is the model's own."""
    library, name = model
    sized = side is not None and side != own_size(library, name) and takes_size(library, name, side)
    return f"{{{library}: {name}{f', image: {side}' if sized else ''}{more}}}"


def _forms(models: Sequence[Named], side: int | None) -> Iterator[str]:
    """Yield other forms of a model: with its branches merged, as it was published first, without auxiliary heads."""
    for model in models:
        if has(Trait.BRANCHES, *model):
            yield _write(model, side, ", form: deployed")
        if (former := former_meaning(*model)) is not None:
            yield f"{{{model[0]}: {write_value(former)}}}"
        if has(Trait.AUXILIARY_HEADS, *model):
            yield f"{{torchvision: {{architecture: {model[1]}, arguments: {{aux_logits: false}}}}}}"
            yield f"{{torchvision: {model[1]}}}"
        if has(Trait.BOTTLENECKS, *model) and side in (None, USUAL_SIZE):
            yield _write(model, side, ", stride_in_1x1: true")


def _with_classes(recipes: Sequence[str], row: str, around: Surroundings) -> Iterator[str]:
    """Yield recipes, each with other numbers of classes: those of another data set first, of ImageNet-22k last."""
    everywhere = f"{around.title} | {around.headings}"
    named = [one for one in classes_named(f"{row} | {around.title}", around.headings) if one != ALL_CLASSES]
    for recipe in recipes:
        others = [f"{recipe[:-1]}, classes: {number}}}" for number in named[:3]]
        first = not names_imagenet(everywhere)
        yield from (*others, recipe) if first else (recipe, *others)
        yield from (f"{recipe[:-1]}, classes: {number}}}" for number in _wide_classes(f"{row} | {everywhere}", recipe))


def _wide_classes(text: str, recipe: str) -> list[int]:
    """Return the classes of the weights that a text speaks of: ImageNet-12k, or 21k in the number that is published."""
    found = {one["number"]: one["part"] for one in _WIDE.finditer(text)}
    wide = [11_821] if "12" in found else []
    if found.keys() & {"21", "22"}:
        wide += [21_843 if _OF_21843.search(recipe) else ALL_CLASSES]
    return [*wide, *([11_221, 10_450] if any(found.values()) else [])]
