"""What the documents say is what the program does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pydantic import BaseModel
from typer.core import TyperGroup
from typer.main import get_command

from docs.update import help_of, replaced_mlps
from imlp_audit.cli.main import app
from imlp_audit.measure.operations import Operation
from imlp_audit.measure.sites import Site
from imlp_audit.models import recipe
from imlp_audit.spec import claims, conditions, quantities, readings, schema, tables

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCS = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("*.md")}
SPECS = DOCS["spec-format.md"] + DOCS["conventions.md"] + DOCS["readings.md"]
GROUP = get_command(app)
assert isinstance(GROUP, TyperGroup)
COMMANDS = [name.replace("doctor", "doctor imagenet") for name in sorted(GROUP.commands)]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_its_help_in_the_documentation(command: str) -> None:
    assert f"## {command}\n" in DOCS["commands.md"]
    assert f"```text\n{help_of(command)}\n```" in DOCS["commands.md"], "python docs/update.py writes it"


def test_readme_fits_three_screens() -> None:
    assert README.count("\n") <= 200


def _records() -> list[type[BaseModel]]:
    modules = (schema, tables, readings, claims, conditions, quantities, recipe)
    hosts = [host for key, host in recipe.HOSTS.items() if key != "timm"]  # whose value is a name, without keys
    found = [*hosts, *(value for module in modules for value in vars(module).values())]
    records = [r for r in found if isinstance(r, type) and issubclass(r, BaseModel) and r.model_fields]
    return list(dict.fromkeys(records))


@pytest.mark.parametrize("record", _records(), ids=lambda record: record.__name__)
def test_every_key_of_a_spec_is_documented(record: type[BaseModel]) -> None:
    keys = record.keys() if issubclass(record, recipe.Recipe) else record.model_fields
    assert [name for name in keys if f"`{name}`" not in SPECS] == []


@pytest.mark.parametrize("word", [*Operation, *Site])
def test_every_class_of_work_is_documented(word: str) -> None:
    assert f"`{word}`" in SPECS


@pytest.mark.slow
def test_hosts_that_are_said_to_work_do() -> None:
    named = re.findall(r"^\| `\w+` \| `(\w+)` \| (\d+) \|$", DOCS["hosts.md"], re.MULTILINE)
    assert len(named) > 20
    assert [(name, str(replaced_mlps(name))) for name, _ in named] == named


def test_links_lead_somewhere() -> None:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]
    for page in pages:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
