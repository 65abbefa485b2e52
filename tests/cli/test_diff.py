"""`imlp-audit diff`: two files, and an exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .running import Outcome, call
from .test_reports import result


@pytest.fixture
def audits(here: Path) -> Path:
    """Audits of one number: as it was, worse, and of another paper."""
    texts = {
        "a": result(),
        "worse": result(verdict="differs", measured="5800000"),
        "other": result().replace('"id": "p', '"id": "q'),
    }
    for name, text in texts.items():
        (here / f"{name}.json").write_text(text, encoding="utf-8")
    return here


@pytest.mark.usefixtures("audits")
def test_equal_audits_have_no_difference() -> None:
    assert call("diff", "a.json", "a.json") == Outcome(0, "No difference.\n", "")


@pytest.mark.usefixtures("audits")
def test_one_that_got_worse_is_an_exit_code_of_one() -> None:
    done = call("diff", "a.json", "worse.json")
    assert (done.code, done.err) == (1, "")
    assert "Got worse (1 check)\n- p/1/a/params: reproduced → differs\n" in done.out
    assert call("diff", "worse.json", "a.json").code == 0


@pytest.mark.usefixtures("audits")
def test_every_format_has_the_change() -> None:
    found = json.loads(call("diff", "a.json", "worse.json", "-f", "json").out)
    assert (found["format"], found["worse"][0]["id"]) == ("imlp-audit/diff/3", "p/1/a/params")
    for form, written in (("markdown", "`p/1/a/params`: reproduced → **differs**"), ("html", "p/1/a/params")):
        assert written in call("diff", "a.json", "worse.json", "-f", form).out


@pytest.mark.usefixtures("audits")
def test_audits_of_different_papers_are_not_compared() -> None:
    done = call("diff", "a.json", "other.json")
    assert (done.code, done.out) == (2, "")
    assert done.err == "imlp-audit: a.json audits p and other.json audits q; give two audits of the same papers\n"
