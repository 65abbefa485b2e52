from __future__ import annotations

from pathlib import Path

import pytest

from .hostile import write_all


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the hostile corpus; nobody writes to it."""
    folder = tmp_path_factory.mktemp("hostile")
    write_all(folder)
    return folder
