"""The sentences of a caption or a note."""

from __future__ import annotations

import re


def sentences_in(text: str) -> list[str]:
    """Return the sentences of a text, and the parts that a semicolon makes of one; 4.1 is not the end of one."""
    return [one.strip() for one in re.split(r"[.;](?=\s|$)", text)]
