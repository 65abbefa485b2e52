"""The page from_a_table.md, run as it stands."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.running import call, spawn

PAGE = (Path(__file__).parent.parent / "docs" / "from_a_table.md").read_text(encoding="utf-8")
STEPS = re.findall(r"^```sh\nimlp-audit (.*?)\n```\n\n```text\n(.*?)^```", PAGE, re.M | re.S)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the table that the page shows."""
    (table,) = re.findall(r"^```latex\n(.*?)^```", PAGE, re.M | re.S)
    (tmp_path / "convnext.tex").write_text(table, encoding="utf-8")
    return tmp_path


def test_a_published_table_becomes_a_spec_with_models_for_all_rows(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    done = json.loads(call("init", "convnext.tex", "-f", "json").out)
    assert (done["rows"], done["numbers"], done["models"]) == (6, 18, 6)
    spec = (folder / "convnext.yaml").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^```yaml\n( +- id: .*?)^```", PAGE, re.M | re.S)
    assert shown in spec


@pytest.mark.slow
def test_every_command_of_the_page_prints_what_the_page_shows(folder: Path) -> None:
    assert [command.split()[0] for command, _ in STEPS] == ["init", "lint", "verify"]
    for command, shown in STEPS:
        done = spawn(*command.split(), cwd=folder, COLUMNS="80")
        printed = " ".join(done.out.split())
        assert [line for line in shown.splitlines() if " ".join(line.split()) not in printed] == []
        assert done.code == (1 if command.startswith("verify") else 0)


@pytest.mark.slow
def test_the_page_has_the_measured_values(folder: Path) -> None:
    spawn("init", "convnext.tex", cwd=folder)
    done = spawn("verify", "convnext.yaml", "-f", "json", "--no-progress", cwd=folder)
    checks = {check["id"]: check for check in json.loads(done.out)["checks"]}
    counted = [check for name, check in checks.items() if name.endswith(("/params", "/flops"))]
    failing = {name: check["measured"] for name, check in checks.items() if check["verdict"] == "differs"}
    assert len(counted) == 12
    assert failing == {
        "convnext/1/convnext_t/params": "28589128",
        "convnext/1/convnext_b_384/flops": "45122117632",
    }
    for value in failing.values():
        assert f"{int(value):,}".replace(",", " ") in PAGE
