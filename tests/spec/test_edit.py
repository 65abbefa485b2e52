"""What a command adds to a file, and nothing else in it changes."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from imlp_audit.errors import UsageError
from imlp_audit.records.finding import Finding, FindingKind
from imlp_audit.solve.space import readings_of
from imlp_audit.spec.edit import (
    draft_ids,
    read_text,
    with_convention,
    with_drafts,
    with_fit,
    with_reading,
    with_rounding,
)
from imlp_audit.spec.reader import read_spec
from imlp_audit.spec.schema import ConventionFit
from imlp_audit.spec.targets import find

FILE = """\
# a comment above
paper: tiny
about:
  title: "A  title"   # with a comment
  authors: An author
  version: v1
  conventions:
    # what it is
    own: {linear: 1}   # and why

  # about the readings
  readings:
    plain:
      fc1_bias: {value: yes, because: "x"}
# after it all
table: "1"
"""
AXES = {"fc1_bias": ("no", 'the "numbers" say so: 4 of 5'), "pooler": ("yes", "free")}


def added(before: str, after: str) -> list[str]:
    """Return the lines that were added; fails where a line was changed, moved or lost."""
    left = after.split("\n")
    kept = before.split("\n")
    new = []
    for line in left:
        if kept and line == kept[0]:
            kept.pop(0)
        else:
            new.append(line)
    assert kept == []
    return new


def test_a_reading_is_added_at_the_end_of_the_readings() -> None:
    after = with_reading(FILE, "found", AXES, "tiny.yaml")
    assert added(FILE, after) == [
        "    found:",
        "      fc1_bias:",
        "        value: no",
        '        because: "the \\"numbers\\" say so: 4 of 5"',
        "      pooler:",
        "        value: yes",
        '        because: "free"',
    ]
    assert after.index("    plain:") < after.index("    found:") < after.index("# after it all")


def test_a_convention_is_added_with_its_evidence_above_it() -> None:
    after = with_convention(FILE, "found", {"linear": 1, "softmax": 5}, "Found by solve.", "tiny.yaml")
    assert added(FILE, after) == ["    # Found by solve.", "    found: {linear: 1, softmax: 5}"]
    assert "own: {linear: 1}   # and why\n    # Found by solve.\n    found: " in after


def test_a_block_is_made_where_there_is_none() -> None:
    about = "paper: tiny\nabout:\n  title: A\n  authors: B\n  version: v1\n\n# end\n"
    after = with_convention(about, "found", {"conv": 2}, "why", "tiny.yaml")
    assert after == about.replace("  version: v1\n", "  version: v1\n  conventions:\n    # why\n    found: {conv: 2}\n")


def test_line_ends_and_a_missing_one_at_the_end_stay() -> None:
    windows = FILE.replace("\n", "\r\n")
    after = with_convention(windows, "found", {"linear": 1}, "why", "tiny.yaml")
    assert after.replace("\r\n", "\n").count("\r") == 0
    assert after.count("\r\n") == after.count("\n")
    bare = "about:\n  conventions:\n    own: {linear: 1}"
    assert with_convention(bare, "found", {"conv": 1}, "why", "x").startswith(bare + "\n")


@pytest.mark.parametrize(
    "text",
    ["paper: tiny\nabout: {title: A, conventions: {own: {linear: 1}}}\n", 'paper: tiny\ntable: "1"\n', ""],
    ids=["flow", "none", "empty"],
)
def test_without_lines_of_its_own_nothing_is_written(text: str) -> None:
    with pytest.raises(UsageError, match=r"tiny\.yaml has no `about:` in a block of lines of its own"):
        with_convention(text, "found", {"linear": 1}, "why", "tiny.yaml")


def test_a_block_in_flow_style_is_refused_and_not_doubled() -> None:
    text = "about:\n  title: A\n  conventions: {own: {linear: 1}}\n"
    with pytest.raises(UsageError, match="conventions"):
        with_convention(text, "found", {"conv": 1}, "why", "tiny.yaml")


def test_a_name_that_is_taken_is_refused() -> None:
    with pytest.raises(UsageError, match=r"tiny\.yaml has reading 'plain' already; give another name"):
        with_reading(FILE, "plain", AXES, "tiny.yaml")
    with pytest.raises(UsageError, match=r"tiny\.yaml has convention 'own' already; give another name"):
        with_convention(FILE, "own", {"linear": 1}, "why", "tiny.yaml")


def test_rounding_rules_are_added_to_a_measure_without_any() -> None:
    after = with_rounding(FILE, "flops", ["half_up", "truncation"], "tiny.yaml")
    assert added(FILE, after) == ["  rounding_of:", "    flops: [half_up, truncation]"]
    last = with_rounding(after, "parameters", ["ceiling"], "tiny.yaml")
    assert added(after, last) == ["    parameters: [ceiling]"]
    taken = r"tiny\.yaml has rounding rules of flops already; write there: \[ceiling, half_up\]$"
    with pytest.raises(UsageError, match=taken):
        with_rounding(last, "flops", ["ceiling", "half_up"], "tiny.yaml")


@pytest.mark.parametrize("paper", ["imlp", "mixer_gmlp_coursework", "resmlp", "iffn_poster"])
def test_the_bundled_papers_stay_valid(paper: str, tmp_path: Path) -> None:
    path = next(file for one in find([paper]) for file in one.files if file.name == "paper.yaml")
    before = read_text(path)
    axes = {axis: (str(values[0]), "because") for axis, values in readings_of("imlp").axes.items()}
    after = with_reading(before, "found", axes, paper)
    after = with_convention(after, "found_too", {"linear": 1, "conv": 1}, "why", paper)
    assert len(added(before, after)) == after.count("\n") - before.count("\n")
    copy = tmp_path / "paper.yaml"
    copy.write_text(after, encoding="utf-8", newline="")
    spec, problems = read_spec(copy, "paper.yaml")
    assert problems == []
    assert spec is not None


def test_a_fit_is_added_as_a_block_that_the_schema_reads() -> None:
    fit = ConventionFit(
        cells=("tiny/1/a/flops", "tiny/1/b/flops"), undecided=("tiny/1/b/flops",), explained=7, of=8, by_chance=3
    )
    new = added(FILE, with_fit(FILE, "own", fit, "tiny.yaml"))
    assert new[0] == "  fitted:"
    assert ConventionFit.model_validate(yaml.safe_load("\n".join(new))["fitted"]["own"]) == fit


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
