"""Where timm's restatement of a model and the publisher's code compute different functions of the same weights.

What a file's names show is computed, and the evidence says which; the user may ask for the other.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field

from torch import Tensor, nn
from torch.nn.functional import adaptive_avg_pool2d

from imlp_audit.checkpoint.layouts import HUGGING_FACE_SWIN_V2, MIXERS, POOLFORMERS, TORCHVISION, VGG, NameLayout
from imlp_audit.errors import UsageError
from imlp_audit.evaluate.function import Function


@dataclass(frozen=True)
class FunctionDeparture:
    """A difference between timm and the code whose files have one of the `layouts`, in the words of both sides.

    `concerns` says whether a model is one that both have, and `change` lets it compute what `publisher` does.
    """

    layouts: tuple[NameLayout, ...]
    publisher: str
    published: str
    timm: str
    concerns: Callable[[nn.Module], bool]
    change: Callable[[nn.Module], AbstractContextManager[None]]


@dataclass(frozen=True)
class ComputedFunction:
    """What is said of the function that a model computes: notes, and a setting of the evidence; often nothing."""

    notes: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)


@contextmanager
def as_published(
    model: nn.Module, layout: NameLayout | None, asked: Function | None = None
) -> Iterator[ComputedFunction]:
    """Let a model with its weights compute what the code does whose layout they have, or what the user `asked` for.

    The model is changed back in the end. Raises UsageError if the user asks and there is only one function.
    """
    departure = next((one for one in DEPARTURES if layout in one.layouts or one.concerns(model)), None)
    if layout is not None:
        departure = departure or _find_eps(model, layout)
        _check_padding(model, layout, asked)
    if departure is None:
        if asked is not None:
            raise UsageError(
                f"--function {asked}: timm and the publisher's code compute the same here, so leave it out"
            )
        yield ComputedFunction()
        return
    shown = Function.PUBLISHED if layout in departure.layouts else Function.TIMM
    function = asked or shown
    because = "as you ask" if asked is not None else "as the names in the file are"
    if function is Function.TIMM:
        other = f"{departure.publisher} computes {departure.published}, which --function published does"
        yield _describe(f"timm's function, {because}: {departure.timm}; {other}", "timm", departure.timm)
        return
    with departure.change(model):
        other = f"timm computes {departure.timm}, which --function timm does"
        text = f"the function of {departure.publisher}, {because}: {departure.published}; {other}"
        yield _describe(text, departure.publisher, departure.published)


def _check_padding(model: nn.Module, layout: NameLayout, asked: Function | None) -> None:
    """Raise UsageError for weights of torchvision in a model that pads as TensorFlow does, unless the user asks."""
    from timm.layers import Conv2dSame

    if layout in TORCHVISION and asked is None and any(isinstance(one, Conv2dSame) for one in model.modules()):
        raise UsageError(
            f"the names in the file are {layout.name}, which pads images on all sides; the row's model pads as "
            "TensorFlow does, so choose a row of timm's model without `tf_`, or --function timm"
        )


def _describe(note: str, whose: str, what: str) -> ComputedFunction:
    return ComputedFunction((note,), {"function": f"{whose}: {what}"})


def _is_poolformer(model: nn.Module) -> bool:
    from timm.models.metaformer import MetaFormer, MetaFormerBlock, Pooling

    blocks = [one for one in model.modules() if isinstance(one, MetaFormerBlock)]
    scaled = (isinstance(one.token_mixer, Pooling) and not isinstance(one.layer_scale1, nn.Identity) for one in blocks)
    return isinstance(model, MetaFormer) and all(scaled)


def _is_mixer(model: nn.Module) -> bool:
    from timm.models.mlp_mixer import MixerBlock

    return any(isinstance(one, MixerBlock) for one in model.modules()) and bool(_exact_gelus(model))


def _exact_gelus(model: nn.Module) -> list[nn.GELU]:
    return [module for module in model.modules() if isinstance(module, nn.GELU) and module.approximate == "none"]


@contextmanager
def _approximate_gelu(model: nn.Module) -> Iterator[None]:
    exact = _exact_gelus(model)
    for module in exact:
        module.approximate = "tanh"
    try:
        yield
    finally:
        for module in exact:
            module.approximate = "none"


@contextmanager
def _norm_before_pooling(model: nn.Module) -> Iterator[None]:
    head, norm, pool = (model.get_submodule(name) for name in ("head", "head.norm", "head.global_pool"))
    weight = norm.get_parameter("weight")
    first = nn.GroupNorm(1, len(weight)).to(weight).requires_grad_(False)
    first.load_state_dict(norm.state_dict())
    head.global_pool, head.norm = nn.Sequential(OrderedDict(norm=first, pool=pool)), nn.Identity()
    head.train(model.training)
    try:
        yield
    finally:
        head.global_pool, head.norm = pool, norm


@contextmanager
def _change_input(
    modules: Sequence[nn.Module], change: Callable[..., tuple[object, dict[str, object]]]
) -> Iterator[None]:
    hooks = [one.register_forward_pre_hook(lambda _, *given: change(*given), with_kwargs=True) for one in modules]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _pool_to_seven(model: nn.Module) -> AbstractContextManager[None]:
    return _change_input([model.get_submodule("pre_logits")], lambda args, _: ((adaptive_avg_pool2d(args[0], 7),), {}))


def _mask_twice(model: nn.Module) -> AbstractContextManager[None]:
    from timm.models.swin_transformer_v2 import WindowAttention

    def double(args: object, named: dict[str, Tensor | None]) -> tuple[object, dict[str, object]]:
        mask = named["mask"]
        return args, {"mask": None if mask is None else 2 * mask}

    return _change_input([one for one in model.modules() if isinstance(one, WindowAttention)], double)


def _by_names_only(model: nn.Module) -> bool:
    del model
    return False


DEPARTURES = (
    FunctionDeparture(
        POOLFORMERS,
        "PoolFormer's authors' code",
        "the last norm before the pooling",
        "the pooling before the last norm",
        _is_poolformer,
        _norm_before_pooling,
    ),
    FunctionDeparture(
        MIXERS,
        "Mixer's authors' code",
        "GELU by its tanh approximation, Flax's default",
        "GELU itself",
        _is_mixer,
        _approximate_gelu,
    ),
    FunctionDeparture(
        (VGG,),
        "torchvision's code",
        "features averaged to 7 x 7 before the classifier",
        "scores averaged over images larger than 224",
        _by_names_only,
        _pool_to_seven,
    ),
    FunctionDeparture(
        (HUGGING_FACE_SWIN_V2,),
        "Hugging Face's code",
        "the mask of shifted windows added twice",
        "the mask added once",
        _by_names_only,
        _mask_twice,
    ),
)


def _find_eps(model: nn.Module, layout: NameLayout) -> FunctionDeparture | None:
    """Return the departure of a layout whose norms add something else to the variance than the model's do."""
    path, eps = layout.eps or ("", 0)
    modules = model.get_submodule(path).modules()
    norms = {one: added for one in modules if isinstance(added := getattr(one, "eps", None), float)}
    if layout.eps is None or {*norms.values()} <= {eps}:
        return None

    @contextmanager
    def change(_: nn.Module) -> Iterator[None]:
        _set_eps(dict.fromkeys(norms, eps))
        try:
            yield
        finally:
            _set_eps(norms)

    what = f"norms in {path} that add" if path else "norms that add"
    theirs, timms = (
        " or ".join(f"{one:g}".replace("e-0", "e-") for one in sorted({*values})) for values in ([eps], norms.values())
    )
    ours = f"{what} {timms}"
    return FunctionDeparture(
        (layout,), f"{layout.name} code", f"{what} {theirs} to the variance", ours, _by_names_only, change
    )


def _set_eps(norms: Mapping[nn.Module, float]) -> None:
    for norm, eps in norms.items():
        norm.eps = eps  # type: ignore[assignment]
