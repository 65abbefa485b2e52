"""The name that was meant by one that a library does not have."""

from __future__ import annotations

from difflib import get_close_matches
from functools import lru_cache

from imlp_audit.models.names.known import Library, known_models
from imlp_audit.models.names.match import Confidence, close_models
from imlp_audit.models.names.similar import families_of
from imlp_audit.models.names.spelling import first_meaning, spellings
from imlp_audit.models.names.words import family_of

_LONGEST = 100


@lru_cache(maxsize=1024)
def suggest(name: str, library: Library) -> str | None:
    """Return what to write for a name that a library does not have: a model of it, or of the other library."""
    if len(name) > _LONGEST:
        return None
    others = [one for one in (Library.TIMM, Library.TORCHVISION) if one is not library]
    for one in others:
        if name in known_models(one):
            return f"{one} has it: {{{one}: {name}}}"
    near = _labelled(name, library)
    if near is not None:
        return f"did you mean {near!r}?"
    for one in others:
        if (near := _labelled(name, one)) is not None:
            return f"{one} may have it: {{{one}: {near}}}"
    family = [one for one, _ in families_of(library).get(family_of(name), ())]
    typed = get_close_matches(name, family or known_models(library), n=1)
    return f"did you mean {typed[0]!r}?" if typed else None


def _labelled(label: str, library: Library) -> str | None:
    """Return the first name that has all of a label, as papers print it: deit_small_patch16_224 for DeiT-S."""
    meant = first_meaning(label)
    for spelt in (*spellings(label), *([meant] if meant else [])):
        found = [name for name, sure in close_models(spelt, library) if sure is not Confidence.NEAR]
        if found:
            return found[0]
    return None
