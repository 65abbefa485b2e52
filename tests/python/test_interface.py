"""What `import imlp_audit` offers; docs/python.md is run as it stands."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest
import torch
from torch import nn

import imlp_audit
from imlp_audit.count import from_python
from imlp_audit.count.ledger import measure
from imlp_audit.errors import UsageError
from tests.cli.running import MODULE, spawn

ROOT = Path(__file__).parents[2]


def test_the_documentation_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    spec = next(block for block in readme.split("```yaml\n")[1:] if block.startswith("paper: mypaper"))
    (tmp_path / "mypaper.yaml").write_text(spec.partition("```")[0], encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    found = doctest.testfile(str(ROOT / "docs" / "python.md"), module_relative=False)
    assert (found.failed, found.attempted > 5) == (0, True)


def test_docstrings_with_examples_run() -> None:
    found = doctest.testmod(from_python)
    assert (found.failed, found.attempted > 3) == (0, True)


def test_importing_is_light() -> None:
    code = "import sys, imlp_audit, imlp_audit.cli.pytest_plugin; print(*sys.modules)"
    loaded = spawn("-c", code, cwd=ROOT, command=MODULE[:1]).out.split()
    assert not {"torch", "numpy", "pydantic", "yaml", "rich", "typer", "imlp_audit.spec"} & set(loaded)


def test_what_is_public_is_there() -> None:
    assert all(getattr(imlp_audit, name) for name in imlp_audit.__all__)
    with pytest.raises(AttributeError, match="no attribute 'adit'"):
        imlp_audit.adit  # noqa: B018
    with pytest.raises(UsageError):
        imlp_audit.audit("nobody")


def test_a_model_is_counted_as_on_the_meta_device_and_stays_as_it_is() -> None:
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Flatten(), nn.LazyLinear(5))
    model(torch.zeros(2, 3, 8, 8))
    model.train()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    found = imlp_audit.measure(model, torch.zeros(1, 3, 8, 8))
    assert model.training
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    with torch.device("meta"):
        bare = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Flatten(), nn.Linear(144, 5))
        assert found.ledger.work == measure(bare, torch.empty(1, 3, 8, 8)).work
    assert found.parameters["all"] == 3 * 4 * 9 + 4 + 2 * 4 + 144 * 5 + 5
    assert found.flops["macs"] == 36 * 3 * 4 * 9 + 144 * 5


def test_parameters_that_are_shared_stay_shared() -> None:
    first = nn.Linear(4, 4)
    second = nn.Linear(4, 4)
    second.weight = first.weight
    assert imlp_audit.measure(nn.Sequential(first, second), torch.zeros(1, 4)).parameters["all"] == 16 + 4 + 4
