"""Modules that can be called: `imlp_audit.audit` and `imlp_audit.measure` are functions and places of more."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import ClassVar


class CallableModule(ModuleType):
    """A module that stands for one of its functions when it is called; the function is imported then."""

    _FUNCTIONS: ClassVar[dict[str, tuple[str, str]]] = {}

    def __call__(self, *args: object, **kwargs: object) -> object:
        """Call the module's function."""
        module, name = self._FUNCTIONS[self.__name__]
        return getattr(import_module(module), name)(*args, **kwargs)


def make_callable(module: str, function: str) -> None:
    """Let a module be called by its name; `function` is `module:name`."""
    place, _, name = function.partition(":")
    CallableModule._FUNCTIONS[module] = place, name
    sys.modules[module].__class__ = CallableModule
