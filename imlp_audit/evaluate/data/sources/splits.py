"""Which files of a folder belong to a split, by the words in their names: `data/validation-00000-of-00014.parquet`."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path, PurePosixPath

from imlp_audit.errors import DatasetError
from imlp_audit.evaluate.data.folder import SPLIT_SYNONYMS
from imlp_audit.numbers.words import list_some

_NUMBERED = re.compile(r"(?P<name>.*)-[0-9]+-of-(?P<of>[0-9]{1,9})(-[0-9a-f]+)?\.\w+")
_SPLITS = {word: words[0] for words in (*SPLIT_SYNONYMS, ("test", "testing")) for word in words}


def whole_split(files: Sequence[str], split: str, source: str) -> tuple[str, ...]:
    """Return the files of a split. Raises DatasetError if they lie in several folders, or if one is missing.

    Several folders are several forms of a data set on the hub, often of the same images.
    """
    chosen = choose_files(files, split, source)
    folders = sorted({PurePosixPath(file).parent.as_posix() for file in chosen})
    if len(folders) > 1:
        raise DatasetError(
            f"{source} has files in {list_some(folders)}, which may hold the same images; give one of them"
        )
    numbered = [match for file in chosen if (match := _NUMBERED.fullmatch(PurePosixPath(file).name))]
    for name, of in sorted({(match["name"], match["of"]) for match in numbered}):
        here = sum((match["name"], match["of"]) == (name, of) for match in numbered)
        if here < int(of):
            raise DatasetError(
                f"{source} has {here} of the {int(of)} files {name}-NNNNN-of-{of}, so images are missing; download the "
                "others, or give one file to evaluate a part"
            )
    return chosen


def choose_files(files: Sequence[str], split: str, source: str) -> tuple[str, ...]:
    """Return the files, given relative to `source`, whose names name a split; all if none names any.

    Raises DatasetError if the files name other splits only, or none where another than the usual one is asked for.
    """
    splits = {file: _splits_of(file) for file in files}
    if not any(splits.values()):
        _refuse_unnamed(split, source)
        return tuple(files)
    wanted = _SPLITS.get(split, split)
    chosen = tuple(file for file, named in splits.items() if wanted in named)
    if not chosen:
        there = sorted(set().union(*splits.values()))
        raise DatasetError(f"{source} has no files of the split {split!r}; pass --split with {list_some(there)}")
    return chosen


def check_undivided(root: Path, folders: Collection[str], split: str) -> None:
    """Raise DatasetError for a folder without a folder of the split if it looks as if it should have one."""
    if folders and all(name.lower() in _SPLITS for name in folders):
        raise DatasetError(
            f"{root} holds {list_some(sorted(folders))}, which are splits, not classes; pass --split with one of them"
        )
    if _SPLITS.get(split, split) not in _splits_of(root.resolve().name):
        _refuse_unnamed(split, str(root))


def _refuse_unnamed(split: str, source: str) -> None:
    if split not in ("", *SPLIT_SYNONYMS[0]):
        raise DatasetError(
            f"{source}: nothing here is named after the split {split!r}; leave out --split if these are its images"
        )


def _splits_of(file: str) -> set[str]:
    """Return the splits that a file's name has; if it has none, those that its folders have."""
    folders, _, name = file.lower().rpartition("/")
    named = ({_SPLITS[word] for word in re.findall("[a-z]+", text) if word in _SPLITS} for text in (name, folders))
    return next(filter(None, named), set())
