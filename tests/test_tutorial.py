"""The pages from_a_table.md and own_module.md, run as they stand."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from imlp_audit.count.build_and_count import measure_models
from imlp_audit.count.conventions import FLOPS_CONVENTIONS, total
from imlp_audit.count.facts import ModelFacts, ModelKey, Need
from imlp_audit.spec.load import load
from tests.cli.running import call

DOCS = Path(__file__).parent.parent / "docs"
PAGE, OWN = ((DOCS / name).read_text(encoding="utf-8") for name in ("from_a_table.md", "own_module.md"))
STEP = re.compile(r"^```sh\nimlp-audit (.*?)\n```\n\n```text\n(.*?)^```", re.M | re.S)
STEPS = STEP.findall(PAGE)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the table that the page shows."""
    (table,) = re.findall(r"^```markdown\n(.*?)^```", PAGE, re.M | re.S)
    (tmp_path / "convnext.md").write_text(table, encoding="utf-8")
    return tmp_path


def test_a_published_table_becomes_a_spec_with_models_for_all_rows(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    assert "6 rows, 18 numbers; 6 labels" in " ".join(call("init", "convnext.md").out.split())


@pytest.mark.slow
def test_every_command_of_the_page_prints_what_the_page_shows(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert [commands.split()[0] for commands, _ in STEPS] == ["init", "verify", "accept"]
    codes = []
    for commands, shown in STEPS:
        for command in commands.split(" && imlp-audit "):
            done = call(*command.split(), COLUMNS="80")
            codes.append(done.code)
        printed = " ".join(f"{done.out} {done.err}".split())
        assert [line for line in shown.splitlines() if " ".join(line.split()) not in printed] == []
    assert codes == [0, 0, 0]
    assert "model: {timm: convnext_small}" in Path("convnext.yaml").read_text("utf-8")
    assert "model: {timm: convnext_small}" in PAGE


@pytest.mark.slow
def test_the_page_has_the_measured_values(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    call("init", "convnext.md")
    call("accept", "convnext.yaml")
    spec = Path("convnext.yaml")
    given = re.sub(
        r"candidates: \[\{timm: convnext_tiny\}.*\n.*named: true",
        "model: {timm: convnext_tiny}",
        spec.read_text("utf-8"),
    )
    spec.write_text(given, encoding="utf-8")
    done = call("verify", "convnext.yaml", "-f", "json", "--no-progress")
    checks = {check["id"]: check for check in json.loads(done.out)["checks"]}
    counted = [check for name, check in checks.items() if name.endswith(("/params", "/flops"))]
    assert len(counted) == 12
    failing = checks["convnext/1/convnext_t/params"]
    assert (failing["verdict"], failing["measured"]) == ("differs", "28589128")
    assert "28 589 128" in PAGE


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A folder with the module and the spec that the other page shows."""
    for name, text in re.findall(r"`(\w+\.(?:py|yaml))`:\n\n```\w+\n(.*?)^```", OWN, re.M | re.S):
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_the_module_of_the_page_counts_by_its_formula(own: Path) -> None:
    def counts(width: int, depth: int, kernel: int, side: int) -> tuple[int, int]:
        places = (side // 7) ** 2
        layer = width * (kernel**2 + 1 + 2) + width * (width + 1 + 2)
        head = width * 1000
        macs = places * (3 * 49 * width + depth * (width * kernel**2 + width**2)) + head
        return width * (3 * 49 + 1 + 2) + depth * layer + head + 1000, macs

    found = {}
    for row in load([str(own / "mypaper.yaml")], trust_code=True).papers[0].rows:
        for column in ("params", "flops", "large"):
            cell = row.cell(column)
            assert cell is not None and cell.recipe is not None  # noqa: PT018
            key = ModelKey(cell.recipe, None)
            facts = dict(measure_models({key: Need(work=True)}, lambda _: None))[key]
            assert isinstance(facts, ModelFacts) and facts.ledger is not None  # noqa: PT018
            number = facts.parameters["all"] if column == "params" else total(facts.ledger, FLOPS_CONVENTIONS["macs"])  # type: ignore[index]
            found[row.row.id, column] = number
    small, large = (768, 32, 7), (1536, 20, 9)
    assert found == {
        ("convmixer_768_32", "params"): counts(*small, 224)[0],
        ("convmixer_768_32", "flops"): counts(*small, 224)[1],
        ("convmixer_768_32", "large"): counts(*small, 448)[1],
        ("convmixer_1536_20", "params"): counts(*large, 224)[0],
        ("convmixer_1536_20", "flops"): counts(*large, 224)[1],
        ("convmixer_1536_20", "large"): counts(*large, 448)[1],
    }


@pytest.mark.slow
def test_every_command_of_the_page_on_modules_prints_what_the_page_shows(
    own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(own)
    steps = STEP.findall(OWN)
    assert [command.split()[0] for command, _ in steps] == ["lint", "verify", "explain", "verify", "solve"]
    for command, shown in steps:
        done = call(*command.split(), COLUMNS="80")
        printed = " ".join(done.out.split())
        assert [line for line in shown.splitlines() if " ".join(line.split()) not in printed] == []
        assert done.code == (1 if command.startswith("verify") else 0)
