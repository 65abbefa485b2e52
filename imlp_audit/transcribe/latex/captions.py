"""The text of a caption or a title: what its citations and references leave in the sentence."""

from __future__ import annotations

import re
from collections.abc import Mapping

from imlp_audit.transcribe.latex.macros import Macro, expand
from imlp_audit.transcribe.latex.text import to_text

_ARGUMENTS = r"\*?\s*(?:\[[^\]]{0,200}\]\s*){0,2}\{[^{}]{0,1000}\}"
_NAMED = re.compile(rf"\\(?:citet|textcite|citeauthor|(?:auto|eq|page|[cC])?ref){_ARGUMENTS}")  # words of the sentence
_CITED = re.compile(rf"\\(?:cite\w*|parencite|autocite){_ARGUMENTS}")
_OMITTED = "[…]"  # of one character, so that no sentence seems to end in it
_MARK = "\x1a"
_IN_BRACKETS = re.compile(rf"\s*[(\[]\s*(?:see|e\.g\.|cf\.)?,?\s*{_MARK}(?:\s*[,;]\s*{_MARK})*\s*[)\]]")
_SEVERAL = re.compile(rf"{_MARK}(?:\s*(?:[,;]|(?:,\s*)?(?:and|&))\s*{_MARK})+")
_NEEDED = re.compile(
    rf"(^|[,;:(]|\b(?:from|by|in|of|to|with|and|or|see|following|follow|than|for|after|on|using|as|e\.g\.,?|cf\.))\s*{_MARK}"
    rf"|()\s*{_MARK}(?=['’]s\b)"
)
_DROPPED = re.compile(rf"\s*{_MARK}")


def to_sentence(tex: str, macros: Mapping[str, Macro]) -> str:
    """Return what a caption prints, without its citations; those that it needs leave […], as in "from […]"."""
    tex = _CITED.sub(_MARK, _NAMED.sub(_OMITTED, expand(tex, macros)[0]))
    text = _SEVERAL.sub(_MARK, _IN_BRACKETS.sub("", to_text(tex)))
    text = _NEEDED.sub(lambda found: f"{found[1] or ''} {_OMITTED}", text)
    return re.sub(r"\s+(?=[.,;:])", "", _DROPPED.sub("", text)).strip()
