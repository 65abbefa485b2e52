"""Which files of a folder belong to a split, by the words in their names: `data/validation-00000-of-00014.parquet`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from imlp_audit.errors import DatasetError
from imlp_audit.evaluate.data.folder import SPLIT_SYNONYMS
from imlp_audit.numbers.words import list_some

_SPLITS = {word: words[0] for words in (*SPLIT_SYNONYMS, ("test", "testing")) for word in words}


def choose_files(files: Sequence[str], split: str, source: str) -> tuple[str, ...]:
    """Return the files, given relative to `source`, whose names name a split; all if none names any.

    Raises DatasetError if the files name other splits only.
    """
    splits = {file: _splits_of(file) for file in files}
    if not any(splits.values()):
        return tuple(files)
    wanted = _SPLITS.get(split, split)
    chosen = tuple(file for file, named in splits.items() if wanted in named)
    if not chosen:
        there = sorted(set().union(*splits.values()))
        raise DatasetError(f"{source} has no files of the split {split!r}; pass --split with {list_some(there)}")
    return chosen


def _splits_of(file: str) -> set[str]:
    return {_SPLITS[word] for word in re.findall("[a-z]+", file.lower()) if word in _SPLITS}
