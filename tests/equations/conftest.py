"""Which tests of planted errors are part of the daily run."""

from __future__ import annotations

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of each test's cases all but the first are slow; of ids "error: claim", all but the first of each error."""
    seen = set()
    for item in items:
        function, _, case = item.name.partition("[")
        if not item.path.name.startswith("test_planted_errors") or not case:
            continue
        family = item.path, function, case.partition(": ")[0] if ": " in case else ""
        if family in seen:
            item.add_marker(pytest.mark.slow)
        seen.add(family)
