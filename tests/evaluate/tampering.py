"""Ways to tamper with the folder of an unfinished evaluation: each does one thing to it, and says what to remove."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

Tamper: TypeAlias = Callable[[Path], None]
"""Changes a folder that holds `PARTS` and a manifest."""

PARTS = ("00000000.part", "00000001.part")
MANIFEST = "manifest.json"


def sealed(body: bytes) -> bytes:
    return f"{len(body)} {hashlib.sha256(body).hexdigest()}\n".encode() + body


def changed(**changes: object) -> Tamper:
    """Change fields of the first part, and seal it again, as somebody would who knows how it is made."""

    def tamper(folder: Path) -> None:
        path = folder / PARTS[0]
        content = {**json.loads(path.read_bytes().partition(b"\n")[2]), **changes}
        path.write_bytes(sealed(json.dumps(content).encode()))

    return tamper


def answered(answer: object) -> Tamper:
    """Change the first answer of the first part."""

    def tamper(folder: Path) -> None:
        content = json.loads((folder / PARTS[0]).read_bytes().partition(b"\n")[2])
        content["batches"]["0"][0] = answer
        changed(**content)(folder)

    return tamper


def manifest(**changes: object) -> Tamper:
    def tamper(folder: Path) -> None:
        content = {**json.loads((folder / MANIFEST).read_bytes()), **changes}
        (folder / MANIFEST).write_text(json.dumps(content), encoding="utf-8")

    return tamper


def pinned(**changes: str) -> Tamper:
    return lambda folder: manifest(pinned={**json.loads((folder / MANIFEST).read_bytes())["pinned"], **changes})(folder)


def put(name: str, content: bytes) -> Tamper:
    def tamper(folder: Path) -> None:
        (folder / name).write_bytes(content)

    return tamper


def cut(folder: Path) -> None:
    path = folder / PARTS[0]
    path.write_bytes(path.read_bytes()[:-1])


def copy(folder: Path) -> None:
    (folder / "00000002.part").write_bytes((folder / PARTS[0]).read_bytes())


def swap(folder: Path) -> None:
    first, second = ((folder / name).read_bytes() for name in PARTS)
    (folder / PARTS[0]).write_bytes(second)
    (folder / PARTS[1]).write_bytes(first)


def link(name: str) -> Tamper:
    def tamper(folder: Path) -> None:
        (folder / name).rename(folder.parent / name)
        (folder / name).symlink_to(folder.parent / name)

    return tamper


def use_folder(name: str) -> Tamper:
    def tamper(folder: Path) -> None:
        (folder / name).unlink()
        (folder / name).mkdir()

    return tamper


def use_pipe(folder: Path) -> None:
    (folder / PARTS[0]).unlink()
    os.mkfifo(folder / PARTS[0])


def overlap(folder: Path) -> None:
    content = json.loads((folder / PARTS[0]).read_bytes().partition(b"\n")[2])
    other = json.loads((folder / PARTS[1]).read_bytes().partition(b"\n")[2])
    changed(batches={**content["batches"], **other["batches"]})(folder)


FIVE = [1, 2, 3, 4, 5]
HUGE = b'{"pinned": {"a": "' + b"x" * (2 << 20) + b'"}}'

TAMPERED: dict[str, tuple[str, str, Tamper]] = {
    "a truncated part": (PARTS[0], "is damaged", cut),
    "an empty part": (PARTS[0], "is damaged", put(PARTS[0], b"")),
    "a probability that is not a number": (PARTS[0], "holds nan as a probability", answered([float("nan"), *FIVE])),
    "a probability above 1": (PARTS[0], "holds 1.5 as a probability", answered([1.5, *FIVE])),
    "a negative probability": (PARTS[0], "holds -0.5 as a probability", answered([-0.5, *FIVE])),
    "a class of 10^12": (PARTS[0], "holds 1000000000000 as one of 10 classes", answered([0.5, 10**12, *FIVE[1:]])),
    "a negative class": (PARTS[0], "holds -1 as one of 10 classes", answered([0.5, -1, *FIVE[1:]])),
    "a class twice": (PARTS[0], "as one of 10 classes", answered([0.5, 1, 1, 2, 3, 4])),
    "classes as text": (PARTS[0], "holds '1' as one of 10 classes", answered([0.5, *map(str, FIVE)])),
    "a class as a float": (PARTS[0], "holds 1.0 as one of 10 classes", answered([0.5, 1.0, *FIVE[1:]])),
    "four classes": (PARTS[0], "is not a probability and 5 classes", answered([0.5, *FIVE[1:]])),
    "too few answers": (PARTS[0], "does not hold an answer to each of the 16", changed(batches={"0": [None]})),
    "a batch beyond the last": (PARTS[0], "holds batch 99, and this", changed(batches={"99": [None]})),
    "a negative batch": (PARTS[0], "numbers a batch '-1'", changed(batches={"-1": [None]})),
    "another schema": (PARTS[0], "is not a part of an evaluation", put(PARTS[0], sealed(b'{"x": 1}'))),
    "batches of no size": (PARTS[0], "is not a part of an evaluation", changed(batch_size=0)),
    "not JSON": (PARTS[0], "is not JSON", put(PARTS[0], sealed(b"{"))),
    "deep JSON": (PARTS[0], "is not JSON", put(PARTS[0], sealed(b"[" * 100_000))),
    "not UTF-8": (PARTS[0], "is not JSON", put(PARTS[0], sealed(b'"\xff"'))),
    "a part of another run": (PARTS[0], "belongs to another evaluation", changed(run="0" * 64)),
    "a copied part": ("00000002.part", "is named wrongly: it holds the batches from 0 on", copy),
    "swapped parts": (PARTS[0], "is named wrongly: it holds the batches from 1 on", swap),
    "a batch in two parts": (PARTS[1], "holds batch 1, which another part holds too", overlap),
    "a link in place of a part": (PARTS[0], "is a link, not a regular file", link(PARTS[0])),
    "a folder in place of a part": (PARTS[0], "is a folder, not a regular file", use_folder(PARTS[0])),
    "a pipe in place of a part": (PARTS[0], "is a pipe, not a regular file", use_pipe),
    "a file of somebody else": ("notes.txt", "is not a file of imlp-audit; move it", put("notes.txt", b"mine")),
    "an empty manifest": (MANIFEST, "is damaged; remove it", put(MANIFEST, b"")),
    "a huge manifest": (MANIFEST, "is larger than 1 MiB; remove it", put(MANIFEST, HUGE)),
    "a manifest that is not UTF-8": (MANIFEST, "is damaged; remove it", put(MANIFEST, b"\xff\xfe{")),
    "a manifest of another version": (MANIFEST, "was written by another version", manifest(format=1)),
    "another checkpoint's hash": ("p.csv.parts", "checkpoint was '\\x1b[2J', is abc", pinned(checkpoint="\x1b[2J")),
    "another batch size": (MANIFEST, "has a batch size of 1000000000,", manifest(batch_size=10**9)),
    "a link in place of the manifest": (MANIFEST, "is a link, not a regular file", link(MANIFEST)),
    "a folder in place of the manifest": (MANIFEST, "is a folder, not a regular file", use_folder(MANIFEST)),
}
"""Each way: the file that the refusal must name, its words, and what is done."""
