"""Judges published tables as they are, then with errors planted in them, shuffled labels, and random digits.

    python -m tests.published.collect        # fetches the tables' bytes, once
    python -m benchmarks.published FOLDER    # keeps specs and results there, and goes on from them

Errors are planted in numbers that follow, of rows whose model is known and identified: one digit, or another row's
number. One is found if the number differs, or a number of its row is a lead. Then labels are shuffled, and all sizes
get random digits: how many rows are identified by chance?
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from imlp_audit.cache.store import Store
from imlp_audit.pipeline import Options, audit
from imlp_audit.records.check import CellCheck, Identified, Verdict
from imlp_audit.spec.load import load
from tests.cli.running import call
from tests.published.sources import TABLES, TimmNames, read_sources, read_truth

PLANTED, SEEDS = 60, (21, 22, 23)
MOST_ROWS = 400  # timm's own table is timed apart
FOLLOWS = (Verdict.REPRODUCED, Verdict.REPRODUCED_UNDER)
TRUTH = read_truth()
Written = dict[str, Any]  # a table of a spec, as YAML reads it


@dataclass
class Judged:
    """A row: the model that its numbers identify, and each number with its verdict."""

    id: str
    label: str
    how: str | None
    model: str | None
    cells: list[tuple[str, str, str]]
    known: list[str] | None = None

    @property
    def identified(self) -> bool:
        """Whether its numbers have identified a model."""
        return self.how not in (None, Identified.NO)

    @property
    def place(self) -> tuple[str, str]:
        """Its table and its id in that."""
        _, table, row = self.id.split("/")
        return table, row


def run(spec: Path) -> tuple[list[CellCheck], Mapping[str, str]]:
    """Return the checks of a spec's numbers, and the labels of its rows."""
    result = audit(load([str(spec)]), Options(jobs=0, store=Store()), lambda _: lambda _: None)
    labels = {f"{p.id}/{t.id}/{row.id}": row.label for p in result.papers for t in p.tables for row in t.rows}
    return list(result.of_kind(CellCheck)), labels


def judge(file: str, folder: Path) -> list[Judged]:
    """Return the rows of a published table; a spec and they are written into the folder."""
    spec, kept = folder / f"{Path(file).stem}.yaml", folder / f"{file}.json"
    if not kept.exists():
        rows = dict[str, Judged]()
        if not call("init", str(TABLES / file), "-o", str(spec)).code:
            checks, labels = run(spec)
            for one in checks:
                id_, _, column = one.id.rpartition("/")
                row = rows.setdefault(id_, Judged(id_, labels[id_], None, None, []))
                row.how, row.model = one.identified or row.how, one.model or row.model
                row.cells.append((column, one.printed or "", one.verdict))
        find_known(file, rows)
        kept.write_text(json.dumps([asdict(row) for row in rows.values()]))
    return [Judged(**one) for one in json.loads(kept.read_text())]


def find_known(file: str, rows: Mapping[str, Judged]) -> None:
    """Say of each row which models it means; an empty list where no library has its model."""
    truth = TRUTH.tables.get(file, [])
    left = [] if isinstance(truth, TimmNames) else list(truth)
    for row in rows.values():
        label = plain(row.label)
        same = [one for one in left if plain(one.row) == label]
        inside = [
            one for one in left if label and plain(one.row) and (plain(one.row) in label or label in plain(one.row))
        ]
        for one in (same + inside)[:1]:
            left.remove(one)
            row.known = one.models or []


def plain(text: str) -> str:
    """Return the letters and digits of a label, without the targets of links."""
    return re.sub(r"[^a-z0-9]+", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text).lower())


def is_right(row: Judged) -> bool:
    """Return whether the model that was identified is one that the row means."""
    library, _, name = (row.model or "").split(", ")[0].partition(": ")
    found = f"{library}:{name}"
    return any(found == one or any({found, one} <= set(group) for group in TRUTH.same) for one in row.known or [])


def tables(folder: Path) -> Iterator[tuple[str, list[Judged]]]:
    """Yield the tables with their rows."""
    for table in read_sources():
        rows = judge(table.file, folder) if not table.file.startswith("pytorch-image-models") else []
        if 0 < len(rows) <= MOST_ROWS:
            yield table.file, rows


def as_they_are(folder: Path) -> None:
    """Print what is identified and found wrong in the tables."""
    found = Counter[str]()
    for file, rows in tables(folder):
        for row in rows:
            found["rows"] += 1
            found["numbers that follow"] += sum(verdict in FOLLOWS for *_, verdict in row.cells)
            for column, printed, verdict in row.cells:
                if verdict == Verdict.DIFFERS:
                    found["numbers that differ"] += 1
                    print(f"  {file} {row.label} {column} {printed} differs: {row.model}")
            if row.known:
                checkpoint = all(one.startswith("transformers:") for one in row.known)
                kind = "checkpoints of transformers" if checkpoint else "models of timm and torchvision"
                found[f"rows with {kind}"] += 1
                found[f"{kind} identified"] += row.identified
            if row.identified and row.known is not None and not is_right(row):
                found["identified as another"] += 1
                print(f"  {file} {row.label}: {row.model}, not {row.known[:3]}")
    print(dict(found), flush=True)


def rewrite(spec: Path, into: Path, change: Callable[[Written], None]) -> None:
    """Write a spec again with its tables changed."""
    written = yaml.load(spec.read_text(), Loader=yaml.BaseLoader)
    for table in written["tables"]:
        change(table)
    into.write_text(json.dumps(written, ensure_ascii=False))


def plant(folder: Path, seed: int) -> None:
    """Print how many planted errors are found."""
    draw, found = random.Random(seed), Counter[str]()
    pool = [
        (file, rows, row, cell)
        for file, rows in tables(folder)
        for row in rows
        if row.identified and row.known
        for cell in row.cells
        if cell[2] in FOLLOWS
    ]
    for _ in range(PLANTED):
        file, rows, row, (column, old, _) = draw.choice(pool)
        others = [
            printed
            for other in rows
            if other.place[0] == row.place[0]
            for at, printed, _ in other.cells
            if at == column and printed != old
        ]
        digit = draw.choice((True, False))
        if not digit and not others:
            continue
        new = with_another_digit(old, draw) if digit else draw.choice(others)
        outcome, accused = find_planted(folder / f"{Path(file).stem}.yaml", row, column, new)
        before = sum(verdict == Verdict.DIFFERS for other in rows for *_, verdict in other.cells)
        found[outcome] += 1
        found["others accused"] += accused > before
        if outcome == "not found" or accused > before:
            print(f"  {file} {row.label} {column} {old} -> {new}: {outcome}, {accused} others differ")
    print(f"planted with seed {seed}", dict(found), flush=True)


def with_another_digit(text: str, draw: random.Random) -> str:
    """Return a number with one digit exchanged, which is not a leading zero."""
    at = draw.choice([at for at, sign in enumerate(text) if sign.isdigit()])
    return text[:at] + draw.choice([one for one in "0123456789"[at == 0 :] if one != text[at]]) + text[at + 1 :]


def find_planted(spec: Path, row: Judged, column: str, new: str) -> tuple[str, int]:
    """Return whether an error is found, and how many other numbers differ."""
    table, id_ = row.place

    def change(one: Written) -> None:
        for other in one["rows"] if one["table"] == table else ():
            if other["id"] == id_:
                other["printed"][column] = new

    rewrite(spec, spec.with_name("planted.yaml"), change)
    checks, _ = run(spec.with_name("planted.yaml"))
    own = [one for one in checks if one.id.split("/")[1:3] == [table, id_]]
    mine = next(one for one in own if one.id.endswith(f"/{column}"))
    accused = sum(one.verdict is Verdict.DIFFERS for one in checks if one is not mine)
    if mine.verdict is Verdict.DIFFERS:
        return "differs", accused
    return "a lead" if any(one.lead for one in own) else "not found", accused


def by_chance(folder: Path, shuffled: bool) -> None:
    """Print how many rows are identified that have another row's label, or random digits."""
    draw, found, moved = random.Random(5), Counter[str](), set[tuple[str, str]]()

    def shuffle(table: Written) -> None:
        rows = [row for row in table["rows"] if "candidates" in row]
        words = [{key: row.pop(key) for key in ("label", "candidates", "named") if key in row} for row in rows]
        order = draw.sample(range(len(rows)), len(rows))
        for at, row in zip(order, rows, strict=True):
            row |= words[at]
        moved.update((table["table"], row["id"]) for at, row in zip(order, rows, strict=True) if rows[at] is not row)

    def scramble(table: Written) -> None:
        sizes = [key for key, one in table["columns"].items() if one["measure"] in ("parameters", "flops")]
        for row in table["rows"]:
            for key in set(sizes) & set(row["printed"]):
                row["printed"][key] = re.sub(r"\d", lambda _: draw.choice("0123456789"), row["printed"][key])
                row["printed"][key] = re.sub(r"^0", lambda _: draw.choice("123456789"), row["printed"][key])
            moved.add((table["table"], row["id"]))

    for file, rows in tables(folder):
        known = {row.place: row for row in rows}
        moved.clear()
        rewrite(folder / f"{Path(file).stem}.yaml", folder / "moved.yaml", shuffle if shuffled else scramble)
        seen = dict[tuple[str, str], CellCheck]()
        for one in run(folder / "moved.yaml")[0]:
            _, table, row, _ = one.id.split("/")
            if (table, row) in moved and one.identified is not None:
                seen[table, row] = one
        found["rows"] += len(seen)
        for place, one in seen.items():
            if one.identified is not Identified.NO:
                found["identified"] += 1
                found["as another model"] += not is_right(replace(known[place], model=one.model))
                print(f"  {file} {'/'.join(place)} {one.printed}: {one.model}")
    print("labels shuffled" if shuffled else "random digits", dict(found), flush=True)


def main() -> None:
    """Print all of it."""
    folder = Path(sys.argv[1])
    folder.mkdir(exist_ok=True)
    as_they_are(folder)
    for seed in SEEDS:
        plant(folder, seed)
    for shuffled in (False, True):
        by_chance(folder, shuffled)


if __name__ == "__main__":
    main()
