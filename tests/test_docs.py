"""What the documents say is what the program does."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import BaseModel

from imlp_audit.measure.operations import Operation
from imlp_audit.measure.sites import Site
from imlp_audit.models import recipe
from imlp_audit.spec import claims, schema, tables

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
SPECS = (ROOT / "specs" / "README.md").read_text(encoding="utf-8")


COMMANDS = (
    "verify", "explain", "properties", "solve", "lipschitz", "eval", "inspect", "bench", "doctor imagenet", "list",
    "lint", "report",
)  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_readme_shows_the_help_as_it_is(command: str) -> None:
    help_ = subprocess.run(
        [sys.executable, "-m", "imlp_audit", *command.split(), "--help"],
        capture_output=True,
        text=True,
        check=True,
        env={"COLUMNS": "100", "PATH": "", "TERM": "dumb"},
    ).stdout
    lines = "\n".join(line.rstrip() for line in help_.replace("python -m imlp_audit", "imlp-audit").splitlines())
    assert f"```text\n{lines.strip()}\n```" in README


def _records() -> list[type[BaseModel]]:
    found = [*vars(schema).values(), *vars(tables).values(), *vars(claims).values(), *vars(recipe).values()]
    records = [r for r in found if isinstance(r, type) and issubclass(r, BaseModel) and r.model_fields]
    return list(dict.fromkeys(records))


@pytest.mark.parametrize("record", _records(), ids=lambda record: record.__name__)
def test_every_key_of_a_spec_is_documented(record: type[BaseModel]) -> None:
    assert [name for name in record.model_fields if f"`{name}`" not in SPECS] == []


@pytest.mark.parametrize("word", [*Operation, *Site])
def test_every_class_of_work_is_documented(word: str) -> None:
    assert f"`{word}`" in SPECS


def test_links_lead_somewhere() -> None:
    for document in (README, (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")):
        for target in re.findall(r"\]\(([^)#:]+)\)", document):
            assert (ROOT / target).exists(), target
