"""What YAML parsers say, in words that an author of a spec can use."""

from __future__ import annotations

import re

QUESTION = "a text with a '?' inside [] or {} must be quoted"
GLUED = "a space is missing after this ':' (or quote the text)"
HEADER = "after | or > the text begins on the next line (a comment needs a space before its #)"

# What either parser says (its words differ), and what that means to an author.
_WORDS = (
    ("but got '\\?'", QUESTION),
    ("found unexpected ':'", GLUED),
    ("expected chomping|comment or a? ?line break", HEADER),
    (" tag", "a tag (!...) is refused, and this one is malformed: quote the text, or remove the tag"),
    ("alphabetic or numeric", "an unquoted text cannot begin with & or *: quote it"),
    (
        "mapping values are not allowed",
        "a ':' cannot stand here: quote the text if it belongs to it, or check the indentation",
    ),
    ("could not find expected ':'", "a key without a ':' after it, or a text that must be quoted"),
    ("',' or '\\]'", "the list is not closed: a ',' or ']' is missing here"),
    ("',' or '}'", "the mapping is not closed: a ',' or '}' is missing here"),
    ("<block end>|expected key|expected '-'", "the indentation does not match the lines above"),
    ("end of stream|document (indicator|separator)", "the quote that begins here is not closed"),
    ("document start", "this does not belong to the value above: check the indentation"),
    ("node content", "a key or a value is missing here"),
    ("cannot start any token", "an unquoted text cannot begin with this character: quote it"),
    ("escape|hexdecimal", "this text has a \\ that begins no escape: double it, or use single quotes"),
    ("not allowed", "a '-' or '?' cannot stand here: begin a new line, or quote the text"),
)


def in_words(problem: str) -> str:
    """Say what is wrong, of either parser's words for it."""
    known = (words for pattern, words in _WORDS if re.search(pattern, problem))
    return next(known, f"this is not YAML ({problem})")
