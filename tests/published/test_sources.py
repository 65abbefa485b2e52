"""The list of published tables is complete and consistent, and the cut tables, where present, are the ones listed."""

from __future__ import annotations

import hashlib

import pytest
import timm
import torchvision

from tests.published.sources import TABLES, Row, TimmNames, read_sources, read_truth

KNOWN = {"timm": set(timm.list_models()), "torchvision": set(torchvision.models.list_models())}
needs_tables = pytest.mark.skipif(not TABLES.is_dir(), reason="the tables are not here: see collect.py")


def test_every_table_is_listed_once_and_most_have_models_that_libraries_have() -> None:
    tables = read_sources()
    assert len({table.file for table in tables}) == len(tables) >= 75
    assert len({table.repository for table in tables}) >= 35
    assert 3 * sum(table.libraries != "none" for table in tables) >= 2 * len(tables)
    assert all(1 <= table.lines[0] < table.lines[1] for table in tables)
    places = {(table.repository, table.path, line) for table in tables for line in range(*table.lines)}
    assert len(places) == sum(table.lines[1] - table.lines[0] for table in tables), "no line is in two tables"


def test_truth_speaks_of_listed_tables_and_names_models_that_the_libraries_have() -> None:
    truth = read_truth()
    assert truth.tables.keys() <= {table.file for table in read_sources()}
    listed = [row for rows in truth.tables.values() if not isinstance(rows, TimmNames) for row in rows]
    names = {name for group in truth.same for name in group}
    names |= {name for row in listed for name in (*(row.models or ()), *row.near)}
    for library, _, model in (name.partition(":") for name in sorted(names)):
        assert model in KNOWN[library] if library in KNOWN else library == "transformers", f"{library}:{model}"
    assert sum(bool(row.models) for row in listed) >= 600
    assert not any(row.near and row.models for row in listed)


@needs_tables
def test_the_tables_are_the_bytes_that_were_listed() -> None:
    listed = {table.file: table.sha256 for table in read_sources()}
    assert {one.name: hashlib.sha256(one.read_bytes()).hexdigest() for one in TABLES.iterdir()} == listed


@needs_tables
def test_every_label_stands_in_its_line() -> None:
    for file, rows in read_truth().tables.items():
        lines = (TABLES / file).read_text(errors="replace").split("\n")
        if isinstance(rows, TimmNames):
            labels = [line.split(",")[0] for line in lines[1:] if line]
            assert {one for one in labels if one.split(".")[0] not in KNOWN["timm"]} == set(rows.unknown)
        else:
            assert [_lost(row, lines) for row in rows if _lost(row, lines)] == [], file


def _lost(row: Row, lines: list[str]) -> str | None:
    return None if row.row in lines[row.line - 1] else f"{row.line}: {row.row}"
