"""Which function writes which format."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from imlp_audit.records.document import to_json
from imlp_audit.records.result import AuditResult
from imlp_audit.report.audit_markdown import markdown
from imlp_audit.report.audit_terminal import terminal
from imlp_audit.report.formats import Format, Surface

FORMATS: Mapping[Format, Callable[[AuditResult, Surface], str]] = MappingProxyType(
    {
        Format.RICH: lambda result, surface: terminal(result, surface.width, colour=surface.colour),
        Format.JSON: lambda result, _: to_json(result),
        Format.MARKDOWN: lambda result, _: markdown(result),
    }
)
