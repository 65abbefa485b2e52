"""Globs of a spec match what fnmatch matches."""

from __future__ import annotations

from fnmatch import fnmatchcase

from hypothesis import example, given
from hypothesis import strategies as st

from imlp_audit.spec.fields import Names

_NAMES = st.text("ab/*?[]", max_size=5)


@example("ab*b", ["ab", "abb"])  # what follows the star does not overlap what stands before it
@given(_NAMES, st.lists(st.text("ab/", max_size=5), unique=True))
def test_as_fnmatch_in_the_names_own_order(glob: str, names: list[str]) -> None:
    assert Names(names).matching(glob) == [name for name in names if fnmatchcase(name, glob)]
