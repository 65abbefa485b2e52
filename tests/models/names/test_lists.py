"""The lists of names are those of the installed libraries."""

from __future__ import annotations

from pathlib import Path

import pytest
import timm

from imlp_audit.models import names
from imlp_audit.models.names.known import Library, current_models, known_models, version_of

from .lists import installed, written


@pytest.mark.parametrize("library", Library)
def test_a_list_is_what_the_library_of_its_version_has(library: Library) -> None:
    if version_of(library) != installed(library):
        pytest.skip(f"the list is of {version_of(library)}; `python -m tests.models.names.lists` writes it anew")
    assert Path(names.__path__[0], f"{library}.txt").read_text(encoding="utf-8") == written(library)


def test_names_for_old_code_are_known_and_not_current() -> None:
    old = known_models(Library.TIMM) - current_models(Library.TIMM)
    assert "adv_inception_v3" in old
    assert not old & set(timm.list_models())
    assert "resnet50" in current_models(Library.TIMM)
