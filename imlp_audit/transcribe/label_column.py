"""Which column of a table names the rows' models, and which columns only sort them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from imlp_audit.models.names.known import Library
from imlp_audit.models.names.match import is_name, line_of, spellings
from imlp_audit.transcribe.cells import MISSING
from imlp_audit.transcribe.grid import GridRow
from imlp_audit.transcribe.headings import ColumnGuess, ColumnRole
from imlp_audit.transcribe.labels import read_label

_TEXT = (ColumnRole.LABEL, ColumnRole.WORDS)
_MOST_TEXTS = 300  # of a column, that are looked up
_SORT = re.compile(r"(general |network |model )?(arch(itecture)?s?|group|category|kind|class|type|family)?\.?")
_WHOLE = re.compile(r"\W*\d+(?:\s?[+,/-]\s?\d+)*\W*", re.ASCII)
_NETWORK = (
    r"cnns?|conv\w*|neural|net(?:work)?s?|transformers?|tfms?|vits?|self|attention|mlps?|mixers?|hybrids?|metaformer|mamba"
    r"|ssms?|rnns?|models?"
)
_MANNER = (
    "spatial|channel|pool(?:ing)?|based|like|pure|only|stem|stages?|single|multi|local|global|hierarchical|vision|and"
)
_KIND = re.compile(rf"(?:(?:{_NETWORK}|{_MANNER})[^\w+]*)+")
_JOINED = re.compile(rf"(?:(?:{_NETWORK})[^\w+]*)+")  # of "Conv + TFM" each is a kind; a stem is added to one


def find_label(guesses: Sequence[ColumnGuess], rows: Sequence[GridRow]) -> int:
    """Return the column of texts with the most names of models, then with the most texts, then with a usual heading.

    A column with a usual heading that has less than half as many texts as another is one that sorts the rows.
    """
    texts = {at: _texts(rows, at) for at, guess in enumerate(guesses) if guess.role in _TEXT}
    most = max(map(len, texts.values()), default=0)

    def rank(at: int) -> tuple[int, bool, bool, int, int]:
        named, usual = sum(map(_is_model, texts[at][:_MOST_TEXTS])), guesses[at].role is ColumnRole.LABEL
        return named, 2 * len(texts[at]) >= most, usual, 0 if usual else len(texts[at]), -at

    return max(texts, key=rank, default=0)


def _texts(rows: Sequence[GridRow], at: int) -> list[str]:
    return list(dict.fromkeys(row.cells[at] for row in rows if row.cells[at] not in MISSING))


def _is_model(text: str) -> bool:
    name = read_label(text, None, ()).name
    return any(is_name(one, library) for one in spellings(name) for library in (Library.TIMM, Library.TORCHVISION))


def sorts_rows(heading: str, rows: Sequence[GridRow], at: int, label: int) -> bool:
    """Return whether a column of texts only says of what kind the models are, so that their names are all of them.

    Its texts are kinds of networks, or whole numbers as depths are; or it has no heading or one such as "Arch.", and
    each of its texts stands over several rows in a block. No label stands beside two of its texts. Beside kinds of
    networks a text may also say that its rows are changed, as "ConvNets (ours)" does: these are not settled by it.
    """
    texts = _texts(rows, at)
    if _tells_apart(_continued(rows, at) if all(map(_is_kind, texts)) else rows, at, label):
        return False
    if all(_is_kind(text) or _WHOLE.fullmatch(text) for text in texts):
        return True
    if not _SORT.fullmatch(heading.lower().strip()) or any(map(_WIDER.search, texts)):
        return False
    if any(map(may_change, texts)) and not all(_is_kind(one) or may_change(one) for one in texts):
        return False
    blocks = [row.cells[at] for n, row in enumerate(rows) if not n or row.cells[at] != rows[n - 1].cells[at]]
    return 2 * len(texts) <= len(rows) and len(blocks) == len(texts)


def is_sort(text: str) -> bool:
    """Return whether a text of a column that sorts the rows says nothing else of them."""
    return _WHOLE.fullmatch(text) is not None or not may_change(text)


def describes_models(heading: str, rows: Sequence[GridRow], at: int, label: int) -> bool:
    """Return whether a column describes the models of the libraries, as the token mixer of each family.

    Its heading names such a property, each family has one text, and these are not all the same. In an ablation a label
    stands beside several texts, or a family does.
    """
    if not _PROPERTY.search(heading.lower()) or _tells_apart(rows, at, label):
        return False
    texts = defaultdict[str, set[str]](set)
    for row in rows:
        if _is_model(row.cells[label]):
            texts[line_of(read_label(row.cells[label], None, ()).name)].add(row.cells[at].casefold())
    plain = {one for found in texts.values() for one in found if is_property(one)}
    return len(plain) > 1 and all(len(found) == 1 for found in texts.values())


def _continued(rows: Sequence[GridRow], at: int) -> list[GridRow]:
    """Return the rows with what stands above in place of an empty cell, where that text stands over several rows."""
    done: list[GridRow] = []
    for row in rows:
        above = [one.cells[at] for one in done[-2:]]
        if not row.cells[at] and len(above) == 2 and above[0] == above[1]:
            row = replace(row, cells=(*row.cells[:at], above[0], *row.cells[at + 1 :]))
        done.append(row)
    return done


_PROPERTY = re.compile(r"\b(mixers?|mixing|operators?|operations?|interactions?|aggregation|paradigms?|primitives?)\b")


def is_property(text: str) -> bool:
    """Return whether a text of a column that describes models may not be what was added to one."""
    return _is_kind(text) or (_WORD.search(text) is not None and not _PART.search(text) and not may_change(text))


_WORD = re.compile("[a-z]{3}")  # unlike SE or CBAM, a sign or a number
_PART = re.compile(r"\d|\bsqueeze|\bdeform", re.IGNORECASE)


def _tells_apart(rows: Sequence[GridRow], at: int, label: int) -> bool:
    """Return whether a column says of two rows with one label that they differ."""
    labels = [read_label(row.cells[label], None, ()).text for row in rows]
    return len({*zip(labels, (row.cells[at] for row in rows), strict=True)}) > len(set(labels))


_DATA = r"(?! (?:extra |additional |labell?ed )?(?:data|labels))"
_CHANGE = re.compile(
    r"\b(ours?|proposed|modified|isotropic|distill\w*|prun\w*|quanti\w*|\d+-?bit|int8)\b"
    rf"|(?<!trained )\bwith(out)?\b{_DATA}"
    r"|\bw/|\bno\b(?! (?:pre-?train|(?:extra|additional|external|label))|\.)|[+⚗]",
    re.IGNORECASE,
)
_WIDER = re.compile(r"\b(in|imagenet)-?2\dk", re.IGNORECASE)


def may_change(text: str) -> bool:
    """Return whether a text that stands over several rows may say that their models are not the usual ones."""
    return _CHANGE.search(text) is not None and not _is_kind(text)


def _is_kind(text: str) -> bool:
    """Return whether a text is a kind of networks, or several kinds joined by a plus."""
    kinds = [part.strip(" ()") for part in text.lower().split("+")]
    return all(map((_KIND if len(kinds) == 1 else _JOINED).fullmatch, kinds))
