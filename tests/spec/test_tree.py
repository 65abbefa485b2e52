import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from imlp_audit.errors import Problem
from imlp_audit.files import MAX_SPEC_BYTES
from imlp_audit.spec.tree import (
    MAX_DEPTH,
    MAX_NODES,
    MAX_PROBLEMS,
    ListNode,
    MapNode,
    Mark,
    Node,
    Text,
    mark_at,
    parse_tree,
    plain,
    read_tree,
)

Found = tuple[int, int, str]


def read(text: str) -> tuple[Node | None, list[Problem]]:
    return parse_tree(text, "t.yaml")


def value_of(text: str) -> object:
    tree, problems = read(text)
    assert problems == []
    assert tree is not None
    return plain(tree)


def check(problems: list[Problem], expected: list[Found]) -> None:
    assert [(p.line, p.column) for p in problems] == [found[:2] for found in expected]
    for problem, (_, _, fragment) in zip(problems, expected, strict=True):
        assert fragment in problem.message


@pytest.mark.parametrize(
    "written",
    ["78.80", "010", "12:30", "yes", "null", "~", "1e3", "0x1F", "2001-01-01", "-12.6%", ".5", "on"],
)
def test_a_plain_scalar_stays_the_text_that_it_is(written: str) -> None:
    assert value_of(f"a: {written}\n") == {"a": written}
    assert value_of(f"{{a: [{written}]}}\n") == {"a": [written]}
    assert value_of(f"{written}: a\n") == {written: "a"}


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("a: ''\nb: \"\"\n", {"a": "", "b": ""}),
        ("a: {}\nb: []\n", {"a": {}, "b": []}),
        ("a: one\n   two\n", {"a": "one two"}),
        ("a: |\n  one\n  two\n", {"a": "one\ntwo\n"}),
        ("a: > # folded\n  one\n  two\n", {"a": "one two\n"}),
        ("---\na: 1 # one\n...\n", {"a": "1"}),
        ("a:\n- b: 1\n  c: 2\n- d\n", {"a": [{"b": "1", "c": "2"}, "d"]}),
        ("'<<': a\n? b\n: <<\n", {"<<": "a", "b": "<<"}),
        ("\ufeffa: 1\r\nb: 2\r\n", {"a": "1", "b": "2"}),
        ('a: "\\u00d7\\t\\n"\n', {"a": "\u00d7\t\n"}),
        ("a: \U0001f600\n", {"a": "\U0001f600"}),
        ("a: b?\nc: [d?]\n", {"a": "b?", "c": ["d?"]}),
    ],
)
def test_values(source: str, value: object) -> None:
    assert value_of(source) == value


REFUSED: list[tuple[str, list[Found]]] = [
    ("a: &x 1\n", [(1, 4, "anchor &x")]),
    ("a: &x\n  b: 1\n", [(1, 4, "anchor &x")]),
    ("a: [*x, b]\n", [(1, 5, "alias *x")]),
    ("*x : 1\n", [(1, 1, "alias *x")]),
    ("a: !!str 1\n", [(1, 4, "tag 'tag:yaml.org,2002:str'")]),
    ("a: ! 1\n", [(1, 4, "tag '!'")]),
    ("a: !!python/object/apply:os.system [x]\n", [(1, 4, "tag 'tag:yaml.org,2002:python/object/apply")]),
    ("a: !e!x 1\n", [(1, 4, "tag")]),
    ("<<: 1\n", [(1, 1, "merge key")]),
    ("a: 1\nb:\n  <<: {c: 1}\n", [(3, 3, "merge key")]),
    ("a: 1\nb: 2\na: 3\n", [(3, 1, "'a' was given on line 1")]),
    (f"{'k' * 40}: 1\n{'k' * 40}: 2\n", [(2, 1, f"'{'k' * 40}' was given on line 1")]),
    (f"{'k' * 41}: 1\n{'k' * 41}: 2\n", [(2, 1, f"'{'k' * 40}...' was given on line 1")]),
    ("a: 1\n'a': 2\n\"a\": 3\n", [(2, 1, "on line 1"), (3, 1, "on line 1")]),
    ("{1: a, 1.0: b, 01: c, 1: d}\n", [(1, 23, "'1' was given on line 1")]),
    ("[a]: 1\n", [(1, 1, "a key must be text")]),
    ("? {a: 1}\n: 2\n", [(1, 3, "a key must be text")]),
    ("a:\nb: 1\n", [(1, 3, "a value is missing")]),
    ("a: 1\nb:", [(2, 3, "a value is missing")]),
    ("a: # none\n", [(1, 3, "a value is missing")]),
    ("a:\n  -\n  - b\n", [(2, 4, "a value is missing")]),
    ("{a: 25,557}\n", [(1, 11, "a number with commas needs quotes: '25,557'")]),
    ("{a, b: 1}\n", [(1, 3, "a value is missing")]),
    ("?\n: 1\n", [(1, 2, "a key is missing")]),
    ("a: 1\n---\nb: 2\n", [(2, 1, "second document")]),
    ("a: 1\n---\nb: 2\n---\nb: 2\n", [(2, 1, "second document"), (4, 1, "second document")]),
    ("", [(1, 1, "the file is empty")]),
    ("\n# nothing\n", [(1, 1, "the file is empty")]),
    ("---\n", [(2, 1, "a value is missing")]),
    ("%YAML 1.1\n---\na: 1\n", [(1, 1, "directive")]),
]


@pytest.mark.parametrize(("source", "expected"), REFUSED)
def test_refused_structures(source: str, expected: list[Found]) -> None:
    check(read(source)[1], expected)
    check(read(source.replace("\n", "\r\n"))[1], expected)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a: {b:[c]}\n", [(1, 5, "a space is missing after this ':'")]),
        ("a: | b\n", [(1, 4, "after | or >")]),
        ("a: b: c\n", [(1, 5, "a ':' cannot stand here")]),
        ("a: 1\nb\nc: 2\n", [(2, 1, "a key without a ':'")]),
        ("a: [b, c\n", [(2, 1, "a ',' or ']' is missing here (in what begins on line 1)")]),
        ("a: {b: 1, c: 2\nd: 3\n", [(2, 2, "a ',' or '}' is missing here (in what begins on line 1)")]),
        ("a: [b\n", [(2, 1, "a ',' or ']' is missing")]),
        ("a: 1\n b: 2\n", [(2, 3, "a ':' cannot stand here")]),
        ("a:\n  b: 1\n c: 2\n", [(3, 2, "indentation does not match the lines above")]),
        ("- a\nb: 1\n", [(2, 1, "indentation does not match the lines above")]),
        ("x: 1\na: 'b\nc: d\n", [(2, 4, "the quote that begins here is not closed")]),
        ('x: 1\na: "b\nc: {d: "4"}\n', [(2, 4, "the quote that begins here is closed only on line 3")]),
        ("x: 1\na: 'b\nc: 'd'\n", [(2, 4, "the quote that begins here is closed only on line 3")]),
        ('a: "b\n  c"\nd: [1\n', [(4, 1, "a ',' or ']' is missing here (in what begins on line 3)")]),
        ("a: 1\n\tb: 2\n", [(2, 1, "a tab (U+0009) is refused")]),
        ('a: "b\n---\n', [(1, 4, "the quote that begins here is not closed")]),
        ('a: "\\d"\n', [(1, 4, "\\ that begins no escape")]),
        ('a: "\\x1"\n', [(1, 4, "\\ that begins no escape")]),
        ("a: @b\n", [(1, 4, "cannot begin with this character")]),
        ("a: %b\n", [(1, 4, "cannot begin with this character")]),
        ("a: `b`\n", [(1, 4, "cannot begin with this character")]),
        ("a: *\n", [(1, 4, "cannot begin with & or *")]),
        ("a: - b\n", [(1, 4, "a '-' or '?' cannot stand here")]),
        ("a: !<b 1\n", [(1, 4, "a tag (!...) is refused")]),
        ("'a' 'b'\n", [(1, 5, "does not belong to the value above")]),
        ("a: [,]\n", [(1, 5, "a key or a value is missing here")]),
        ("{: 1}\n", [(1, 2, "a key or a value is missing here")]),
        ("\U0001f600: '\u00e9\n", [(1, 4, "not closed")]),
    ],
)
def test_syntax_errors_in_plain_words_and_without_a_tree(source: str, expected: list[Found]) -> None:
    tree, problems = read(source)
    assert tree is None
    check(problems, expected)


@pytest.mark.parametrize(
    "character",
    "\x00\x07\x08\x0b\x0c\x1b\x1f\x7f\x80\x85\x9f\t\r\u2028\u2029\u202a\u202b\u202c\u202d\u202e"
    "\u2066\u2067\u2068\u2069\ufeff\ufffe\uffff\ud800\udfff",
)
def test_refused_characters_are_placed(character: str) -> None:
    name = "a tab (U+0009) is refused" if character == "\t" else f"U+{ord(character):04X} is refused"
    check(read(f"a: 1\nbc: d{character}e\n")[1], [(2, 6, name)])
    check(read(f"a: 1\n# {character}.\n")[1], [(2, 3, name)])


@pytest.mark.parametrize("line", ["a: x\ty", "\tc: 2", " \tc: 2"])
def test_refused_characters_are_reported_before_anything_else(line: str) -> None:
    """Behind a tab nothing is indented as it looks."""
    tree, problems = read(f"a: 1\n{line}\n")
    assert tree is None
    check(problems, [(2, line.index("\t") + 1, "a tab (U+0009) is refused")])


@pytest.mark.parametrize("escape", ["\\0", "\\e", "\\r", "\\N", "\\L", "\\x7f", "\\u202e", "\\u2066", "\\U0000FEFF"])
def test_an_escape_brings_in_no_refused_character(escape: str) -> None:
    check(read(f'a: 1\nb: "c{escape}"\n')[1], [(2, 4, "an escape in this text stands for U+")])


@pytest.mark.parametrize("escape", ["\\ud800", "\\uDFFF", "\\U0000d800", "\\U00110000", "\\UFFFFFFFF"])
def test_an_escape_names_a_character(escape: str) -> None:
    check(read(f'a: "b{escape}"\n')[1], [(1, 4, "\\ that begins no escape")])


def test_all_problems_of_a_file_are_found_in_one_pass_and_in_order() -> None:
    source = "a: &x 1\nb: *x\nc:\na: 2\nd: !t 3\n<<: 4\n[e]: 5\ng: 'h\n"
    tree, problems = read(source)
    assert tree is None
    check(
        problems,
        [
            (1, 4, "anchor"),
            (2, 4, "alias"),
            (3, 3, "missing"),
            (4, 1, "on line 1"),
            (5, 4, "tag"),
            (6, 1, "merge key"),
            (7, 1, "must be text"),
            (8, 4, "not closed"),
        ],
    )


def test_what_begins_on_the_same_line_is_not_pointed_at() -> None:
    (here,), (below,) = read("a: [b, c}\n")[1], read("a: [b,\nc}\n")[1]
    assert f"{here.message} (in what begins on line 1)" == below.message


def test_stand_ins_keep_the_tree_whole() -> None:
    tree, problems = read("a: *x\nb:\na: 2\n[c]: 3\nd: e\n---\nf: 1\n")
    assert len(problems) == 5
    assert tree is not None
    assert plain(tree) == {"a": "*x", "b": "", "d": "e"}


@pytest.mark.parametrize("more", [-1, 0, 1, 2, 5000])
def test_a_file_full_of_problems_is_cut_short(more: int) -> None:
    for source in ("\x00" * (MAX_PROBLEMS + more), "a: 1\n" * (MAX_PROBLEMS + more + 1)):  # the first key is no problem
        problems = read(source)[1]
        assert len(problems) == MAX_PROBLEMS + min(more, 1)
        assert (problems[-1].message == "further problems after this one are not listed") == (more > 0)


@pytest.mark.parametrize(("open_", "close"), [("[", "]"), ("{a: ", "}"), ("- ", ""), ("? ", "")])
def test_nesting_is_limited(open_: str, close: str) -> None:
    column = len(open_) * MAX_DEPTH + 1
    deepest = open_ * MAX_DEPTH + "x" + close * MAX_DEPTH
    assert not any("nested" in p.message for p in read(deepest)[1])
    tree, problems = read(open_ * (MAX_DEPTH + 1))
    assert tree is None
    check(problems, [(1, column, f"deeper than {MAX_DEPTH} levels")])
    tree, problems = read(open_ * 100_000)
    assert tree is None
    (problem,) = problems  # libyaml has a limit of its own since 0.2.6, for flow collections
    assert "deeper than" in problem.message or "maximum nesting depth" in problem.message


@pytest.mark.slow
def test_a_mebibyte_of_values_is_limited() -> None:
    tree, problems = parse_tree("- a\n" * MAX_NODES, "t.yaml")
    assert tree is None
    check(problems, [(MAX_NODES, 3, f"more than {MAX_NODES} keys and values")])


def test_a_billion_laughs_are_never_expanded() -> None:
    lines = ["a0: &a0 [ha, ha]", *(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 11))]
    tree, problems = read("\n".join(lines))
    assert len(problems) == 11 + 9 * 10 - 1 + 1  # anchors and aliases: 101, of which the last is a summary
    assert isinstance(tree, MapNode)
    assert len(tree.entries) == 11


SOURCE = """\
paper: imlp
rows:
  - id: deit
    printed: {params: 5.72, "top1": 72.2}
  - id: pit
    notes:
      - first
      - |
        second
"""


@pytest.mark.parametrize(
    ("path", "value", "key"),
    [
        ((), (1, 1), (1, 1)),
        (("paper",), (1, 8), (1, 1)),
        (("rows",), (3, 3), (2, 1)),
        (("rows", 0), (3, 5), (3, 5)),
        (("rows", 0, "printed"), (4, 14), (4, 5)),
        (("rows", 0, "printed", "params"), (4, 23), (4, 15)),
        (("rows", 0, "printed", "top1"), (4, 37), (4, 29)),
        (("rows", 1, "notes", 1), (8, 9), (8, 9)),
        (("rows", 0, "printed", "flops"), (4, 14), (4, 14)),
        (("rows", 0, "label", "x", 3), (3, 5), (3, 5)),
        (("rows", 2), (3, 3), (3, 3)),
        (("rows", 3), (3, 3), (3, 3)),
        (("rows", -1), (3, 3), (3, 3)),
        (("rows", "0"), (3, 3), (3, 3)),
        (("paper", "x"), (1, 8), (1, 8)),
        ((0,), (1, 1), (1, 1)),
    ],
)
def test_mark_at(path: tuple[str | int, ...], value: Mark, key: Mark) -> None:
    tree, _ = read(SOURCE)
    assert tree is not None
    assert mark_at(tree, path) == value
    assert mark_at(tree, path, key=True) == key


# Text that a spec may hold: no control characters, surrogates, bidi overrides or byte order marks.
REFUSED_IN_TEXT = "\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff\ufffe\uffff"
characters = st.characters(exclude_categories=("Cs", "Cc"), exclude_characters=REFUSED_IN_TEXT)
texts = st.text(characters | st.sampled_from("\n\t\\\"'#:-?[]{},&*!|>%@` <"), max_size=30)


def nested(leaves: st.SearchStrategy[str]) -> st.SearchStrategy[object]:
    def deeper(inner: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
        return st.lists(inner, max_size=4) | st.dictionaries(leaves, inner, max_size=4)

    return st.recursive(leaves, deeper, max_leaves=20)


@settings(deadline=None)
@given(nested(texts), st.booleans(), st.booleans())
def test_what_is_dumped_reads_back(value: object, flow: bool, unicode: bool) -> None:
    source = yaml.safe_dump(value, default_style='"', default_flow_style=flow, allow_unicode=unicode)
    assert value_of(source) == value


def leaves_of(node: Node) -> Iterator[Text]:
    """Keys and values that are text."""
    match node:
        case Text():
            yield node
        case ListNode():
            for item in node.items:
                yield from leaves_of(item)
        case MapNode():
            for key, value in node.entries:
                yield key
                yield from leaves_of(value)


@settings(deadline=None)
@given(nested(st.text("w\u00e9\U0001f600", min_size=1, max_size=5)), st.booleans())
def test_every_text_stands_where_its_mark_says(value: object, flow: bool) -> None:
    source = yaml.safe_dump(value, default_flow_style=flow, allow_unicode=True)
    tree, _ = read(source)
    assert tree is not None
    lines = source.split("\n")
    for text in leaves_of(tree):
        assert lines[text.mark.line - 1][text.mark.column - 1 :].startswith(text.text)


def paths_of(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    yield path
    if isinstance(value, list):
        for i, item in enumerate(value):
            yield from paths_of(item, (*path, i))
    if isinstance(value, dict):
        for key, item in value.items():
            yield from paths_of(item, (*path, key))


@settings(deadline=None)
@given(nested(st.text("abc", min_size=1, max_size=3)))
def test_mark_at_leads_to_the_key_and_the_value(value: object) -> None:
    source = yaml.safe_dump(value, default_style='"')
    lines = source.split("\n")
    tree, _ = read(source)
    assert tree is not None
    for path in paths_of(value):
        if path and isinstance(path[-1], str):
            line, column = mark_at(tree, path, key=True)
            assert lines[line - 1][column - 1 :].startswith(f'"{path[-1]}"')


PIECES = (
    "a", "b", "b?", "'", '"', ":", ": ", "- ", "-", "? ", ", ", "[", "]", "{", "}", "#", " #", "|", ">", "\n",
    "\n  ", "\n ", " ", "&a ", "*a", "!t ", "!", "<<", "%", "@", "--- ", "\n---\n", "\n...\n", "\\", "\t", "\r",
    "\r\n", "\x85", "\u202e", "\ufeff", "\ud800", "\\ud800", "\\U", "00110000", "\\x", "\U0001f600",
)  # fmt: skip
soup = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)


@settings(deadline=None, max_examples=200)
@given(soup | st.text(max_size=40))
def test_any_text_gives_a_tree_or_problems(source: str) -> None:
    tree, problems = parse_tree(source, "t.yaml")
    assert problems or tree is not None
    lines = source.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    for problem in problems:
        assert 1 <= problem.line <= len(lines)
        assert 1 <= problem.column <= len(lines[problem.line - 1]) + 1


def test_pyyaml_without_libyaml_is_an_error_that_says_so() -> None:
    script = (
        "import sys; sys.modules['yaml._yaml'] = None; sys.argv = ['imlp-audit', 'lint', 'imlp']\n"
        "from imlp_audit.cli.main import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("imlp-audit: PyYAML was installed without libyaml")
    assert done.stderr.count("\n") == 1


def write(tmp_path: Path, data: bytes) -> Path:
    path = tmp_path / "spec.yaml"
    path.write_bytes(data)
    return path


def test_a_file_is_read_and_shown_by_the_name_given(tmp_path: Path) -> None:
    path = write(tmp_path, "\ufeffa: ×\r\nb:\r\n".encode())
    tree, problems = read_tree(path, "specs/x.yaml")
    assert tree is not None
    assert plain(tree) == {"a": "×", "b": ""}
    assert [str(p).partition(" a value is")[0] for p in problems] == ["specs/x.yaml:2:3:"]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"a: 1\nb: \xc3\xa9\xe9\n", (2, 5, "byte 0xe9 is not UTF-8: save the file as UTF-8")),
        ("a: 1\n".encode("utf-16"), (1, 1, "is not UTF-8")),
        (b"a: \xed\xa0\x80", (1, 4, "is not UTF-8")),
        (b"#" * (2**20 + 1), (1, 1, "larger than 1 MiB")),
    ],
)
def test_bytes_that_are_not_a_small_utf8_file(tmp_path: Path, data: bytes, expected: Found) -> None:
    tree, problems = read_tree(write(tmp_path, data), "t.yaml")
    assert tree is None
    check(problems, [expected])


def test_the_largest_file_is_read(tmp_path: Path) -> None:
    tree, problems = read_tree(write(tmp_path, b"a: 1\n".ljust(MAX_SPEC_BYTES, b"#")), "t.yaml")
    assert tree is not None
    assert problems == []


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path, fragment in (
        (tmp_path / "none.yaml", "does not exist"),
        (tmp_path, "not a regular file"),
        (pipe, "not a regular file"),
    ):
        tree, problems = read_tree(path, "t.yaml")
        assert tree is None
        check(problems, [(1, 1, fragment)])
