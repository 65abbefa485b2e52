"""Counts a model that was asked for by its name: its totals, its work by every counter, and its parts."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate, groupby

import torch
from pydantic import ValidationError
from torch import nn
from torch.nn.modules.module import register_module_forward_pre_hook

from imlp_audit.count.call import MULTIPLY_ACCUMULATES, Operation
from imlp_audit.count.conventions import FLOPS_CONVENTIONS, MACS_WEIGHTS, WeightKey, total
from imlp_audit.count.from_repository import build_foreign, find_foreign, place_in
from imlp_audit.count.fvcore import unfuse_attention
from imlp_audit.count.hooks import OLD_THOP, THOPS_LAYERS, TRANSPOSED
from imlp_audit.count.ledger import measure
from imlp_audit.count.parameters import count_parameters, parameter_counts
from imlp_audit.count.record import Ledger
from imlp_audit.count.request import Given, ModelRequest
from imlp_audit.errors import BuildError
from imlp_audit.models.build import Builder, build_host, fold_batch_norms
from imlp_audit.models.host import TensorInput
from imlp_audit.models.recipe import Recipe
from imlp_audit.models.run_code import reads_values, write_error
from imlp_audit.models.settings import example_inputs
from imlp_audit.models.stand_ins import Answers, answering
from imlp_audit.models.torch_modes import SkipInitialisation, UsedParameters
from imlp_audit.processes.limits import MEMORY_OF_CODE, LimitError, TimeIsUp, limited
from imlp_audit.processes.streams import silenced
from imlp_audit.records.counted import PROGRAMS, CountReport, ModelPart

_SECONDS = 50.0
_DEPTH = 3  # levels of parts that are kept


@dataclass(frozen=True)
class CountRequest:
    """A model to count; with `work`, also what one forward pass does, and with `parts`, each of its modules.

    `deployed` is "folded" with its batch norms folded into convolutions, or the name of the model's own method. A model
    that reads values is slow to run: a change of one is run on its values only if it has not so many parameters.
    """

    request: ModelRequest
    work: bool = True
    deployed: str | None = None
    parts: bool = False
    unlike: int | None = None


def count_anyhow(asked: CountRequest) -> CountReport | str:
    """Return a model counted, or why it could not be built."""
    try:
        with nullcontext() if asked.parts else silenced():
            return _count(asked)
    except BuildError as error:
        return str(error)
    except LimitError as error:
        return f"{asked.request}: {error}"
    except BaseException as error:  # whatever a changed model raises
        return f"{asked.request} could not be counted: {write_error(error)}"


def _count(asked: CountRequest) -> CountReport:
    made: tuple[nn.Module, Answers] | None = None
    try:
        with limited(MEMORY_OF_CODE, _SECONDS):
            with torch.device("meta"):
                model, answers = _make_anyhow(asked)
                model = model.to("meta")
            _name_classifier(model)
            made = model, answers
            ran = _run_anyhow(asked, model, answers)
    except LimitError as error:
        if made is None:
            raise
        (model, answers), ran = made, _Pass(None, f"the forward pass was ended, because {error}")
    with limited(MEMORY_OF_CODE, _SECONDS):
        return _report(asked.request, model, answers, ran, parts=asked.parts)


def _report(request: ModelRequest, model: nn.Module, answers: Answers, ran: _Pass, *, parts: bool) -> CountReport:
    parameters = _count_parameters(model, ran)
    flops = {
        name: total(ran.ledger, counter)
        for name, counter in FLOPS_CONVENTIONS.items()
        if ran.ledger is not None and (not counter.needs_classifier or "no_head" in parameters)
    }
    work = Counter(ran.ledger.work if ran.ledger is not None else {})
    enlarge = [path for path, one in model.named_modules() if type(one) in TRANSPOSED and work[path, Operation.CONV]]
    if enlarge:
        more = sum(work[path, Operation.TRANSPOSED] - work[path, Operation.CONV] for path in enlarge)
        flops["ptflops_old"] = flops["ptflops_hooks"] + more
    if ran.ledger is not None:
        layers = [(path, OLD_THOP[type(one)]) for path, one in model.named_modules() if type(one) in OLD_THOP]
        flops["thop_old"] = sum(work[path, one] * weight for path, of in layers for one, weight in of.items())
    held = {id(one): one for one in (*model.parameters(), *model.buffers())}.values()
    return CountReport(
        model=str(request),
        arguments={
            name: f"{value.shape}:{value.dtype}" if isinstance(value, TensorInput) else value
            for name, value in request.arguments.items()
        },
        inputs=ran.inputs,
        parameters=parameters,
        buffers=sum(one.numel() for one in model.buffers()),
        bytes=sum(one.numel() * one.element_size() for one in held),
        flops=flops if ran.ledger is not None else None,
        beyond=_beyond(model, ran.ledger) if ran.ledger is not None and parts else {},
        no_flops=ran.problem,
        uncounted=tuple(sorted(ran.ledger.unknown)) if ran.ledger is not None else (),
        left_out=tuple(answers.left_out),
        parts=tuple(_parts(model, ran)) if parts else (),
        notes=tuple(answers.notes),
    )


def _beyond(model: nn.Module, ledger: Ledger) -> dict[str, dict[str, int]]:
    """Return what well-known counters count otherwise than multiply-accumulates, by class of module."""
    kinds = {path: type(one).__name__ for path, one in model.named_modules()}
    found = {name: Counter[str]() for name in PROGRAMS}
    for (path, operation), amount in ledger.work.items():
        for name, of_kinds in found.items():
            weight = FLOPS_CONVENTIONS[name].weights.get(WeightKey(operation), 0) - MACS_WEIGHTS.get(operation, 0)
            of_kinds[kinds.get(path, path)] += weight * amount  # a pass may remove modules
    return {name: {kind: more for kind, more in one.items() if more} for name, one in found.items()}


def _count_parameters(model: nn.Module, ran: _Pass) -> dict[str, int]:
    counts = {str(name): count for name, count in parameter_counts(model).items()}
    parameters = dict(model.named_parameters())
    embedded = {one for table in model.modules() if isinstance(table, nn.Embedding) for one in table.parameters()}
    seen = [one for path, one in model.named_modules() if ran.calls is None or path in ran.calls]
    others = {
        "no_embeddings": sum(one.numel() for one in parameters.values() if one not in embedded),
        "each_time": sum(one.numel() for _, one in model.named_parameters(remove_duplicate=False)),
        "real": sum(one.numel() * (1 + one.is_complex()) for one in parameters.values()),
        "leaves": _held_by(one for one in model.modules() if not [*one.children()]),
        "called": _held_by(seen),
    }
    counts |= {name: count for name, count in others.items() if count != counts["all"]}
    if ran.used is not None:
        counts["used"] = sum(one.numel() for name, one in parameters.items() if name in ran.used)
    if ran.calls is not None:  # thop's hooks see the layers that run
        counts["layers"] = _held_by(inner for one in seen if type(one) in THOPS_LAYERS for inner in one.modules())
    return counts


def _held_by(modules: Iterable[nn.Module]) -> int:
    return sum(one.numel() for one in {held for module in modules for held in module.parameters(recurse=False)})


def _deploy(model: nn.Module, how: str) -> None:
    """Bring a model into its deployed form. Raises BuildError where it has none."""
    if how == "folded":
        if not fold_batch_norms(model):
            raise BuildError("it has no batch norm that directly follows a convolution")
        return
    having = [one for one in model.modules() if callable(getattr(one, how, None))]
    if not having:
        raise BuildError(f"it has no method {how!r}")
    for one in having[:1] if having[0] is model else having:
        getattr(one, how)()


def _make(asked: CountRequest) -> tuple[nn.Module, Answers]:
    model, answers = _build(asked.request)
    model.eval()
    if asked.request.inputs:
        dummy = getattr(model, "forward_dummy", None)  # which old OpenMMLab's scripts count
        model.forward = dummy if callable(dummy) else model.forward
        plain, named = _call_with(asked.request.inputs)
        model.forward = partial(model.forward, **named) if named else model.forward
        model.example_inputs = lambda _: tuple(plain)  # type: ignore[assignment]
    if asked.deployed is not None:
        with answering(answers):
            _deploy(model, asked.deployed)
    return model, answers


def _make_anyhow(asked: CountRequest) -> tuple[nn.Module, Answers]:
    try:
        return _make(asked)
    except (RuntimeError, TypeError) as error:  # norms are folded by running the model, which may read values
        if asked.deployed is None or not reads_values(error):
            raise
        with torch.device("cpu"):
            return _make(asked)


def _run_anyhow(asked: CountRequest, model: nn.Module, answers: Answers) -> _Pass:
    if not asked.work:
        return _Pass(None, "it was not asked for")
    ran = _run(model, asked.request, answers)
    if not ran.reads_values or asked.request.file is None or count_parameters(model) == asked.unlike:
        return ran
    return _run_on_zeros(asked, answers, ran)


def _run_on_zeros(asked: CountRequest, answers: Answers, failed: _Pass) -> _Pass:
    """Run a model on the processor, where its forward pass reads values; return the failure of before if that fails."""
    with torch.device("cpu"):
        try:
            model, _ = _make(asked)
        except BuildError:
            return failed
        _name_classifier(model)
        ran = _run(model, asked.request, answers, "cpu")
    if ran.ledger is None:
        return failed
    outside = "what it computes outside of torch, as with numpy, is not counted"
    answers.note(f"the forward pass reads values, so it was counted on zeros; {outside}")
    return ran


def _name_classifier(model: nn.Module) -> None:
    """Let a model say what its classifier is, which every count without the head asks."""
    own: object = getattr(model, "get_classifier", None)
    try:
        if callable(own):
            own()
            return
    except Exception:  # a backbone's, which names what it lacks
        pass
    last = _last_layer(model)
    model.get_classifier = (lambda: last) if last is not None else None  # type: ignore[assignment]


def _last_layer(model: nn.Module) -> nn.Linear | None:
    """Return the last layer with weights, where it is linear: the classifier of a model that does not name its own."""
    layers = [one for one in model.modules() if list(one.parameters(recurse=False))]
    return layers[-1] if len(layers) > 1 and isinstance(layers[-1], nn.Linear) else None


def build_requested(request: ModelRequest) -> tuple[nn.Module, Callable[..., object]]:
    """Return a model without values, and what makes it. Raises BuildError."""
    with torch.device("meta"):
        model, _ = _build(request)
    if request.file is None:
        return model, type(model)
    return model, find_foreign(request, request.file)


def _build(request: ModelRequest) -> tuple[nn.Module, Answers]:
    if request.file is not None:
        with SkipInitialisation():
            return build_foreign(request, request.file)
    if request.recipe is not None:
        with Builder().variant(*request.recipe) as variant:
            return deepcopy(variant.model), Answers()
    try:
        return build_host(_recipe(request), None), Answers()
    except BuildError:
        if request.library != "transformers" or request.inputs:
            raise
        return build_host(_recipe(replace(request, inputs=(_ONE_TOKEN,))), None), Answers()
    except Exception as error:  # each library has its own
        raise BuildError(f"{request}: {write_error(error)}") from error


_ONE_TOKEN = Given(shape=(1, 1), dtype="int64")


def _recipe(request: ModelRequest) -> Recipe:
    """Return a library's model as a spec would write it."""
    of_text = request.library == "transformers"
    host: dict[str, object] = {"architecture": request.name}
    arguments, written = dict(request.arguments), dict[str, object]()
    if not of_text:
        _refuse_sizes(request)
        if type(arguments.get("num_classes")) is int:
            written["classes"] = arguments.pop("num_classes")
    if arguments:
        host["config" if of_text else "arguments"] = arguments
    one = request.inputs[0] if len(request.inputs) == 1 else None
    if one is not None and len(one.shape) == 4:
        written["image"] = list(one.shape[2:])
    elif one is not None and len(one.shape) == 2 and of_text:
        host["tokens"] = one.shape[1]
    try:
        return Recipe.of(**{str(request.library): host, **written})
    except ValidationError as error:
        first = error.errors()[0]
        of_name = "architecture" in first["loc"]
        problem = f"{request.library} has no model {request.name!r}" if of_name else first["msg"]
        raise BuildError(f"{request}: {problem}") from error


def _refuse_sizes(request: ModelRequest) -> None:
    for name in request.arguments.keys() & {"img_size", "image_size", "input_size"}:
        value = request.arguments[name]
        sides = value if isinstance(value, list) and value else [value]
        sizes = ",".join(map(str, [3, *sides * (3 - len(sides))] if len(sides) < 3 else sides))  # channels, two sides
        raise BuildError(f"{request}: {name} follows from what the model reads: write --input {sizes} instead")


@dataclass(frozen=True)
class _Pass:
    """A forward pass: its ledger or what prevented it, how often each module ran, and which parameters were used."""

    ledger: Ledger | None
    problem: str | None = None
    inputs: tuple[str, ...] = ()
    calls: Mapping[str, int] | None = None
    used: frozenset[str] | None = None
    reads_values: bool = False


def _run(model: nn.Module, request: ModelRequest, answers: Answers, device: str = "meta") -> _Pass:
    inputs = request.inputs
    if not inputs and request.file is not None:
        return _Pass(None, "a model of a file needs --input, such as --input 3,224,224")
    if not inputs and request.library == "transformers" and example_inputs(model)[0].shape == _ONE_TOKEN.shape:
        return _Pass(None, "a model of text needs its length, such as --input 128:int64")
    times, uses = Counter[nn.Module](), UsedParameters()

    def called(module: nn.Module, _inputs: object) -> None:
        if not times:
            uses.used.clear()  # what looked at the parameters before the model ran
        times[module] += 1

    hook = register_module_forward_pre_hook(called)
    try:
        with torch.device(device), torch.no_grad(), answering(answers), uses:
            ledger = measure(unfuse_attention(model), *example_inputs(model), real=device != "meta")
    except TimeIsUp:
        raise
    except BaseException as error:  # whatever the model raises
        place = f"{place_in(error, request.file)}: " if request.file is not None else ""
        words = str(error) if isinstance(error, BuildError) else f"{write_error(error)}{_name_inputs(model, error)}"
        return _Pass(None, f"{place}{words}", reads_values=device == "meta" and reads_values(error))
    finally:
        hook.remove()
    shown = tuple(map(str, inputs)) or tuple(str(Given(shape=tuple(one.shape))) for one in example_inputs(model))
    calls = {path: times[module] for path, module in model.named_modules() if times[module]}
    used = frozenset(name for name, one in model.named_parameters() if id(one) in uses.used)
    return _Pass(ledger, None, shown, calls, used)


def _name_inputs(model: nn.Module, error: BaseException) -> str:
    """Say what a forward pass takes, if it was called otherwise."""
    own = type(model).forward
    if not isinstance(error, TypeError) or not str(error).startswith(f"{own.__qualname__}() "):
        return ""
    return f"; it takes {', '.join([*inspect.signature(own).parameters][1:])}"


def _call_with(inputs: Sequence[Given]) -> tuple[list[object], dict[str, object]]:
    """Return what a forward pass is called with, in order and by name."""
    plain, named = list[object](), dict[str, object]()
    lists, mappings = dict[str | None, list[object]](), dict[str, dict[str, object]]()
    for one in inputs:
        value = one.constant if one.is_constant else torch.zeros(one.shape, dtype=getattr(torch, one.dtype))
        if one.listed:
            lists.setdefault(one.name, []).append(value)
        name, dot, key = (one.name or "").partition(".")
        if name:
            into = mappings.setdefault(name, {}) if dot else named
            into[key or name] = lists[one.name] if one.listed else value
        elif not one.listed or len(lists[None]) == 1:
            plain.append(lists[None] if one.listed else value)
    return plain, {**named, **mappings}


def _parts(model: nn.Module, ran: _Pass) -> Iterator[ModelPart]:
    """Yield the parts, each before those in it; a module that holds one module alone is folded into that."""
    work, layers = Counter[str](), Counter[str]()
    for (path, operation), amount in (ran.ledger.work if ran.ledger is not None else {}).items():
        around = ("", *accumulate(path.split("."), "{}.{}".format)) if path else ("",)
        if operation in MULTIPLY_ACCUMULATES:
            work.update(dict.fromkeys(around, amount))
        if operation in (Operation.LINEAR, Operation.CONV):
            layers.update(dict.fromkeys(around, amount))
    yield from _inside("", model, 0, ran, (work, layers))


def _inside(
    path: str, module: nn.Module, depth: int, ran: _Pass, counted: tuple[Counter[str], Counter[str]]
) -> Iterator[ModelPart]:
    while len(children := list(module.named_children())) == 1 and not list(module.parameters(recurse=False)):
        name, module = children[0]
        path = f"{path}.{name}".removeprefix(".")
    yield ModelPart(
        path=path,
        depth=depth,
        kind=type(module).__name__,
        parameters=sum(one.numel() for one in module.parameters()),
        trained=sum(one.numel() for one in module.parameters() if one.requires_grad),
        calls=ran.calls.get(path, 0) if ran.calls is not None else None,
        work=counted[0][path] if ran.ledger is not None else None,
        layers=counted[1][path] if ran.ledger is not None else None,
    )
    if depth < _DEPTH:
        inner = [
            list(_inside(f"{path}.{name}".removeprefix("."), child, depth + 1, ran, counted))
            for name, child in children
        ]
        yield from _join_equal(parts for parts in inner if parts[0].parameters or parts[0].work)


def _join_equal(inner: Iterable[list[ModelPart]]) -> Iterator[ModelPart]:
    """Join modules in a row that have equal numbers, with all that is in them."""
    for _, same in groupby(inner, key=lambda parts: [part.model_copy(update={"path": ""}) for part in parts]):
        first, *others = same
        if not others:
            yield from first
            continue
        start, last = first[0].path, others[-1][0].path.rpartition(".")[2]
        for part in first:
            path = f"{start}-{last}{part.path.removeprefix(start)}"
            yield part.model_copy(update={"path": path, "copies": part.copies * (1 + len(others))})
