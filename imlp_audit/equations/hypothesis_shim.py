"""The one place that uses a private name of hypothesis.

hypothesis draws, now and then, literals that it finds in the source of modules in `sys.modules` outside site-packages.
Which those are depends on what else is imported and on how this package is installed, so that equal searches would try
other examples, and could shrink to another counterexample. It has no public switch for that, so its provider's private
property is replaced while a search runs. The bound of hypothesis in pyproject.toml is the range that this was tried
with; tests/equations/test_search.py fails where the property is gone or no longer decides what is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from hypothesis.internal.conjecture.providers import HypothesisProvider
from hypothesis.internal.constants_ast import Constants


@contextmanager
def no_literals() -> Iterator[None]:
    """Let hypothesis draw no literals of the modules that happen to be imported."""
    with patch.object(HypothesisProvider, "_local_constants", Constants()):
        yield
