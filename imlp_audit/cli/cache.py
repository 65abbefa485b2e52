"""`imlp-audit cache`, and the cache of the commands that measure."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

from imlp_audit.cli.options import Formatted
from imlp_audit.cli.output import ExitCode, emit_document
from imlp_audit.numbers.words import list_some
from imlp_audit.report.formats import Format

if TYPE_CHECKING:
    from imlp_audit.cache.store import Store

app = typer.Typer(help="See or remove what earlier runs measured.", rich_markup_mode=None)


@app.command()
def info(format_: Formatted = Format.RICH) -> int:
    """Show where measurements are kept, and how many."""
    from imlp_audit.records.listing import CacheReport
    from imlp_audit.report.listings import cache_document

    store = open_store(no_cache=False)
    files, size = store.size()
    folder = str(store.folder) if store.folder is not None else None
    report = CacheReport(folder=folder, measurements=files, bytes=size)
    emit_document(cache_document(report), format_, report)
    return ExitCode.CLEAN


@app.command()
def clear() -> int:
    """Remove all measurements that are kept."""
    left = open_store(no_cache=False, quiet=True).clear()
    if left:
        print(
            f"imlp-audit: left {list_some([str(path) for path in left], 3)}: not written by this cache", file=sys.stderr
        )
    return ExitCode.CLEAN


def open_store(*, no_cache: bool, quiet: bool = False) -> Store:
    """Return where this user's measurements are kept; nowhere if they are not to be, or if others may write there."""
    from imlp_audit.cache.store import Store, cache_folder

    store = Store(None if no_cache else cache_folder())
    if store.problem is not None and not quiet:
        print(f"imlp-audit: the cache is not used: {store.problem}", file=sys.stderr)
    return store


def tell_cache(store: Store, *, shown: bool) -> None:
    """Report on standard error what came from earlier runs, and why nothing could be kept."""
    from imlp_audit.records.result import AuditResult

    found, made = store.found.total(), store.made.total()
    lines = []
    if store.found[AuditResult]:
        lines.append("took the result of an earlier run; --no-cache measures anew")
    elif found:
        lines.append(f"took {found} of {found + made} measurements from earlier runs; --no-cache measures anew")
    if store.problem is not None and store.folder is not None:
        lines.append(f"measurements could not be kept: {store.problem}")
    for line in lines if shown else ():
        print(f"imlp-audit: {line}", file=sys.stderr)
