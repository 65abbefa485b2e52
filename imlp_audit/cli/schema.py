"""`imlp-audit schema`."""

from __future__ import annotations

from imlp_audit.cli.exits import ExitCode
from imlp_audit.cli.output import emit


def schema() -> int:
    """Print the JSON Schema of a spec, with which editors complete keys and mark mistakes."""
    from imlp_audit.records.document import dump_json
    from imlp_audit.spec.validate import spec_schema

    emit(dump_json(spec_schema()))
    return ExitCode.CLEAN
