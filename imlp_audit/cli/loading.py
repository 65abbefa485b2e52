"""Loading what a command's targets name, and telling what of it was left out."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from imlp_audit.cli.output import emit
from imlp_audit.errors import Problem, SpecError
from imlp_audit.numbers.words import count_of, list_some
from imlp_audit.report.formats import AuditFormat

if TYPE_CHECKING:
    from imlp_audit.spec.library import Rule, Selection


def load_specs(
    targets: Sequence[str] | None = None,
    *,
    trust_code: bool = False,
    complete: bool = False,
    printed: AuditFormat | None = None,
    also: Rule | None = None,
) -> Selection:
    """Load the papers that targets name. Raises SpecError, and UsageError where a target names nothing.

    Files that were left out are named on stderr; a command that must have a `complete` paper refuses them. Where
    GitHub's annotations are `printed`, each mistake is one. Problems of papers that `also` finds join all others.
    """
    from imlp_audit.equations.door import broken_entry_points
    from imlp_audit.spec.folders import specs_not_taken
    from imlp_audit.spec.library import load

    try:
        selection = load(targets or (), trust_code=trust_code, also=also)
    except SpecError as error:
        _annotate(error.problems, printed)
        raise
    _annotate(selection.left_out, printed)
    if complete and selection.left_out:
        raise SpecError(selection.left_out)
    for file in dict.fromkeys(problem.file for problem in selection.left_out):
        count = sum(problem.file == file for problem in selection.left_out)
        print(f"imlp-audit: left out {file}: {count_of(count, 'problem')}; see imlp-audit lint {file}", file=sys.stderr)
    if not targets and (unnamed := specs_not_taken()):
        names, it = list_some([path.name for path in unnamed], 5), "it" if len(unnamed) == 1 else "them"
        print(f"imlp-audit: took the bundled papers, not {names}; name {it} (or .) to take {it}", file=sys.stderr)
    for point in broken_entry_points():
        print(f"imlp-audit: left out the installed papers of {point}: no folder of a package", file=sys.stderr)
    if selection.skipped:
        print(f"imlp-audit: skipped {list_some(selection.skipped, 5)}: no key of a spec", file=sys.stderr)
    return selection


def _annotate(problems: Sequence[Problem], printed: AuditFormat | None) -> None:
    if problems and printed is AuditFormat.GITHUB:
        from imlp_audit.report.exports.github import render_problems

        emit(render_problems(problems))
