"""The page: whole, inert whatever a paper's text is, and nothing left out."""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode

import pytest

from imlp_audit.records.check import CheckKind
from imlp_audit.report.document import Table
from imlp_audit.report.page import render_page
from imlp_audit.report.paper import index_document, report_document

from .inert import Page
from .results import BENIGN, HOSTILE, full


def page(text: str = BENIGN) -> str:
    return render_page(report_document(full(text)))


@pytest.mark.daily(4)
@pytest.mark.parametrize("text", HOSTILE)
def test_a_reader_sees_the_text_as_the_paper_has_it(text: str) -> None:
    shown = " ".join("".join(Page(page(text)).texts).split())
    assert " ".join(text.split()) in shown


def test_a_page_needs_nothing_else_and_allows_nothing_else() -> None:
    written = page()
    found = Page(written)
    assert not any(tag in ("link", "iframe", "object", "embed", "base", "form") for tag, _ in found.elements)
    assert not found.values("src")
    assert not found.values("style")
    (policy,) = [content for content in found.values("content") if "default-src" in content]
    for tag, directive in (("style", "style-src"), ("script", "script-src")):
        (inside,) = re.findall(f"<{tag}>(.*?)</{tag}>", written, re.DOTALL)
        digest = b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy


def test_every_link_within_a_page_leads_somewhere_and_ids_are_unique() -> None:
    found = Page(page())
    ids = found.values("id")
    assert len(ids) == len(set(ids))
    targets = {target[1:] for target in found.values("href") if target.startswith("#")}
    assert targets <= set(ids)
    assert len(targets) > 20


def test_every_check_is_on_the_page() -> None:
    ids = set(Page(page()).values("id"))
    for check in full().checks:
        name = check.id.partition(".")[0] if check.kind is CheckKind.DELTA else check.id
        assert name in ids or (check.kind is CheckKind.EQUATION and check.id in page()), check.id


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("25 557 032 parameters", "25\xa0557\xa0032 parameters"),
        ("in [5 715 000, 5 725 000) or 1 234.5", "in [5\xa0715\xa0000, 5\xa0725\xa0000) or 1\xa0234.5"),
        ("x 1 and 3 images, 12 1234", "x 1 and 3 images, 12 1234"),
        ("poolformer_s24_imlp: 5", "poolformer_<wbr>s24_<wbr>imlp: 5"),
        ("(imlp/claims/profit_becomes_marginal)", "(imlp/<wbr>claims/<wbr>profit_<wbr>becomes_<wbr>marginal)"),
        ("x" * 40, f"{'x' * 16}<wbr>{'x' * 16}<wbr>{'x' * 8}"),
        ("deit_s at x_1", "deit_s at x_1"),
    ],
)
def test_a_number_is_not_broken_and_a_long_word_between_its_parts(text: str, shown: str) -> None:
    assert f">{shown}</td>" in render_page((Table(("a",), ((text,),)),))


def test_a_known_verdict_has_one_colour_on_the_whole_page() -> None:
    written = page()
    for name, colour in (("acknowledged", "known"), ("differs", "bad")):
        for kind in ("claims", "equations", "marks/1", "columns/1", "repeats/1"):
            after = written.partition(f'id="p/{kind}/{name}"')[2]
            assert re.findall(r'<span class="(\w+)">differs<', after)[0] == colour, (kind, name)


def test_an_explanation_has_what_the_verdict_rests_on() -> None:
    written = page()
    (cell,) = re.findall(r'<div class="why" id="p/1/r1/params">(.*?)</div>', written, re.DOTALL)
    for part in ("reproduced_under", "5\xa0717\xa0416", "(gap -0.3 in", "fitted:", "weak:", "395 of 400 wrong", "ask"):
        assert part in cell, part
    assert '<a href="#finding/p/unexplained-1-params-cell"' in written


def test_an_index_leads_to_the_pages() -> None:
    found = Page(render_page(index_document(full())))
    targets = [target for target in found.values("href") if target.startswith("p.")]
    assert set(targets) == {"p.html", "p.md"}
