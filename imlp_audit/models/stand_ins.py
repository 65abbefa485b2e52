"""What foreign code lacks here and never really uses is answered, and said: missing packages, removed names of
libraries, weights to download or to load, and CUDA. Nothing that is answered can change a count without being named.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import dis
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import Field, dataclass, field, is_dataclass
from functools import partial
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from inspect import CO_OPTIMIZED
from itertools import accumulate
from logging import getLogger
from traceback import walk_tb
from types import CodeType, FrameType, ModuleType

import numpy as np
import timm.models
import torch
from torch import Tensor, nn
from torch.nn.modules import linear

from imlp_audit.models.torch_modes import WithoutCuda
from imlp_audit.processes.created_files import telling_written
from imlp_audit.processes.streams import print_to_stderr

_INSTALLED_AS = {
    "cv2": "opencv-python",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "PIL": "pillow",
    "yaml": "pyyaml",
    "hydra": "hydra-core",
}
_CHECKS = re.compile("(require|check)_*version|version_*check")
_LOADS = re.compile("load|pretrain|weight|checkpoint|resume", re.IGNORECASE)
_INITIALISES = re.compile(
    r"_*(\w*init_weights?|weights?_init|(kaiming|xavier|constant|normal|uniform|trunc_normal)(_init)?_?"
    r"|load_(checkpoint|state_dict|pretrained|weights)|log\w*)"
)
_CUDA = ("current_stream", "Stream", "Event", "get_device_capability", "get_device_properties", "get_device_name")
_HEIRS = {"mmcv": ("mmengine", "mmengine.model")}
"""Libraries that have taken over names of others."""
_MAKES_LOGGER = re.compile(r"[._](get|setup|create|make)_(\w+_)?logger$")
_WITHOUT_PARAMETERS = frozenset({"BaseModule", "BaseModel", "Module", "LightningModule"})


@dataclass(frozen=True)
class Answers:
    """What was done so that foreign code runs, each once, in order, and what a count leaves out for that."""

    notes: dict[str, None] = field(default_factory=dict)
    left_out: dict[str, None] = field(default_factory=dict)
    loaders: set[CodeType] = field(default_factory=set)

    def note(self, text: str) -> None:
        """Remember what was done."""
        self.notes[text] = None


class StandIns(MetaPathFinder, Loader):
    """Finds packages, or modules, that are missing."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names, self.answers = set(names), Answers()

    def find_spec(self, fullname: str, path: object, target: object = None) -> ModuleSpec | None:
        """Return a spec for a module that is missing."""
        return ModuleSpec(fullname, self, is_package=True) if self._named(fullname) is not None else None

    def _named(self, fullname: str) -> str | None:
        """Return the package, or module, that is missing where a module is."""
        return next((one for one in accumulate(fullname.split("."), "{}.{}".format) if one in self.names), None)

    def exec_module(self, module: ModuleType) -> None:
        """Fill a module: any name is a stand-in."""
        self.answers.note(f"{self._named(module.__name__)} is missing; a stand-in was imported in its place")
        vars(module)["__getattr__"] = StandIn(module.__name__, self.answers).__getattr__
        vars(module)["__version__"] = "99.0"


class StandIn:
    """What stands in for a name of a missing package, and for any name in that.

    While the repository is imported it may be called, as a decorator or to set something up, and compared, as versions
    are. A model that makes an instance of a missing class gets an empty module, which is named as left out of the
    count; any other call of the model is refused.
    """

    importing = True
    path: str
    answers: Answers

    def __init__(self, path: str, answers: Answers) -> None:
        self.__dict__.update(path=path, answers=answers)

    def __getattr__(self, name: str) -> object:
        if name.startswith("__") and name != "__version__":
            raise AttributeError(name)
        return vars(self).setdefault(name, _stand_in(f"{self.path}.{name}", self.answers))

    def __getitem__(self, name: object) -> object:
        return getattr(self, str(name))

    def __setitem__(self, name: object, value: object) -> None:
        setattr(self, str(name), value)

    def __iter__(self) -> Iterator[object]:
        return iter(())

    def __call__(self, *given: object, **named: object) -> object:
        """Return what it decorates, or itself; of a class, an empty module; otherwise refuse."""
        caller = sys._getframe(1)
        in_function = caller.f_code.co_flags & CO_OPTIMIZED  # and not in a module or class that is imported
        if StandIn.importing or not in_function:
            decorated = len(given) == 1 and not named and callable(given[0])
            return given[0] if decorated else StandIn(self.path, self.answers)
        if self.path.rpartition(".")[2][:1].isupper():
            self.answers.left_out[self.path] = None
            return _Absent(self.path)
        if _INITIALISES.fullmatch(self.path.rpartition(".")[2]) and _is_statement(caller):
            self.answers.note(f"{self.path} is missing; what it sets was left as it is")
            return None
        raise _missing(self.path)

    def __mro_entries__(self, _: tuple[object, ...]) -> tuple[type, ...]:
        """Let a class be made of it, as of a module, which is named as left out unless it is known to be empty."""
        path, answers = self.path, self.answers

        class Base(nn.Module):
            def __init__(self, *_: object, **__: object) -> None:
                super().__init__()
                if path.rpartition(".")[2] not in _WITHOUT_PARAMETERS:
                    answers.left_out[path] = None

        return (Base,)

    def __instancecheck__(self, _: object) -> bool:
        return False

    __subclasscheck__ = __instancecheck__

    def __or__(self, _: object) -> object:
        return self

    __ror__ = __or__

    def __enter__(self) -> object:
        return self

    def __exit__(self, *_: object) -> None:
        """Let errors pass."""

    def __ge__(self, _: object) -> bool:
        return True

    def __le__(self, _: object) -> bool:
        return False

    __gt__, __lt__ = __ge__, __le__


def _stand_in(path: str, answers: Answers) -> object:
    """Return what has the name in the library that has taken it over, or a stand-in."""
    top, _, name = path.partition(".")
    for module in _HEIRS.get(top, ()):
        with suppress(ImportError):
            found: object = getattr(import_module(module), name.rpartition(".")[2], None)
            if found is not None:
                answers.note(f"{path} was taken from {module}")
                return found
    if _MAKES_LOGGER.search(path):
        return lambda *_, **__: getLogger(path)
    return StandIn(path, answers)


def _is_statement(caller: FrameType) -> bool:
    """Return whether what is being called gives nothing that is used."""
    instructions = dis.get_instructions(caller.f_code)
    return any(one.offset == caller.f_lasti for one in instructions) and next(instructions).opname == "POP_TOP"


class _Absent(nn.Module):
    """An instance of a class that is missing."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self.path = path

    def forward(self, *_: object, **__: object) -> None:
        """Refuse."""
        raise _missing(self.path)


def _missing(path: str) -> ImportError:
    top = path.partition(".")[0]
    is_absent = isinstance(getattr(sys.modules.get(top), "__loader__", None), StandIns)
    hint = f"; pip install {_INSTALLED_AS.get(top, top)}" if is_absent else ""
    return ImportError(f"the model needs {path}, which is missing{hint}")


def answer_old_code(answers: Answers) -> None:
    """Answer what old code asks of today's torch and numpy, and weights, of which nothing is read."""
    six = sys.modules.setdefault("torch._six", ModuleType("torch._six"))
    vars(six).update(string_classes=(str, bytes), int_classes=int, inf=float("inf"), container_abcs=collections.abc)
    vars(collections).update({name: getattr(collections.abc, name) for name in collections.abc.__all__})
    vars(linear).setdefault("_LinearWithBias", linear.NonDynamicallyQuantizableLinear)
    vars(torch.cuda).update({name: StandIn(f"torch.cuda.{name}", answers) for name in _CUDA})
    build = timm.models.build_model_with_cfg
    _replace(build, lambda *args, default_cfg=None, **named: build(*args, **named))
    nn.SyncBatchNorm._specify_ddp_gpu_num = lambda *_: None  # type: ignore[attr-defined]
    for kind in (float, int, bool, object, complex):
        vars(np).setdefault(kind.__name__, kind)
    for place, name in ((torch.hub, "load_state_dict_from_url"), (torch, "load"), (timm.models, "load_pretrained")):
        _replace(getattr(place, name), _no_weights(f"{place.__name__}.{name}", answers))
    _replace(torch.save, lambda *_, **__: answers.note("torch.save wrote nothing"))
    _replace(torch.hub.download_url_to_file, lambda *_, **__: answers.note("nothing was downloaded"))
    vars(dataclasses)["dataclass"] = _dataclass_of_before(answers)
    given = nn.Module.load_state_dict

    def load_state_dict(self: nn.Module, state_dict: Mapping[str, object], *args: object, **named: object) -> object:
        if isinstance(state_dict, _NoWeights) or not state_dict:
            return nn.modules.module._IncompatibleKeys([], [])  # two lists, which scripts print
        return given(self, state_dict, *args, **named)  # type: ignore[arg-type]

    nn.Module.load_state_dict = load_state_dict  # type: ignore[method-assign]
    attribute = nn.Module.__getattr__

    def get_attribute(self: nn.Module, name: str) -> Tensor | nn.Module:
        of_timm = name == "act1" and name not in self._modules and type(self).__module__.startswith("timm.")
        if of_timm and "site-packages" not in sys._getframe(1).f_code.co_filename:  # timm asks whether it is there
            answers.note("a network of timm has no act1 any more: its norm before that holds the activation")
            return nn.Identity()
        return attribute(self, name)

    nn.Module.__getattr__ = get_attribute  # type: ignore[method-assign]


def _dataclass_of_before(answers: Answers) -> Callable[..., object]:
    """Return `dataclass`; a default that is an instance of another one, which Python 3.11 refuses, is as before."""
    own = dataclasses.dataclass

    def make(cls: type | None = None, /, **given: bool) -> object:
        if cls is None:
            return partial(make, **given)
        for name, value in vars(cls).items():
            kind = type(value.default if isinstance(value, Field) else value)
            if is_dataclass(kind) and kind.__hash__ is None:
                kind.__hash__ = object.__hash__
                answers.note(f"the default of {cls.__name__}.{name}, which Python 3.11 refuses, was taken as before")
        return own(cls, **given)

    return make


class _NoWeights(dict[str, object]):
    """In place of weights that are not read; whatever is taken from it, or done with it, is the same."""

    def __missing__(self, *_: object, **__: object) -> _NoWeights:
        return self

    __call__ = pop = __missing__

    def __delitem__(self, _: str) -> None:
        """Lack it already."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        return self


def _no_weights(name: str, answers: Answers) -> Callable[..., _NoWeights]:
    def answer(*_: object, **__: object) -> _NoWeights:
        answers.note(f"{name} was asked for weights; the model keeps fresh ones")
        answers.loaders.add(sys._getframe(1).f_code)
        return _NoWeights()

    return answer


def skip_loader(error: BaseException, answers: Answers) -> bool:
    """Let a function that fails because it got no weights, or another version of a package, do nothing.

    Return whether it was one.
    """
    for frame, _ in walk_tb(error.__traceback__):
        name = frame.f_code.co_name
        loads = frame.f_code in answers.loaders and _LOADS.search(name)
        checks = StandIn.importing and _CHECKS.search(name)
        done = f"{name}, which {'loads weights' if loads else 'checks versions'}, was not run"
        own = frame.f_globals.get(name)
        if (loads or checks) and own is not None and done not in answers.notes:
            answers.note(done)
            _replace(own, lambda *_, **__: None)
            return True
    return False


def answer_transformers(stubs: Collection[str], answers: Answers) -> None:
    """Let `from_pretrained` make a model of its configuration, if that is on this machine.

    For models that are named as stubs, the defaults of their configuration's class are taken.
    """
    from transformers import PretrainedConfig, PreTrainedModel

    given = PretrainedConfig.from_pretrained.__func__

    def read(cls: type[PretrainedConfig], name: object, *args: object, **named: object) -> object:
        try:
            return given(cls, name, *args, **named)
        except OSError as error:
            if name not in stubs:
                raise OSError(
                    f"the configuration of {name} is not here; fetch it: hf download {name} config.json; or take the "
                    f"defaults of {cls.__name__} in its place: --stub {name}"
                ) from error
            answers.note(f"{name} was not downloaded; the defaults of {cls.__name__} are in its place (--stub)")
            return cls(**{key: value for key, value in named.items() if key[:1] != "_"})

    def make(cls: type[PreTrainedModel], name: object, *_: object, **named: object) -> object:
        config = named.pop("config", None) or cls.config_class.from_pretrained(name, **named)
        answers.note(f"{cls.__name__}.from_pretrained was asked for weights; the model keeps fresh ones")
        return cls(config)

    PretrainedConfig.from_pretrained = classmethod(read)  # type: ignore[arg-type]
    PreTrainedModel.from_pretrained = classmethod(make)  # type: ignore[arg-type]


def _replace(function: object, other: object) -> None:
    """Put another function in its place in every module that has imported it."""
    for module in list(sys.modules.values()):
        for name, value in list(getattr(module, "__dict__", {}).items()):
            if value is function:
                setattr(module, name, other)


def offer_removed(module: ModuleType, name: str, answers: Answers) -> None:
    """Let an installed library have a name that it has no longer, which refuses to be called by the model."""
    setattr(module, name, found := _stand_in(f"{module.__name__}.{name}", answers))
    if isinstance(found, StandIn):
        answers.note(f"{module.__name__} has no {name!r} any more; a stand-in was imported in its place")


@contextmanager
def answering(answers: Answers) -> Iterator[None]:
    """Run foreign code with CUDA answered, and what it prints on standard error; note the files that it writes."""
    with print_to_stderr(), telling_written(answers.note), WithoutCuda(answers.note):
        yield
