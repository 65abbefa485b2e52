"""A model counted again under changes of one thing: an argument, the size of its images, its form, its layers, or all
arguments that the repository itself gives it somewhere.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import chain, islice, product
from math import prod

from torch import Tensor, nn

from imlp_audit.count.changed_arguments import (
    Changed,
    change_arguments,
    find_frozen,
    find_other_requests,
    known_arguments,
    read_settings,
    write_change,
)
from imlp_audit.count.changed_code import change_code
from imlp_audit.count.full_count import CountRequest, build_requested, count_anyhow
from imlp_audit.count.hooks import CONVOLUTIONS, LAYERS
from imlp_audit.count.request import Changes, Given, ModelRequest, Setting
from imlp_audit.errors import BuildError
from imlp_audit.models.importing import repository
from imlp_audit.models.names.known import Library, known_models
from imlp_audit.models.names.match import find_labelled, variants_of
from imlp_audit.records.counted import CountReport

_MOST = 160  # changes of arguments, and of code
_MOST_USES = 60
_SIDES = (224, 256, 384, 512, 288, 192, 128, 320, 448, 240, 160, 96, 299, 112, 176, 208, 352, 416, 480)  # usual first
_SIZES = (
    *((side, side) for side in (*_SIDES, 640, 1024)),
    *((720, 1280), (360, 640), (240, 426), (180, 320)),  # of an image that is enlarged, once to four times
    *((512, 1024), (1024, 2048), (512, 2048), (352, 1216), (1080, 1920)),  # of streets
    *((800, 1333), (800, 1280), (480, 640), (256, 192), (384, 288), (256, 128)),  # of objects, rooms and persons
    *((384, 512), (540, 960), (436, 1024)),  # of pairs, for their motion or depth
)
_NAMES_SIZE = re.compile(
    r"(^|\.)((img|image|input|in|crop|frame|search|train|test|seq|max)_?)*(size|res|resolution|shape|side|length|len)$"
)
"""What names the size of an input; it is changed with that."""
_FACTORS = (Fraction(1, 2), Fraction(2), Fraction(1, 4))
_LEAST_SIDE = 8  # a smaller one is a number of channels
_FARTHEST = 4  # times the work that would be printed so, if it grew as the inputs do
_FORMS = ("fuse", "switch_to_deploy", "reparameterize", "convert_to_deploy", "deploy")
"""What models call the method that brings them into the form in which they are used."""
_KERNELS, _LARGEST_KERNEL = (3, 5, 7, 1), 11  # a larger one makes patches
_ADDED = re.compile(r"(?:^|[._])(adapter|adapt(?!ive)|lora|prompt|prefix)")
"""Names of what is added to a model that others have trained."""
_Sizes = tuple[int, int]
"""All parameters, and those that are trained."""


def count_changes(asked: Changes) -> Iterator[tuple[str, str, CountReport | str]]:
    """Yield the model counted; then the kind of each change, its words, and the model under it, or why it failed.

    What is most often the cause comes first: a search may be ended.
    """
    whole = count_anyhow(CountRequest(asked.request, parts=True))
    yield "", "", whole
    if isinstance(whole, str) or not asked.wanted:
        return
    asked = replace(asked, flops=asked.flops if whole.flops is not None else ())
    try:
        model, maker = build_requested(asked.request)
    except BuildError:  # of code that can be run only once
        return
    for name, row in asked.rows.items():
        yield "row", name, count_anyhow(CountRequest(row, bool(asked.flops), parts=True))
    for where, names in find_frozen(repository(asked.request.file)) if asked.request.file is not None else ():
        under = tuple(f"{name}." for name in names)
        left = sum(one.numel() for name, one in model.named_parameters() if not name.startswith(under))
        yield "parts", f"without what {where} freezes: {', '.join(names)}", _with_parameters(whole, left, left)
    idle = set[Setting]()
    layers = ((kind, words, _with_parameters(whole, *sizes)) for kind, words, sizes in _count_other_layers(model))
    for kind, words, counting, changed in _changes(asked, whole, model, maker):
        if kind != "form":  # those that a model has come first
            yield from layers
        if changed and idle.issuperset(changed):
            continue
        counted = count_anyhow(replace(counting, unlike=whole.parameters["all"] if kind != "size" else None))
        yield kind, words, counted
        if isinstance(counted, CountReport) and len(changed) == 1 and counted.flops in (None, whole.flops):
            idle |= changed.keys() if counted.parameters["all"] == whole.parameters["all"] else set()
    yield from layers


def _with_parameters(whole: CountReport, every: int, trained: int) -> CountReport:
    return whole.model_copy(update={"parameters": {"all": every, "trainable": trained}, "flops": None})


def _changes(
    asked: Changes, whole: CountReport, model: nn.Module, maker: Callable[..., object]
) -> Iterator[tuple[str, str, CountRequest, Changed]]:
    """Yield the kind of each change, its words, what is to be counted, and the settings that are changed alone."""
    request, work, runs = asked.request, bool(asked.flops), whole.flops is not None
    for name in _FORMS if request.file is not None else ():
        if any(callable(getattr(one, name, None)) for one in model.modules()):
            yield "form", f"after the model's own {name}()", CountRequest(request, runs, name), {}
    yield "form", "batch norms folded into the convolutions", CountRequest(request, runs, "folded"), {}
    if request.recipe is not None:
        return
    settings = read_settings(request, model, maker)
    now = {**known_arguments(model, maker), **request.arguments}
    others = find_other_requests(request, request.file, now, asked.configs) if request.file is not None else ()
    for words, other in islice(chain(_as_in_the_library(request, settings), others), _MOST_USES):
        yield "repository", words, CountRequest(other, work), {}
    for words, other in _other_sizes(request, settings):
        larger = Fraction(_read(other), _read(request) or 1) * (whole.flops or {}).get("macs", 0)
        if any(larger / _FARTHEST <= printed <= larger * _FARTHEST for printed in asked.flops):
            yield "size", words, CountRequest(other), {}
    for changed in islice(change_arguments(request, settings, model, maker), _MOST):
        yield "argument", write_change(changed, settings), CountRequest(request.changed(changed), work), changed
    root = repository(request.file) if request.file is not None and asked.exact else None
    for words in islice(change_code(model, root), _MOST) if root is not None else ():
        yield "rare", words, CountRequest(request, work), {}


def _read(request: ModelRequest) -> int:
    """Return how many numbers a model reads."""
    return sum(prod(one.shape) for one in request.reads)


def _other_sizes(request: ModelRequest, settings: Changed) -> Iterator[tuple[str, ModelRequest]]:
    """Yield the request with usual sizes of images or frames, with one of the batch, and with one side changed.

    Of images of several sizes, the largest gets the usual size, and the others change as it does; so do settings that
    repeat a size. What a model enlarges is usually enlarged to 720 x 1280.
    """
    inputs = request.reads
    if len(batch := {one.shape[0] for one in inputs if one.shape}) == 1 and batch != {1}:
        single = tuple(one.scaled({0: Fraction(1, *batch)}) if one.shape else one for one in inputs)
        yield f"one of the batch of {max(batch)}", replace(request, inputs=single)
    height, width = max((one.shape[-2:] for one in inputs if one.is_image), default=(0, 0))
    scales = (value for name, value in settings.items() if "scale" in name[-1].lower() and value in (2, 3, 4))
    enlarged = ((720 // scale, 1280 // scale) for scale in scales if isinstance(scale, int))
    for size in dict.fromkeys((*enlarged, *_SIZES)) if height else ():
        by = {-2: Fraction(size[0], height), -1: Fraction(size[1], width)}
        scaled = tuple(one.scaled(by) if one.is_image else one for one in inputs)
        if scaled != inputs:
            yield _resize(request, settings, scaled, f"images of {size[0]} x {size[1]}")
    for shape, one in {one.shape: one for one in inputs[::-1]}.items():
        square = one.is_image and shape[-2] == shape[-1]
        sides = [(axis,) for axis in range(-3 if square else -1, -len(shape), -1) if shape[axis] >= _LEAST_SIDE]
        for axes, factor in product([(-2, -1), *sides] if square else sides, _FACTORS):
            by = dict.fromkeys(axes, factor)
            alike = [len(x.shape) == len(shape) and all(x.shape[axis] == shape[axis] for axis in axes) for x in inputs]
            scaled = tuple(x.scaled(by) if same else x for x, same in zip(inputs, alike, strict=True))
            now = one.scaled(by).shape
            words = " x ".join(map(str, now[-2:] if one.is_image and axes != (-3,) else now[1:]))
            what = one.name or ("images" if one.is_image else "inputs")
            yield _resize(request, settings, scaled, f"{what} of {words}")


def _resize(
    request: ModelRequest, settings: Changed, inputs: tuple[Given, ...], words: str
) -> tuple[str, ModelRequest]:
    """Return a request with other inputs, and with the settings that are as large as they, in words."""
    lengths = defaultdict[object, set[int]](set)
    for old, new in zip(request.reads, inputs, strict=True):
        for was, now in zip(old.shape, new.shape, strict=True):
            lengths[was].add(now)
    single = {was: now for was, (now, *others) in lengths.items() if not others}
    named = {name: value for name, value in settings.items() if request.file and _NAMES_SIZE.search(name[-1].lower())}
    changed = dict[Setting, object]()
    for name, value in named.items():
        sizes = [*value] if isinstance(value, tuple | list) else [value]
        resized = [single.get(one, one) if type(one) is int else one for one in sizes]
        if resized != sizes:
            changed[name] = resized if isinstance(value, tuple | list) else resized[0]
    also = f" with {write_change(changed, settings)}" if changed else ""
    return f"{words}{also}", replace(request.changed(changed), inputs=inputs)


def _as_in_the_library(request: ModelRequest, settings: Changed) -> Iterator[tuple[str, ModelRequest]]:
    """Yield models of libraries: those with a word more in their names; of a file, by its name and its words."""
    name = request.name.partition(".")[0]
    if request.file is not None:
        words = [value for value in settings.values() if isinstance(value, str)]
        image = tuple(replace(one, name=None) for one in request.inputs if one.is_image)
        labels = dict.fromkeys((*words, *(f"{name}-{one}" for one in words), name, request.file.stem))
        for label, library in product(labels, (Library.TIMM, Library.TORCHVISION)):
            if (other := find_labelled(label, library)) is not None:
                yield f"{library}:{other} in its place", ModelRequest(library, other, inputs=image)
    elif request.library in ("timm", "torchvision") and name in known_models(Library(request.library)):
        for other in variants_of(name, Library(request.library)):
            yield f"{request.library}:{other} in its place", replace(request, name=other)


def _count_other_layers(model: nn.Module) -> Iterator[tuple[str, str, _Sizes]]:
    """Yield the kind of each change, its words, and the parameters under it, the usual first."""
    every, trained = _sizes(model.parameters())
    names = {one: found[1] for name, one in model.named_parameters() if (found := _ADDED.search(name.lower()))}
    if names:
        added = f"what is called {' or '.join(sorted({*names.values()}))}"
        more, taught = _sizes(names)
        yield "parts", f"{added} alone", (more, taught)
        yield "parts", f"all but {added}", (every - more, trained - taught)
    for kind, changes in (("form", _list_changes(model)), ("rare", _pack(model))):
        yield from ((kind, words, (every + more, trained + taught)) for words, (more, taught) in changes if more)


def _list_changes(model: nn.Module) -> Iterator[tuple[str, _Sizes]]:
    own = {one: dict(one.named_parameters(recurse=False)) for one in model.modules()}
    convolutions = [one for one in own if isinstance(one, CONVOLUTIONS)]
    bare = sum(one.out_channels for one in convolutions if "bias" not in own[one])
    yield "with a bias in every convolution", (bare, bare)
    biases = [own[one]["bias"] for one in convolutions if "bias" in own[one]]
    yield "without biases in convolutions", _less(_sizes(biases))
    layers = [held for one, held in own.items() if isinstance(one, (*LAYERS, nn.MultiheadAttention, nn.RNNBase))]
    biases = [bias for held in layers for name, bias in held.items() if "bias" in name]
    yield "without a bias in any layer", _less(_sizes(biases))
    weights = defaultdict[int, list[Tensor]](list)
    for weight in (own[one]["weight"] for one in convolutions if "weight" in own[one]):
        if weight.ndim == 4 and weight.shape[2] == weight.shape[3]:
            weights[weight.shape[2]].append(weight)
    for now, of in sorted(weights.items()):
        for other in _KERNELS if 1 < now <= _LARGEST_KERNEL else ():
            every, trained = (size // now**2 * (other**2 - now**2) for size in _sizes(of))
            yield f"kernels of {other}, not {now}", (every, trained)
    norms = defaultdict[str, list[nn.Parameter]](list)
    for one, held in own.items():
        if "norm" in type(one).__name__.lower():
            norms[type(one).__name__] += held.values()
    yield from ((f"without the parameters of {kind}", _less(_sizes(some))) for kind, some in norms.items())


def _pack(model: nn.Module) -> Iterator[tuple[str, _Sizes]]:
    """Yield what is less where several weights of 4 bits are counted as one, of all linear layers but the last."""
    weights = [one.weight for one in model.modules() if isinstance(one, nn.Linear)][:-1]
    every, trained = _sizes(weights)
    for packed in (2, 4):
        less = every * (packed - 1) // packed, trained * (packed - 1) // packed
        yield f"weights of linear layers in 4 bits, {packed} counted as one", _less(less)


def _sizes(some: Iterable[Tensor]) -> _Sizes:
    held = set(some)
    return sum(one.numel() for one in held), sum(one.numel() for one in held if one.requires_grad)


def _less(sizes: _Sizes) -> _Sizes:
    return -sizes[0], -sizes[1]
