"""What this machine calls itself."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest
import torch

from imlp_audit.bench import setup as module
from imlp_audit.bench.setup import hardware, processor


def test_the_processor_is_the_first_that_linux_lists(tmp_path: Path) -> None:
    file = tmp_path / "cpuinfo"
    lines = ["processor\t: 0", "model\t\t: 85", "model name\t: Intel(R) Xeon(R) Gold 6136 CPU @ 3.00GHz"]
    file.write_text("\n".join([*lines, "model name\t: another"]), encoding="utf-8")
    assert processor(file) == "Intel(R) Xeon(R) Gold 6136 CPU @ 3.00GHz"


def test_elsewhere_python_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "processor", lambda: "")
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    assert processor(tmp_path / "none") == "arm64"


@pytest.mark.parametrize(("count", "told"), [(1, "1 core"), (2, "2 cores")])
def test_cores_are_those_that_may_be_used(count: int, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "cores", lambda: count)
    assert hardware("cpu").endswith(f", {told}")


def test_a_gpu_is_named_before_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "Tesla V100")
    assert hardware("cuda") == f"Tesla V100 ({hardware('cpu')})"
