"""`lint` looks for one's own models and blocks in their files, with the arguments that they take, and runs nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from imlp_audit.models.own import find_missing_name, find_wrong_argument
from tests.cli.running import call

NETS = """\
import os
from torch import nn
from elsewhere import imported

os._exit(3)


class Net(nn.Module):
    def __init__(self, width, depth=2, *, kernel, bias=True):
        pass


class Inherits(Net):
    pass


class Open(nn.Module):
    def __init__(self, width, **rest):
        pass


@imported
class Decorated(nn.Module):
    def __init__(self, width):
        pass


class Made(nn.Module):
    def __new__(cls, other):
        pass

    def __init__(self, width):
        pass


class Block(nn.Module):
    axes = {"norm": ("none", "layer")}

    def __init__(self, in_features, norm, expansion):
        pass


def net(width):
    return Net(width)


@imported
def decorated(width):
    return Net(width)


class Twice(nn.Module):
    def __init__(self, width):
        pass


Twice = imported(Twice)
"""
SPEC = """\
paper: own
about: {title: Nets, authors: A. Author, version: v1}
tables:
  - table: "1"
    title: Nets
    source: {section: "4"}
    columns:
      params: {measure: parameters, unit: "", heading: Parameters}
    rows:
      - id: net
        label: Net
        model: MODEL
        printed: {params: 314}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "nets.py").write_text(NETS, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "given", "wrong"),
    [
        ("Net", ("width", "kernel"), None),
        ("Net", ("width", "kernel", "bias", "depth"), None),
        ("Net", ("widht", "kernel"), "Net in nets.py takes no 'widht'; did you mean 'width'?"),
        ("Net", ("width", "kernel", "x"), "Net in nets.py takes no 'x'; it takes: width, depth, kernel, bias"),
        ("Net", ("self", "width", "kernel"), "Net in nets.py takes no 'self'; it takes: width, depth, kernel, bias"),
        ("Net", ("width",), "Net in nets.py needs 'kernel'"),
        ("Net", ("kernel",), "Net in nets.py needs 'width'"),
        ("net", ("width",), None),
        ("net", (), "net in nets.py needs 'width'"),
        *(
            (name, ("odd",), None)
            for name in ("Inherits", "Open", "Decorated", "Made", "decorated", "Twice", "imported")
        ),
        ("Absent", ("odd",), None),
    ],
)
def test_arguments_are_held_against_a_plain_signature(
    folder: Path, name: str, given: tuple[str, ...], wrong: str | None
) -> None:
    assert find_wrong_argument(folder, "nets.py", name, given, ()) == wrong


def test_files_that_cannot_be_read_are_left_to_who_runs_them(folder: Path) -> None:
    (folder / "broken.py").write_text("def net(:", encoding="utf-8")
    (folder / "inside").mkdir()
    for where, file in ((folder, "absent.py"), (folder, "broken.py"), (folder / "inside", "../nets.py")):
        assert find_wrong_argument(where, file, "net", ("odd",), ()) is None


@pytest.mark.parametrize("name", ["Net", "net", "imported", "Twice", "os", "LATER", "Here", "_all"])
def test_every_name_that_a_file_binds_is_there(folder: Path, name: str) -> None:
    more = "LATER: type = Net\nif LATER:\n    class Here(Net): pass\n_all, _ = 1, 2\n"
    (folder / "nets.py").write_text(NETS + more, encoding="utf-8")
    assert find_missing_name(folder, "nets.py", name) is None


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("Inherit", "nets.py defines no 'Inherit'; did you mean 'Inherits'?"),
        ("width", "nets.py defines no 'width'; it has: Net, Inherits, Open, Decorated, Made, Block"),
        ("depth", "nets.py defines no 'depth'"),
    ],
)
def test_a_name_that_a_file_does_not_bind_is_missing(folder: Path, name: str, wrong: str) -> None:
    assert str(find_missing_name(folder, "nets.py", name)).startswith(wrong)


@pytest.mark.parametrize("line", ["from elsewhere import *", "globals().update(x)", "def __getattr__(name): return 1"])
def test_a_file_that_binds_names_by_code_may_have_any(folder: Path, line: str) -> None:
    (folder / "nets.py").write_text(f"{NETS}\n{line}\n", encoding="utf-8")
    assert find_missing_name(folder, "nets.py", "Gone") is None


def test_a_file_that_is_missing_or_broken_is_named(folder: Path) -> None:
    (folder / "broken.py").write_text("x = 1\ndef net(:", encoding="utf-8")
    assert find_missing_name(folder, "absent.py", "net") == "absent.py: there is no such file beside the spec"
    (folder / "link.py").symlink_to(__file__)
    assert find_missing_name(folder, "link.py", "net") == (
        "link.py: it leads out of the folder of the spec; copy it there"
    )
    assert str(find_missing_name(folder, "broken.py", "net")).startswith("broken.py:2: it is not Python")


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("{python: {file: nets.py, name: net, arguments: {width: 3}, input: [3, 8, 8]}}", None),
        (
            "{python: {file: nets.py, name: net, arguments: {wide: 3}, input: [3, 8, 8]}}",
            "own.yaml:12:63: net in nets.py takes no 'wide'; did you mean 'width'?",
        ),
        ("{python: {file: nets.py, name: net, input: [3, 8, 8]}}", "own.yaml:12:25: net in nets.py needs 'width'"),
        (
            "{python: {file: nets.py, name: Inherit, arguments: {width: 3}, input: [3, 8, 8]}}",
            "own.yaml:12:25: nets.py defines no 'Inherit'; did you mean 'Inherits'?",
        ),
        (
            "{python: {file: net.py, name: net, input: [3, 8, 8]}}",
            "own.yaml:12:25: net.py: there is no such file beside the spec",
        ),
        ("{timm: test_vit, mlp: {python: {file: nets.py, name: Block, arguments: {expansion: 3}}}}", None),
        (
            "{timm: test_vit, mlp: {python: {file: nets.py, name: Block, arguments: {expansion: 3, ratio: 2}}}}",
            "Block in nets.py takes no 'ratio'; it takes: in_features, norm, expansion",
        ),
        (
            "{timm: test_vit, mlp: {python: {file: nets.py, name: Block}}}",
            "Block in nets.py needs 'expansion'",
        ),
    ],
)
def test_lint_names_the_argument_and_runs_nothing(folder: Path, model: str, message: str | None) -> None:
    (folder / "own.yaml").write_text(SPEC.replace("MODEL", model), encoding="utf-8")
    outcome = call("lint", str(folder / "own.yaml"))
    assert outcome.code == (0 if message is None else 2)
    assert message is None or message in outcome.err


def test_lint_judges_the_models_of_systems_as_those_of_rows(folder: Path) -> None:
    system = '  - {{id: {}, label: A, model: {}, source: {{section: "1"}}}}\n'
    (folder / "own.yaml").write_text(
        "paper: own\nabout: {title: T, authors: A, version: v1}\nsystems:\n"
        + system.format("a", "{timm: resnet5O}")
        + system.format("b", "{python: {file: nets.py, name: net, arguments: {wide: 3}, input: [3, 8, 8]}}"),
        encoding="utf-8",
    )
    outcome = call("lint", str(folder / "own.yaml"))
    assert outcome.code == 2
    assert "own.yaml:4:30: timm" in outcome.err
    assert "own.yaml:5:77: net in nets.py takes no 'wide'; did you mean 'width'?" in outcome.err
