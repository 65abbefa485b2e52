"""Torch's compiler, which nothing here uses: importing it takes longer than timm and torchvision do, and 140 MB.

They import it for two functions, and torchvision (ops/roi_align.py) says that it means not to. Torch imports it for
the first of them, when a shape function of its own is called; transformers for a mode that makes masks.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

_COMPILER = "torch._dynamo"
_CHECKS = "torch._dynamo.utils"
_MODES = "torch._dynamo._trace_wrapped_higher_order_op"
_DECORATORS = ("disable", "allow_in_graph", "assume_constant_result")  # the latter two are asked for by transformers


def leave_compiler_out() -> None:
    """Answer for the compiler in this process, until somebody asks for more of it than these functions."""
    if _COMPILER in sys.modules:
        return
    sys.modules.update({name: _StandIn(name) for name in (_COMPILER, _CHECKS, _MODES)})
    vars(sys.modules[_COMPILER]).update(dict.fromkeys(_DECORATORS, _disable), __path__=[])
    for module, name in ((_CHECKS, "is_compile_supported"), (_MODES, "TransformGetItemToIndex")):
        vars(sys.modules[module])[name] = partial(_call, module, name)
    sys.meta_path.insert(0, _Finder())


class _StandIn(ModuleType):
    """A module of the compiler that gives way to it when asked for anything that is not in it."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):  # asked of every module, by `inspect` for one
            raise AttributeError(name)
        _give_way()
        return getattr(import_module(self.__name__), name)


class _Finder(MetaPathFinder):
    """Finds other modules of the compiler: by importing it."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if not name.startswith(f"{_COMPILER}.") or not isinstance(sys.modules.get(_COMPILER), _StandIn):
            return None
        _give_way()
        import_module(name)
        return ModuleSpec(name, _Imported(sys.modules.pop(name)))  # Python would run again what it finds there


class _Imported(Loader):
    def __init__(self, module: ModuleType) -> None:
        self._module, self._spec = module, module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        vars(module)["__spec__"] = self._spec


def _give_way() -> None:
    for name in (_COMPILER, _CHECKS, _MODES):
        if isinstance(sys.modules.get(name), _StandIn):
            del sys.modules[name]


def _disable(function: Callable[..., object] | None = None, *_: object, **__: object) -> object:
    """Return a function that is not to be compiled, as it is; without one, the decorator that does so."""
    return _disable if function is None else function


def _call(module: str, name: str, *given: object) -> object:
    """Call a function of the compiler, for which it is imported."""
    _give_way()
    return getattr(import_module(module), name)(*given)
