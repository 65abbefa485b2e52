"""`imlp-audit acknowledge`."""

from __future__ import annotations

from typing import Annotated

import typer

from imlp_audit.cli.options import Formatted, NoCache, NoProgress, Specs, TrustCode, helpers
from imlp_audit.cli.output import ExitCode, exit_code
from imlp_audit.report.formats import Format


def acknowledge(
    specs: Specs = None,
    draft: Annotated[
        bool,
        typer.Option("--draft", help="Also write findings without a title for the failing checks that none covers."),
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be written; write nothing.")] = False,
    trust_code: TrustCode = False,
    format_: Formatted = Format.RICH,
    no_progress: NoProgress = False,
    no_cache: NoCache = False,
) -> int:
    """Acknowledge the failing checks that findings cover: write `findings.lock`."""
    from imlp_audit.cli.cache import open_store
    from imlp_audit.cli.loading import load_specs, refuse_installed
    from imlp_audit.cli.output import emit_document
    from imlp_audit.cli.progress import show_progress
    from imlp_audit.cli.write_spec import write_lock
    from imlp_audit.pipeline import Options, audit
    from imlp_audit.records.finding import AcknowledgeReport
    from imlp_audit.report.listings import acknowledged_document

    selection = load_specs(specs, trust_code=trust_code, complete=True)
    if not dry_run:
        refuse_installed(selection, specs, "baseline")
    options = Options(jobs=helpers(), trust_code=trust_code, any_lock=True, store=open_store(no_cache=no_cache))
    with show_progress(shown=not no_progress) as announce:
        result = audit(selection, options, announce)
    papers = tuple(write_lock(paper, result, draft=draft, write=not dry_run) for paper in selection.papers)
    report = AcknowledgeReport(written=not dry_run, papers=papers)
    emit_document(acknowledged_document(report), format_, report)
    return ExitCode.INCOMPLETE if exit_code(result) is ExitCode.INCOMPLETE else ExitCode.CLEAN
