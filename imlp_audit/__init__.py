"""Audits the numbers that machine-learning papers print.

`audit` gives every printed number of a spec a verdict, `measure` counts a model. Importing this imports neither torch
nor anything else that takes time; see docs/python.md.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from imlp_audit.count.from_python import ModelMeasurement
    from imlp_audit.count.from_python import measure_model as measure
    from imlp_audit.pipeline import audit_targets as audit
    from imlp_audit.records.result import AuditResult

__version__ = "0.1.0"
__all__ = ["AuditResult", "ModelMeasurement", "__version__", "audit", "measure"]

_HOMES = {
    "AuditResult": ("imlp_audit.records.result", "AuditResult"),
    "ModelMeasurement": ("imlp_audit.count.from_python", "ModelMeasurement"),
    "audit": ("imlp_audit.pipeline", "audit_targets"),
    "measure": ("imlp_audit.count.from_python", "measure_model"),
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'imlp_audit' has no attribute {name!r}")
    module, attribute = _HOMES[name]
    return getattr(import_module(module), attribute)
