"""Where `init` writes a spec, and what lies beside it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING

from imlp_audit.errors import UsageError

if TYPE_CHECKING:
    from imlp_audit.transcribe.grid import SourceTable


def check_target(name: str, tables: Sequence[SourceTable], target: Path) -> None:
    """Raise UsageError where a spec cannot be written, where something is there, or a same table is beside it."""
    from imlp_audit.spec.targets import declares, tables_in

    _check_new(target)
    own = {(f"Table {table.number}", table.file): table for table in tables}
    for file in _spec_files_beside(target):
        same = own.keys() & set(tables_in(file).values()) if declares(file).paper == name else set()
        if same:
            number, source = min(same)
            raise UsageError(
                f"{file} has {number} of {source} already, and {target} would be of the same paper {name!r}: "
                f"delete {file} to write the table anew, or give --paper for another paper"
            )


def _check_new(target: Path) -> None:
    """Raise UsageError where a spec cannot be written, or something is there already."""
    from imlp_audit.report.files import check_writable

    if target.suffix not in (".yaml", ".yml"):
        raise UsageError(f"{target}: the name of a spec ends in .yaml")
    check_writable(target)
    if target.exists() or target.is_symlink():
        raise UsageError(f"{target} is there already and is not overwritten; delete it, or give another file with -o")


def write_target(target: Path, text: str) -> None:
    """Write a spec."""
    from imlp_audit.report.files import write_whole

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


def free_ids(name: str, tables: Sequence[SourceTable], source: Path, target: Path) -> tuple[str, ...]:
    """Return what to call tables: their numbers, or the file's name where another table of the paper has the number.

    Each page of a model zoo has a Table 1: its second page is called as its file.
    """
    from imlp_audit.spec.targets import declares, tables_in
    from imlp_audit.transcribe.write import table_id

    taken = {one for file in _spec_files_beside(target) if declares(file).paper == name for one in tables_in(file)}
    stem = re.sub(r"[^a-z0-9]+", "_", source.name.partition(".")[0].lower()).strip("_") or "table"
    ids: list[str] = []
    for table in tables:
        candidates = chain([table_id(table), stem], (f"{stem}_{n}" for n in count(2)))
        ids.append(next(one for one in candidates if one and one not in taken and one not in ids))
    return tuple(ids)
