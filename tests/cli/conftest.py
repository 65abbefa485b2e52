from __future__ import annotations

from pathlib import Path

import pytest

from .papers import write_all
from .running import Outcome, call


@pytest.fixture(scope="session")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with tiny papers under `specs`; nobody writes to it."""
    return write_all(tmp_path_factory.mktemp("papers"))


@pytest.fixture
def here(papers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to stand in and write to, with the tiny papers in it."""
    (tmp_path / "specs").symlink_to(papers / "specs", target_is_directory=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NO_COLOR", raising=False)
    return tmp_path


@pytest.fixture(scope="session")
def verified(papers: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Outcome, Path]:
    """One audit of all the papers: how it ended, and the folder with its reports."""
    folder = tmp_path_factory.mktemp("verified")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(papers)
        outputs = [f"-o{name}:{folder / file}" for name, file in (("json", "r.json"), ("markdown", "r.md"))]
        return call("verify", "--no-progress", *outputs), folder
