"""Loading what a command's targets name, telling what of it was left out, and what earlier runs measured."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from imlp_audit.cache.store import Store, cache_folder
from imlp_audit.cli.output import tell
from imlp_audit.errors import SpecError, UsageError
from imlp_audit.numbers.words import list_some
from imlp_audit.processes.code import explain_distrust, is_bundled, is_installed_place, name_difference
from imlp_audit.records.result import AuditResult
from imlp_audit.spec.load import Selection, load
from imlp_audit.spec.reader import read_spec
from imlp_audit.spec.targets import display_path, specs_not_taken, split_target


def load_specs(targets: Sequence[str] | None = None, *, trust_code: bool | None = None) -> Selection:
    """Load the papers that targets name. Raises SpecError, and UsageError where a target names nothing.

    A file in which a paper's Python differs from the installed one is named on stderr, unless with `trust_code`, or for
    a command that runs none (None).
    """
    selection = load(targets or (), trust_code=bool(trust_code))
    if not targets and (unnamed := specs_not_taken()):
        names, it = list_some([path.name for path in unnamed], 5), "it" if len(unnamed) == 1 else "them"
        tell(f"took the bundled papers, not {names}; name {it} (or .) to take {it}")
    for folder in (paper.folder for paper in selection.papers if paper.code is None and trust_code is False):
        if folder is not None and name_difference(folder) is not None:
            tell(explain_distrust(folder, display_path(folder)))
    if selection.skipped:
        tell(f"skipped {list_some(selection.skipped, 5)}: no key of a spec")
    return selection


def load_own(targets: Sequence[str] | None, command: str, *, trust_code: bool, writing: bool) -> Selection:
    """Load whole papers that a command writes to.

    Raises UsageError for an installed one, found by its id or where packages lie, where nothing is written.
    """
    selection = load_specs(targets, trust_code=trust_code)
    by_path = any(split_target(target)[0] is not None for target in targets or ())
    for path in (paper.findings_file.path for paper in selection.papers if writing):
        found_by_id = path.is_absolute() and not by_path and is_bundled(path.parent)
        if found_by_id or is_installed_place(path):
            shown = display_path(path.parent)
            raise UsageError(
                f"{shown} is an installed paper, and {command} writes only into a folder of yours: name it, such as "
                f"imlp-audit {command} path/to/{shown}"
            )
    return selection


def check_spec(text: str, name: str) -> None:
    """Read the new text of a spec before it takes the old one's place. Raises SpecError."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / name
        copy.write_text(text, encoding="utf-8", newline="")
        _, problems = read_spec(copy, name)
    if problems:
        raise SpecError(problems)


def open_store(*, no_cache: bool, quiet: bool = False) -> Store:
    """Return where this user's measurements are kept; nowhere if they are not to be, or if others may write there."""
    store = Store(None if no_cache else cache_folder())
    if store.problem is not None and not quiet:
        tell(f"the cache is not used: {store.problem}")
    return store


def tell_cache(store: Store, *, shown: bool) -> None:
    """Report on standard error what came from earlier runs, and why nothing could be kept."""
    if not shown:
        return
    found, made = store.found.total(), store.made.total()
    if store.found[AuditResult]:
        tell("took the result of an earlier run; --no-cache measures anew")
    elif found:
        tell(f"took {found} of {found + made} measurements from earlier runs; --no-cache measures anew")
    if store.problem is not None and store.folder is not None:
        tell(f"measurements could not be kept: {store.problem}")
