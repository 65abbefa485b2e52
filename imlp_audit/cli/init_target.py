"""Where `init` writes a spec, and what lies beside it."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from imlp_audit.errors import UsageError
from imlp_audit.files import MAX_SPEC_BYTES, read_bytes

if TYPE_CHECKING:
    from imlp_audit.transcribe.grid import SourceTable


def check_target(name: str, table: SourceTable, target: Path, *, again: bool) -> None:
    """Raise UsageError where a spec cannot be written, where something is there, or the same table is beside it.

    `again` allows for a spec of this table that is there already.
    """
    if not again:
        _check_new(target)
    _refuse_second(name, table, target)


def _refuse_second(name: str, table: SourceTable, target: Path) -> None:
    """Raise UsageError where a file beside the new spec has the same table of the same source for the same paper."""
    from imlp_audit.spec.targets import declares, tables_in

    own = (f"Table {table.number}", table.file)
    there = (
        file for file in _spec_files_beside(target) if declares(file).paper == name and own in tables_in(file).values()
    )
    found = next(there, None)
    if found is not None:
        raise UsageError(
            f"{found} has {own[0]} of {own[1]} already, and {target} would be of the same paper {name!r}: "
            f"delete {found} to write the table anew, or give --paper for another paper"
        )


def _check_new(target: Path) -> None:
    """Raise UsageError where a spec cannot be written, or something is there already."""
    from imlp_audit.report.files import check_writable

    if target.suffix not in (".yaml", ".yml"):
        raise UsageError(f"{target}: the name of a spec ends in .yaml")
    check_writable(target)
    if target.exists() or target.is_symlink():
        raise UsageError(f"{target} is there already and is not overwritten; delete it, or give another file with -o")


def check_unchanged(target: Path, written: Collection[str]) -> None:
    """Raise UsageError where a file is not as `init` wrote it before somebody gave images or classes."""
    if read_bytes(target, MAX_SPEC_BYTES) not in [text.encode() for text in written]:
        _check_new(target)


def write_target(target: Path, text: str, *, again: bool) -> None:
    """Write a spec; `again` over one of this program's own that nobody changed."""
    from imlp_audit.report.files import write_whole

    if not again:
        _check_new(target)
    write_whole(target, text)


def _spec_files_beside(target: Path) -> tuple[Path, ...]:
    from imlp_audit.spec.targets import spec_files

    files = spec_files(target.parent) if target.parent.is_dir() else ()
    return tuple(file for file in files if file.name != target.name)


def described_in(name: str, target: Path) -> Path | None:
    """Return the file beside the new spec that describes the same paper, if there is one."""
    from imlp_audit.spec.targets import declares

    return next(
        (file for file in _spec_files_beside(target) if (found := declares(file)).paper == name and found.about), None
    )


def free_id(name: str, table: SourceTable, source: Path, target: Path) -> str | None:
    """Return what to call a table whose number another table of the paper has; None where its number is free.

    Each page of a model zoo has a Table 1: its second page is called as its file.
    """
    from itertools import chain, count

    from imlp_audit.spec.targets import declares, tables_in
    from imlp_audit.transcribe.write import table_id

    taken = {one for file in _spec_files_beside(target) if declares(file).paper == name for one in tables_in(file)}
    if table_id(table) not in taken:
        return None
    stem = re.sub(r"[^a-z0-9]+", "_", source.name.partition(".")[0].lower()).strip("_") or "table"
    return next(one for one in chain([stem], (f"{stem}_{n}" for n in count(2))) if one not in taken)
