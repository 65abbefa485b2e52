"""Writes the parts of the documentation that the program decides: `python docs/update.py`.

- the `--help` of each command in commands.md
- hosts.md: which models can have their MLPs replaced, found by replacing them
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import timm
from typer.testing import CliRunner

from imlp_audit.cli.main import make_app
from imlp_audit.count.build_and_count import measure_models
from imlp_audit.count.facts import Failure, ModelKey, Need
from imlp_audit.models.readings import PRINTED, PaperReading
from imlp_audit.models.recipe import Recipe

DOCS = Path(__file__).parent
_SECTION = re.compile(r"^## ([a-z ]+)\n(.*?)^```text\n.*?^```\n", re.MULTILINE | re.DOTALL)
_HOSTS_INTRODUCTION = (
    "# Models whose MLPs can be replaced",
    "",
    "A recipe can replace the MLPs of a host by the IMLP block (`mlp: {imlp: {ratio: 2, kernel: 3}}`) or by one of",
    "your own; `sites` limits this to some of the MLPs. `python docs/update.py` tries that block on one small model",
    "of every module of timm: it builds the model, replaces all MLPs and counts the result on an image of the model's",
    "own size. The MLPs of a model of your own can be replaced if they are timm's `Mlp`, or classes made of it.",
    "",
    "## What works",
    "",
    "| module of timm | tried with | MLPs |",
    "| --- | --- | --- |",
)
_SMALL = ("tiny", "_ti", "nano", "mini", "xxs", "micro", "small", "_s", "18", "_12")


def main() -> None:
    """Write all pages."""
    for name, text in pages().items():
        (DOCS / name).write_text(text, encoding="utf-8")


def pages() -> dict[str, str]:
    """Return the text of each generated page by its file name."""
    commands = (DOCS / "commands.md").read_text(encoding="utf-8")
    return {"commands.md": commands_page(commands), "hosts.md": hosts_page()}


def commands_page(text: str) -> str:
    """Put each command's `--help` into the block of its section."""
    return _SECTION.sub(lambda found: f"## {found[1]}\n{found[2]}```text\n{help_of(found[1])}\n```\n", text)


def help_of(command: str) -> str:
    """Return what `imlp-audit COMMAND --help` prints at 80 columns."""
    printed = CliRunner().invoke(make_app(), [*command.split(), "--help"], prog_name="imlp-audit").stdout
    return "\n".join(line.rstrip() for line in printed.splitlines()).strip()


def hosts_page() -> str:
    """List one small model of each timm module whose MLPs the IMLP block can replace, and why the others cannot."""
    working, rejected = [], dict[str, list[str]]()
    for module, name, outcome in _swapped():
        if isinstance(outcome, int):
            working.append(f"| `{module}` | `{name}` | {outcome} |")
        else:
            rejected.setdefault(_reason(outcome, name), []).append(f"`{module}` (`{name}`)")
    reasons = (f"- {reason}: {', '.join(models)}" for reason, models in rejected.items())
    return "\n".join([*_HOSTS_INTRODUCTION, *working, "", "## What is rejected", "", *reasons, ""])


def _swapped() -> Iterator[tuple[str, str, int | str]]:
    for module in timm.list_modules():
        name = _smallest(timm.list_models(module=module))
        yield module, name, replaced_mlps(name)


def replaced_mlps(name: str) -> int | str:
    """Replace the MLPs of a model of timm by IMLP blocks; return how many there are, or why it is rejected."""
    recipe = Recipe.model_validate({"timm": name, "mlp": {"imlp": {"ratio": 2, "kernel": 3}}})
    key = ModelKey.of(recipe, PaperReading(imlp=PRINTED))
    facts = dict(measure_models({key: Need(work=True)}, lambda step: None))[key]
    return facts.message if isinstance(facts, Failure) else len(facts.mlps)


def _smallest(names: list[str]) -> str:
    """Guess the smallest of some models by their names."""
    small = next((found for word in _SMALL if (found := [name for name in names if word in name])), names)
    return min(small, key=len)


def _reason(message: str, name: str) -> str:
    """Return why a model was rejected, without its name and without the advice after it."""
    return re.sub(r"^\S+: ", "", message.partition(";")[0].replace(f"{name} has", "it has"))


if __name__ == "__main__":
    main()
