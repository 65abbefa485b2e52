"""Pages in a browser: no complaints, no scrolling sideways, everything reachable by keyboard, nothing that runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from imlp_audit.report.page import render_page
from imlp_audit.report.paper import report_document

from .browser import Browser, open_browser, open_page
from .results import HOSTILE, full

LONG = "a_word_that_is_far_longer_than_a_phone_is_wide_and_has_no_place_to_break_it_at_all_" * 3
TOO_WIDE = """[...document.querySelectorAll('*')].filter(
    e => !e.closest('nav') && e.getBoundingClientRect().right > innerWidth + 1  // the contents scroll on a phone
).length"""

pytestmark = pytest.mark.slow  # starting a browser takes seconds; test_page.py reads the same pages without one


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as started:
        yield started


def written(folder: Path, text: str = "plain words") -> Path:
    file = folder / "page.html"
    file.write_text(render_page(report_document(full(text))), encoding="utf-8")
    return file


@pytest.mark.parametrize("width", [390, 920, 1200])
@pytest.mark.parametrize("text", ["plain words", LONG])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wider_than_the_screen(browser: Browser, tmp_path: Path, width: int, text: str, scheme: str) -> None:
    page, complaints = open_page(browser, written(tmp_path, text), width, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.evaluate(TOO_WIDE) == 0
    for cell in page.query_selector_all("details.cell > summary"):
        cell.evaluate("summary => { summary.parentElement.open = true }")
        assert page.evaluate("document.documentElement.scrollWidth") == width
    assert complaints == []


def test_text_runs_nothing(browser: Browser, tmp_path: Path) -> None:
    hostile = "<img src=x onerror=alert(1)>\"'><script>alert(1)</script>"
    for text in (*HOSTILE, hostile):
        page, complaints = open_page(browser, written(tmp_path, text))
        assert complaints == [], text
        page.context.close()


def test_the_policy_stops_what_would_get_past_the_escaping(browser: Browser, tmp_path: Path) -> None:
    file = written(tmp_path)
    planted = "<script>document.title = 'ran'</script><img src='https://example.org/x.png'>"
    file.write_text(file.read_text(encoding="utf-8").replace("</main>", f"{planted}</main>"), encoding="utf-8")
    page, complaints = open_page(browser, file)
    assert page.title() != "ran"
    assert any("Content Security Policy" in one for one in complaints)


def test_every_explanation_is_reached_and_opened_by_keyboard(browser: Browser, tmp_path: Path) -> None:
    page, _ = open_page(browser, written(tmp_path))
    cells = len(page.query_selector_all("details.cell"))
    opened = set()
    for _ in range(400):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('details.cell > summary')"):
            page.keyboard.press("Enter")
            opened.add(page.evaluate("document.activeElement.nextElementSibling.id"))
            assert page.evaluate("document.activeElement.nextElementSibling.checkVisibility()")
            page.keyboard.press("Escape")
            assert not page.evaluate("document.activeElement.parentElement.open")
    assert len(opened) == cells > 5


def test_filters_leave_the_rows_that_are_asked_for(browser: Browser, tmp_path: Path) -> None:
    page, _ = open_page(browser, written(tmp_path))
    shown = "[...document.querySelectorAll('tbody tr')].filter(row => !row.hidden).length"
    everything = page.evaluate(shown)
    page.get_by_label("only what does not pass").check()
    failing = page.evaluate(shown)
    assert 0 < failing < everything
    assert page.evaluate(
        "[...document.querySelectorAll('table.printed tbody tr')].every(row => row.hidden == "
        "!row.querySelector('.bad, .known, .broken'))"
    )
    page.get_by_label("only what does not pass").uncheck()
    page.get_by_label("Filter rows").fill("p/marks/1/differs")
    assert 0 < page.evaluate(shown) < everything
    page.get_by_label("Filter rows").fill("")
    assert page.evaluate(shown) == everything
    page.get_by_role("button", name="Next that does not pass").click()
    assert page.evaluate("document.activeElement.matches('details.cell[open] > summary')")


def test_a_link_to_a_number_opens_its_explanation(browser: Browser, tmp_path: Path) -> None:
    page, _ = open_page(browser, written(tmp_path))
    page.query_selector("a[href='#p/1/r2/params']").click()
    assert page.evaluate("document.getElementById('p/1/r2/params').checkVisibility()")


def test_without_its_script_a_page_is_whole(browser: Browser, tmp_path: Path) -> None:
    page, _ = open_page(browser, written(tmp_path), java_script_enabled=False)
    assert page.query_selector("#tools").inner_text() == ""
    page.query_selector("details.cell > summary").click()
    assert page.query_selector(".why").is_visible()


def test_the_printed_page_shows_what_is_folded(browser: Browser, tmp_path: Path) -> None:
    page, _ = open_page(browser, written(tmp_path))
    folded = page.query_selector("details.fold table")
    assert not folded.is_visible()
    page.emulate_media(media="print")
    assert folded.bounding_box()["height"] > 10
    assert not page.query_selector("nav").is_visible()
    assert page.pdf().startswith(b"%PDF")


@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (1200, "dark"), (390, "light")])
def test_axe_finds_no_barrier(browser: Browser, tmp_path: Path, width: int, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")
    page, _ = open_page(browser, written(tmp_path), width, color_scheme=scheme, bypass_csp=True)
    page.query_selector("details.cell > summary").click()
    page.evaluate((Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document)")
    assert [(one["id"], one["nodes"][0]["html"]) for one in found["violations"]] == []
    assert len(found["passes"]) > 20
