"""Which tests of planted errors are part of the daily run."""

from __future__ import annotations

import re

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of each test's cases that plant the same error, or plant one in the same module, all but the first are slow."""
    seen = set()
    for item in items:
        function, _, case = item.name.partition("[")
        if not item.path.name.startswith("test_planted_errors") or not case:
            continue
        family = item.path, function, re.split(r"[-:]", case)[0]
        if family in seen:
            item.add_marker(pytest.mark.slow)
        seen.add(family)
