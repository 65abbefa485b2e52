"""Chromium without a window, for tests of pages. Debian's package is installed by `.ci/run`."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

if TYPE_CHECKING:
    from pathlib import Path

Browser: TypeAlias = Any  # playwright's; it may be missing
Page: TypeAlias = Any


@contextmanager
def open_browser() -> Iterator[Browser]:
    """Start Chromium, or skip the test where it or its client is missing."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium is not installed")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()


def open_page(browser: Browser, file: Path, width: int = 1200, **settings: object) -> tuple[Page, list[str]]:
    """Open a file; return the page, and what the browser complains of."""
    page = browser.new_context(viewport={"width": width, "height": 844}, **settings).new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: complaints.append(request.url) if request.url[:5] not in _LOCAL else None)
    page.goto(file.as_uri())
    return page, complaints


_LOCAL = ("file:", "data:")
