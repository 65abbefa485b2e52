"""What a command adds to a file, and nothing else in it changes."""

from __future__ import annotations

import pytest
import yaml

from imlp_audit.errors import UsageError
from imlp_audit.records.finding import Finding, FindingKind
from imlp_audit.spec.edit import draft_ids, with_drafts

DRAFT = Finding(
    id="a",
    paper="p",
    title="A default title",
    kind=FindingKind.ASK,
    why='It "differs": 2×.',
    checks=("p/1/x", "p/1/y"),
)
DRAFTS = {"new": DRAFT}
INNER = "findings:\n    - id: old"


def entry(indent: str) -> str:
    lines = (
        "- id: new",
        '  title: ""',
        "  kind: ask",
        '  why: "It \\"differs\\": 2×."',
        "  checks:",
        "    - p/1/x",
        "    - p/1/y",
    )
    return "".join(f"{indent}{line}\n" for line in lines)


@pytest.mark.parametrize(
    ("taken", "ids"),
    [
        ((), ["a", "a-2", "a-3"]),
        (("a",), ["a-2", "a-3", "a-4"]),
        (("a-2",), ["a", "a-3", "a-4"]),
        (("a-3", "b"), ["a", "a-2", "a-4"]),
    ],
)
def test_an_id_that_is_taken_gets_the_next_number(taken: tuple[str, ...], ids: list[str]) -> None:
    assert list(draft_ids([DRAFT] * 3, taken)) == ids


@pytest.mark.parametrize(
    ("before", "head", "indent", "tail"),
    [
        (None, "paper: p\nfindings:\n", "  ", ""),
        ("paper: p\n", "paper: p\nfindings:\n", "  ", ""),
        ("paper: p\nfindings:\n", "paper: p\nfindings:\n", "  ", ""),
        ("paper: p\nfindings: # none yet\n\n\n", "paper: p\nfindings: # none yet\n", "  ", ""),
        ("findings:\n- id: old\npaper: p\n", "findings:\n- id: old\n", "", "paper: p\n"),
        ("findings:\npaper: p\n", "findings:\n", "  ", "paper: p\n"),
        (f"{INNER}\n\n# more\n\npaper: p", f"{INNER}\n\n# more\n", "    ", "\npaper: p\n"),
        (
            "x:\n      - a\nfindings:\n- id: old\ny:\n   - b\n",
            "x:\n      - a\nfindings:\n- id: old\n",
            "",
            "y:\n   - b\n",
        ),
    ],
)
def test_drafts_come_at_the_end_of_the_findings(before: str | None, head: str, indent: str, tail: str) -> None:
    after = with_drafts(before, "p", DRAFTS, "p.yaml")
    assert after == head + entry(indent) + tail
    *_, last = yaml.safe_load(after)["findings"]
    assert last == {"id": "new", "title": "", "kind": "ask", "why": DRAFT.why, "checks": ["p/1/x", "p/1/y"]}


def test_findings_in_flow_style_are_refused() -> None:
    with pytest.raises(UsageError, match=r"p\.yaml has no `findings:` in a block of lines of its own"):
        with_drafts("paper: p\nfindings: []\n", "p", DRAFTS, "p.yaml")
