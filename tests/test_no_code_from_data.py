"""Nothing in the package can turn what a file says into code, and nothing opens a connection, but where it is said."""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from pdfminer import cmapdb

from tests.cli.light import PROJECT
from tests.cli.running import spawn

PACKAGE = Path(__file__).parents[1] / "imlp_audit"

# where code is imported by a name that is not in the source, and why that is safe
DOORS = {
    "__init__.py": "names of this package, from a table in the file",
    "claims/__init__.py": "names of this package, from a table in the file",
    "cli/main.py": "the commands of this package, from a table in the file",
    "count/from_repository.py": "what a configuration of a repository that `count` was told to run names",
    "models/host.py": "modules of this package, which each host names in its class",
    "models/importing.py": "the file that `count` was told to run, or that of a folder that is trusted",
    "models/stand_ins.py": "libraries that have taken over names of others, from a table in the file",
    "processes/compiler.py": "modules of torch's own compiler",
    "processes/code.py": "Python of a folder that is trusted",
}
# where a library that can open a connection is imported
NETWORK = {
    "models/from_transformers.py": "to switch it off",
}
# where a pickle is read, and why that is safe
UNPICKLING = {
    "checkpoint/pickles.py": "its unpickler looks no name up and calls nothing; tests/checkpoint holds it",
}

_CALLS = re.compile(
    r"(eval|exec|compile|__import__|breakpoint|input"
    r"|(pickle|marshal|dill|joblib|cloudpickle)\.loads?|pickle\.Unpickler|shelve\.open|torch\.(jit\.)?load"
    r"|yaml\.(load|load_all|unsafe_load|full_load|unsafe_load_all|full_load_all)"
    r"|os\.(system|popen|exec\w*|spawn\w*|startfile)|subprocess\.\w+|pty\.\w+|runpy\.\w+|code\.\w+)"
)
_IMPORTS_BY_NAME = re.compile(
    r"(importlib\.)?(import_module|spec_from_file_location|exec_module|(metadata\.)?(entry_points|distributions))|\w+\.loader\.\w+"
)
_CONNECTING = re.compile(
    r"(socket|ssl|ftplib|http|urllib\.request|urllib3|requests|httpx|aiohttp|huggingface_hub)(\.|$)"
)


_PASSED = {("shell", True), ("weights_only", False), ("allow_pickle", True), ("trust_remote_code", True)}


def _dotted(called: ast.expr) -> str:
    """Return what is called as it is written, with "()" for what is not a name and its dots."""
    match called:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=owner, attr=name):
            return f"{_dotted(owner)}.{name}"
        case _:
            return "()"


def sins(source: str, path: str) -> Iterator[str]:
    """Yield what a module of the package must not do, with its line."""
    for node in ast.walk(ast.parse(source)):
        line = getattr(node, "lineno", 0)
        if isinstance(node, ast.Call):
            name = _dotted(node.func)
            if _CALLS.fullmatch(name):
                yield f"{path}:{line} calls {name}"
            if _IMPORTS_BY_NAME.fullmatch(name) and path not in DOORS:
                yield f"{path}:{line} imports by name: {name}"
            for word in node.keywords:
                value = word.value.value if isinstance(word.value, ast.Constant) else None
                if (word.arg, value) in _PASSED:
                    yield f"{path}:{line} passes {word.arg}={value!r}"
        modules = [one.name for one in node.names] if isinstance(node, ast.Import) else []
        modules += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        for module in modules:
            if _CONNECTING.match(module) and path not in NETWORK:
                yield f"{path}:{line} imports {module}"
            if module == "pickle" and path in UNPICKLING:
                continue
            if re.fullmatch(r"pickle|marshal|shelve|dill|cloudpickle|subprocess|runpy|ctypes", module):
                yield f"{path}:{line} imports {module}"


def test_no_module_runs_what_a_file_says() -> None:
    found: list[str] = []
    for path in sorted(PACKAGE.rglob("*.py")):
        if "_specs" not in path.parts:  # the wheel's copy of the papers' own Python
            found += sins(path.read_text(encoding="utf-8"), path.relative_to(PACKAGE).as_posix())
    assert found == []


def test_every_exception_is_there() -> None:
    assert all((PACKAGE / name).is_file() for name in (*DOORS, *NETWORK, *UNPICKLING))


@pytest.mark.parametrize(
    "planted",
    [
        "eval(text)",
        "exec(compile(text, 'a', 'exec'))",
        "import pickle\npickle.load(file)",
        "from pickle import loads",
        "yaml.load(text, Loader=yaml.Loader)",
        "torch.load(path)",
        "np.load(path, allow_pickle=True)",
        "import subprocess\nsubprocess.run(text, shell=True)",
        "os.system(text)",
        "import_module(name)",
        "spec.loader.exec_module(module)",
        "next(iter(entry_points(group=name))).load()",
        "next(iter(distributions(path=folders))).entry_points",
        "import socket",
        "from urllib.request import urlopen",
        "AutoModel.from_pretrained(name, trust_remote_code=True)",
    ],
)
def test_what_must_not_be_there_is_seen(planted: str) -> None:
    assert list(sins(planted, "spec/paper.py"))


_WITHOUT_NETWORK = """
import os, socket
def refuse(*asked, **_):
    open(os.environ["ASKED"], "a").write(f"{asked}\\n")
    raise OSError("no network here")
def connect(self, address):
    refuse(address) if self.family in (socket.AF_INET, socket.AF_INET6) else connect_locally(self, address)
connect_locally, socket.socket.connect, socket.getaddrinfo = socket.socket.connect, connect, refuse
"""
_ONE_OF_EACH_LIBRARY = """
paper: mine
about: {title: t, authors: a, version: v}
tables:
  - table: "1"
    title: Models
    source: {section: "1"}
    columns: {params: {measure: parameters, unit: M, heading: P}, flops: {measure: flops, unit: G, heading: F}}
    rows:
      - {id: a, label: A, model: {timm: deit_tiny_patch16_224}, printed: {params: 5.72, flops: 1.26}}
      - {id: b, label: B, model: {torchvision: resnet18}, printed: {params: 11.69, flops: 1.82}}
      - id: c
        label: C
        model: {transformers: {architecture: ViTForImageClassification, config: {num_hidden_layers: 2}}, image: 224}
        printed: {params: 15.69}
"""


@pytest.mark.slow
def test_an_audit_with_models_and_equations_asks_no_network_in_any_of_its_processes(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(_WITHOUT_NETWORK, encoding="utf-8")
    (tmp_path / "out").mkdir()
    asked = tmp_path / "asked"
    places = {"PYTHONPATH": f"{tmp_path}:{PACKAGE.parent}", "ASKED": str(asked)}
    control = "import urllib.request; urllib.request.urlopen('http://127.0.0.1:9')"
    assert spawn(cwd=tmp_path, command=(sys.executable, "-c", control), **places).code == 1
    assert asked.read_text(encoding="utf-8")
    asked.unlink()
    (tmp_path / "mine.yaml").write_text(_ONE_OF_EACH_LIBRARY, encoding="utf-8")
    wanted = ("--only", "mine/*", "--only", "mlp_mixer_notes/equations/p*")
    outputs = ("-o", "out/a.html", "-o", "out/a.sarif", "-o", "out/a.json")
    arguments = ("verify", "mine.yaml", "mlp_mixer_notes", "--no-cache", "--jobs", "1", *wanted, *outputs)
    assert spawn(*arguments, cwd=tmp_path, **places).code in (0, 1)
    verdicts = {one["verdict"] for one in json.loads((tmp_path / "out" / "a.json").read_bytes())["checks"]}
    assert verdicts <= {"reproduced", "reproduced_under", "differs"}  # everything was built, counted and run
    assert not asked.exists()


def test_the_library_that_reads_a_pdf_unpickles_nothing() -> None:
    """CVE-2025-64512 and CVE-2025-70559: pdfminer.six unpickled character maps from a file that the PDF names."""
    (wanted,) = map(Requirement, PROJECT["optional-dependencies"]["pdf"])
    assert not any(wanted.specifier.contains(release) for release in ("0.11.0", "0.11.7", "0.11.8"))
    assert "pickle" not in Path(cmapdb.__file__).read_text(encoding="utf-8")
