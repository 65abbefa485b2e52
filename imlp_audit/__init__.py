"""Audits the numbers that machine-learning papers print.

`audit` gives every printed number of a spec a verdict, `measure` counts a model. Importing this imports neither torch
nor anything else that takes time; see docs/python.md.
"""

from __future__ import annotations

from importlib import import_module

__version__ = "0.1.0"
__all__ = ["AuditResult", "ModelMeasurement", "__version__", "audit", "measure"]

_HOMES = {"AuditResult": "imlp_audit.records.result", "ModelMeasurement": "imlp_audit.measure.own"}


def __getattr__(name: str) -> object:
    if name in ("audit", "measure"):  # modules that can be called
        return import_module(f"imlp_audit.{name}")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'imlp_audit' has no attribute {name!r}")
