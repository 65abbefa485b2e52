"""`imlp-audit accept`."""

from __future__ import annotations

import sys
from difflib import unified_diff
from typing import TYPE_CHECKING, Annotated

import typer

from imlp_audit.cli.options import NoCache, NoProgress, Specs, TrustCode, helpers
from imlp_audit.cli.output import ExitCode, exit_code

if TYPE_CHECKING:
    from imlp_audit.records.result import AuditResult
    from imlp_audit.spec.paper import Paper


def accept(
    specs: Specs = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the change; write nothing.")] = False,
    trust_code: TrustCode = False,
    no_progress: NoProgress = False,
    no_cache: NoCache = False,
) -> int:
    """Write the models and counters that printed numbers identify into the specs, as given."""
    from imlp_audit.cli.cache import open_store
    from imlp_audit.cli.loading import load_specs, refuse_installed
    from imlp_audit.cli.output import emit
    from imlp_audit.cli.progress import show_progress
    from imlp_audit.pipeline import Options, audit
    from imlp_audit.report.files import check_writable, write_whole
    from imlp_audit.spec.edit import read_text

    selection = load_specs(specs, trust_code=trust_code, complete=True)
    if not dry_run:
        refuse_installed(selection, specs, "accept")
    options = Options(jobs=helpers(), trust_code=trust_code, store=open_store(no_cache=no_cache))
    with show_progress(shown=not no_progress) as announce:
        result = audit(selection, options, announce)
    changed = [
        (path, shown_as, before, after)
        for paper in selection.papers
        for path, shown_as in paper.files
        if (after := _accepted(paper, shown_as, before := read_text(path), result)) != before
    ]
    for path, shown_as, before, after in changed:
        check_writable(path)
        lines = unified_diff(before.splitlines(), after.splitlines(), shown_as, shown_as, lineterm="", n=1)
        emit("\n".join(lines) + "\n")
    for path, _, _, after in () if dry_run else changed:
        write_whole(path, after)
    if not changed:
        sys.stderr.write("nothing to accept: no row with `candidates` was identified\n")
    return ExitCode.INCOMPLETE if exit_code(result) is ExitCode.INCOMPLETE else ExitCode.CLEAN


def _accepted(paper: Paper, shown_as: str, text: str, result: AuditResult) -> str:
    """Return the text of one of a paper's files with what was identified."""
    from imlp_audit.records.check import CellCheck, Identified
    from imlp_audit.spec.edit import with_counters, with_model

    cells = result.of_kind(CellCheck)
    models = {one.id.rpartition("/")[0]: one.model for one in cells if one.model is not None}
    taken = {one.id.rpartition("/")[0] for one in cells if one.identified not in (None, Identified.NO, Identified.LEAD)}
    rows = [row for row in paper.rows if row.source().file == shown_as]
    ends = [row.source().line for row in rows[1:]] + [None] * bool(rows)
    for row, end in reversed(list(zip(rows, ends, strict=True))):  # so that the lines above stay where they are
        if row.id in taken and row.id in models:
            text = with_model(text, (row.source().line, end), str(models[row.id]), shown_as)
    about = paper.about
    known = result.hypotheses.get(paper.id)
    if about.source().file == shown_as and not about.value.flops and known is not None:
        flops = [one.group for one in known.columns if _measures_flops(paper, one.group.name)]
        clear = dict.fromkeys(str(one.winner) for one in flops if one.choice == "clear")
        text = with_counters(text, tuple(clear), shown_as) if clear else text
    return text


def _measures_flops(paper: Paper, column: str) -> bool:
    table, _, name = column.partition("/")
    columns = [one.value.columns[name] for one in paper.tables if one.value.table == table]
    return any(one.measure == "flops" for one in columns)
