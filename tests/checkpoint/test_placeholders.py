"""Objects of unknown classes, around the tensors and in their way, made by every operation that makes objects.

`tests.checkpoint.trap` leaves a mark if it is imported, and its functions leave one if they are called.
"""

from __future__ import annotations

import argparse
import datetime
import pickle
import sys
from collections.abc import Callable, Iterator
from enum import Enum
from io import BytesIO
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch

from imlp_audit.errors import CheckpointError
from tests.checkpoint.reading import parse, read_state

from .pickles import FLOAT, NO_HOOKS, REBUILD, archive, number, numbers, table, tensor, text

TRAP = "tests.checkpoint.trap"
RUN = f"c{TRAP}\nrun\n".encode()
KIND = f"c{TRAP}\nKind\n".encode()
T = tensor((2,), (1,), numel=2)
EXPECTED = torch.tensor([1.0, 2.0])

FORMS: dict[str, Callable[[bytes], bytes]] = {
    "call": lambda given: RUN + given + b"\x85R",
    "call by names": lambda given: text(TRAP) + text("run") + b"\x93" + given + b"\x85R",
    "call of a result": lambda given: RUN + given + b"\x85R" + given + b"\x85R",
    "object": lambda given: KIND + given + b"\x85\x81",
    "object by keywords": lambda given: KIND + b")}" + text("k") + given + b"s\x92",
    "attributes": lambda given: KIND + b")\x81}" + text("k") + given + b"sb",
    "state of any kind": lambda given: KIND + b")\x81" + given + b"b",
    "items": lambda given: KIND + b")\x81(" + text("k") + given + b"u",
    "elements": lambda given: KIND + b")\x81(" + given + b"e",
    "element": lambda given: KIND + b")\x81" + given + b"a",
    "obj": lambda given: b"(" + KIND + given + b"o",
    "inst": lambda given: b"(" + given + f"i{TRAP}\nrun\n".encode(),
    "extension": lambda given: b"\x82\x01" + given + b"\x85R",
}
OLD = ("obj", "inst", "extension")  # operations that torch.save never writes


def rebuilt(start: bytes, shape: bytes, strides: bytes, hooks: bytes, key: bytes, numel: bytes) -> bytes:
    place = b"(" + text("storage") + FLOAT + key + text("cpu") + numel + b"tQ"
    return REBUILD + b"(" + place + start + shape + strides + b"\x89" + hooks + b"tR"


def part(at: int, other: bytes) -> bytes:
    """A table of a tensor of which one part is something else."""
    parts = [number(0), numbers((2,)), numbers((1,)), NO_HOOKS, text("0"), number(2)]
    return table({"w": rebuilt(*(other if place == at else one for place, one in enumerate(parts)))})


STATE = table({"w": T})
AROUND: dict[str, Callable[[Callable[[bytes], bytes]], bytes]] = {
    "beside": lambda make: table({"model": STATE, "x": make(b"N")}),
    "before": lambda make: table({"x": make(b"N"), "model": STATE}),
    "deep": lambda make: table({"model": STATE, "x": b"](" + make(table({"y": make(b")")})) + b"e"}),
    "beside the tensors": lambda make: table({"w": T, "x": make(text("w"))}),
    "of another tensor": lambda make: table({"model": STATE, "ema": make(T.replace(text("0"), text("1")))}),
    "as a key": lambda make: table({"model": STATE, "x": table([(make(b"N"), b"N")])}),
    "versions": lambda make: NO_HOOKS + b"(" + text("w") + T + b"u}" + text("_metadata") + make(b"N") + b"sb",
}
WITHIN: dict[str, Callable[[Callable[[bytes], bytes]], bytes]] = {
    "around a view of a tensor's numbers": lambda make: table({"model": STATE, "x": make(T)}),
    "around a tensor": lambda make: table({"w": T, "v": make(T)}),
    "around the state": lambda make: table({"model": make(STATE)}),
    "around the file": lambda make: make(table({"model": STATE})),
    "given the state": lambda make: table({"model": STATE + b"q\x07", "x": make(b"h\x07")}),
    "given the tensor": lambda make: table({"w": T + b"q\x07", "x": make(b"]h\x07a")}),
    "given all": lambda make: b"}q\x07(" + text("model") + STATE + text("x") + make(b"h\x07") + b"u",
    "key of a tensor": lambda make: table([(text("w"), T), (make(b"N"), T)]),
    "attribute of a tensor": lambda make: table({"w": T + make(b"N") + b"b"}),
    "attribute of the state": lambda make: STATE + b"}" + text("w") + make(b"N") + b"sb",
    "key of the bytes": lambda make: part(4, make(text("0"))),
    "size of the bytes": lambda make: part(5, make(number(2))),
    "start": lambda make: part(0, make(number(0))),
    "shape": lambda make: part(1, make(numbers((2,)))),
    "one size": lambda make: part(1, make(number(2)) + b"\x85"),
    "strides": lambda make: part(2, make(numbers((1,)))),
    "hooks": lambda make: part(3, make(b"}")),
    "in place of the function": lambda make: table({"w": make(b"N") + REBUILD[:0] + b"(" + T + b"tR"}),
    "thrown away": lambda make: table({"w": T + make(b"N") + b"0"}),
}


def write(path: Path, made: bytes) -> Path:
    archive(path, made, EXPECTED.numpy().tobytes(), others=[("x/data/1", EXPECTED.numpy().tobytes())])
    return path


@pytest.fixture
def mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder that the trap makes; it must not exist in the end."""
    path = tmp_path / "executed"
    monkeypatch.setenv("TRAP_MARK", str(path))
    yield path
    assert not path.exists()
    assert TRAP not in sys.modules


@pytest.mark.parametrize("place", AROUND)
def test_what_is_around_the_tensors_is_not_made(tmp_path: Path, mark: Path, place: str) -> None:
    for form in FORMS.keys() - OLD:
        path = write(tmp_path / "w.pth", AROUND[place](FORMS[form]))
        (found,) = read_state(path).items()
        assert found[0] == "w"
        assert torch.equal(found[1], EXPECTED), form
        name = "run" if form.startswith("call") else "Kind"
        assert f"objects in it that were not opened (nothing was executed): {TRAP}.{name}" in parse(
            path
        ).state.notes or (
            place == "versions"  # which are not looked at
        )


@pytest.mark.parametrize("place", WITHIN)
def test_what_the_tensors_depend_on_is_refused(tmp_path: Path, mark: Path, place: str) -> None:
    for form in FORMS:
        with pytest.raises(CheckpointError) as refused:
            read_state(write(tmp_path / "w.pth", WITHIN[place](FORMS[form])))
        assert str(refused.value).isprintable()


@pytest.mark.parametrize(("form", "place"), list(product(OLD, AROUND)))
def test_operations_that_torch_never_writes_are_refused(tmp_path: Path, mark: Path, form: str, place: str) -> None:
    with pytest.raises(CheckpointError, match=r"which torch\.save does not write"):
        read_state(write(tmp_path / "w.pth", AROUND[place](FORMS[form])))


def test_the_trap_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of these forms, pickle itself makes what it says."""
    monkeypatch.setenv("TRAP_MARK", str(tmp_path / "executed"))
    pickle.load(BytesIO(b"\x80\x02" + FORMS["call"](b"N") + b"."))
    assert (tmp_path / "executed").exists()
    del sys.modules[TRAP]


class Kind(Enum):
    """Two kinds."""

    ONE = 1


class Config(dict[str, object]):
    """A dictionary with attributes, as yacs has it."""

    frozen = True


@pytest.mark.parametrize(("protocol", "zipped"), [(2, True), (3, True), (4, True), (5, True), (2, False)])
def test_what_training_scripts_save_beside_the_weights(tmp_path: Path, protocol: int, zipped: bool) -> None:
    config = Config(model=Config(depths=[2, 2]), rate=0.1)
    config.frozen = False
    beside = {
        "args": argparse.Namespace(output=Path("/x"), device=torch.device("cpu"), kind=Kind.ONE),
        "config": config,
        "metrics": {"top1": np.float64(81.2), "all": np.arange(3), "f16": np.float16(1)},
        "when": datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC),
        "callbacks": {Config: {"best": torch.ones(1)}, (1, 2): {3}, None: frozenset({4}), 1.5: complex(1, 2)},
        "bytes": b"abc",
        "range": range(3),
        "large": 2**70,
    }
    state = {"w": EXPECTED, "b": torch.ones(2, 2)}
    path = tmp_path / "c.pth"
    torch.save({"model": state, **beside}, path, pickle_protocol=protocol, _use_new_zipfile_serialization=zipped)
    found = read_state(path)
    assert found.keys() == state.keys()
    assert all(torch.equal(found[name], value) for name, value in state.items())
    assert {"tests.checkpoint.test_placeholders.Config", "datetime.datetime"} <= set(parse(path).state.unopened)


def test_a_whole_model_is_named_with_the_line_that_helps(tmp_path: Path) -> None:
    torch.save({"model": torch.nn.Linear(2, 3), "epoch": 1}, tmp_path / "c.pth")
    with pytest.raises(
        CheckpointError, match=r"a whole model, an object of torch\.nn\.modules\.linear\.Linear.*torch\.save"
    ):
        read_state(tmp_path / "c.pth")
