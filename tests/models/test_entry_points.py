"""Models that installed packages offer under `imlp_audit.models`, and files that import their neighbours."""

from __future__ import annotations

import json
import re
import shutil
import sys
import sysconfig
import textwrap
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import ValidationError

from imlp_audit.errors import BuildError
from imlp_audit.models.build import Builder
from imlp_audit.models.recipe import Recipe
from imlp_audit.processes import code as installed_packages
from tests.cli.running import spawn
from tests.models.test_python import MACS, PARAMETERS, SPEC, WIDTH

HERE = Path(__file__).parent
NET = f"{{python: {{entry_point: NAME, arguments: {{width: {WIDTH}}}, input: [3, 16, 16]}}}}"


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package `somebodys_nets` as pip leaves it, and its five models."""
    site = tmp_path / "site"
    package, about = site / "somebodys_nets", site / "somebodys_nets-1.0.dist-info"
    package.mkdir(parents=True)
    about.mkdir()
    (package / "__init__.py").touch()
    (package / "nets.py").write_bytes((HERE / "own_nets.py").read_bytes())
    (package / "broken.py").write_text("raise RuntimeError('half installed')\n", encoding="utf-8")
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: somebodys-nets\nVersion: 1.0\n", encoding="utf-8")
    points = """\
        [imlp_audit.models]
        small = somebodys_nets.nets:SmallNet
        broken = somebodys_nets.broken:Net
        absent = somebodys_nets.no_such_module:Net
        nameless = somebodys_nets.nets:NoNet
        number = somebodys_nets.nets:WIDTHS
    """
    (about / "entry_points.txt").write_text(textwrap.dedent(points), encoding="utf-8")
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setattr(installed_packages, "own_sites", lambda: (site,))
    yield package
    for name in [name for name in sys.modules if name.startswith("somebodys_nets")]:
        del sys.modules[name]


def written(folder: Path, name: str) -> str:
    path = folder / "own.yaml"
    model = NET.replace("NAME", name)
    path.write_text(SPEC.format(model=model, params=PARAMETERS, flops=MACS), encoding="utf-8")
    return str(path)


@pytest.mark.slow
def test_an_installed_model_is_counted_without_being_asked_for(installed: Path, tmp_path: Path) -> None:
    """In an environment of its own, because models are built in other processes."""
    environment = tmp_path / "environment"
    venv.create(environment, symlinks=True)
    (site,) = environment.glob("lib/python*/site-packages")
    shutil.copytree(installed.parent, site, dirs_exist_ok=True)
    libraries = f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n"
    (site / "libraries.pth").write_text(libraries, encoding="utf-8")
    command = (str(environment / "bin" / "python"), "-m", "imlp_audit")
    given = ("verify", written(tmp_path, "small"), "-f", "json", "--no-progress", "--no-cache")
    done = spawn(*given, cwd=tmp_path, command=command)
    found = {check["id"]: check["verdict"] for check in json.loads(done.out)["checks"]}
    assert {found[f"own/1/net/{name}"] for name in ("params", "flops")} == {"reproduced"}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("smal", "the entry point smal: LookupError: no installed package has it in the group 'imlp_audit.models'; "
                 "did you mean 'small'?"),
        ("broken", "the entry point broken: RuntimeError: half installed"),
        ("absent", "the entry point absent: ModuleNotFoundError: No module named 'somebodys_nets.no_such_module'"),
        ("nameless", "the entry point nameless: AttributeError: module 'somebodys_nets.nets' has no attribute 'NoNet'"),
        ("number", "the entry point number: TypeError: it is a list, not a class or function"),
    ],
)  # fmt: skip
def test_a_broken_entry_point_is_named(name: str, message: str, installed: Path) -> None:
    recipe = Recipe.of(python={"entry_point": name, "input": (3, 16, 16)})
    with (installed / "nets.py").open("a", encoding="utf-8") as file:
        file.write("\n\nWIDTHS = [8, 16]\n")
    with pytest.raises(BuildError) as caught, Builder().variant(recipe, None):
        pass
    assert str(caught.value) == message


def test_a_package_that_lies_on_pythons_path_without_being_installed_offers_no_model(
    installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    monkeypatch.syspath_prepend(str(installed.parent))
    recipe = Recipe.of(python={"entry_point": "small", "input": (3, 16, 16)})
    with pytest.raises(BuildError, match="no installed package has it in the group"), Builder().variant(recipe, None):
        pass
    assert "somebodys_nets" not in sys.modules


def test_a_folder_with_the_name_of_the_package_is_not_imported_in_its_place(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shadow = tmp_path / "here" / "somebodys_nets"
    shadow.mkdir(parents=True)
    (shadow / "__init__.py").touch()
    (shadow / "nets.py").write_text("raise AssertionError('imported')\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(shadow.parent))
    recipe = Recipe.of(python={"entry_point": "small", "input": (3, 16, 16)})
    message = f"Python would import somebodys_nets from {shadow}, which is not where it was installed"
    with pytest.raises(BuildError, match=re.escape(message)), Builder().variant(recipe, None):
        pass


def test_its_folder_is_found_without_importing_it(installed: Path) -> None:
    (installed / "__init__.py").write_text("raise AssertionError('imported')\n", encoding="utf-8")
    host = Recipe.of(python={"entry_point": "small", "input": (3, 16, 16)}).host
    assert host.code_folder == installed  # type: ignore[attr-defined]  # a PythonModule


@pytest.mark.parametrize(
    "given",
    [{}, {"file": "a.py"}, {"name": "A"}, {"entry_point": "a", "name": "A"}, {"entry_point": "a", "file": "a.py"}],
)
def test_a_model_is_a_file_or_an_entry_point(given: dict[str, str]) -> None:
    with pytest.raises(ValidationError, match="give file and name, or the entry_point of an installed package"):
        Recipe.of(python={**given, "tokens": 3})


def in_folder(folder: Path, imported: str) -> Recipe:
    nets = folder / "nets"
    nets.mkdir()
    (nets / "sizes.py").write_text("WIDTH = 5\n\n\ndef fail():\n    raise ValueError('too wide')\n", encoding="utf-8")
    made = "fail() if fails else nn.Linear(WIDTH, 1)"
    code = f"from torch import nn\n{imported}\n\n\ndef net(fails=False):\n    return {made}\n"
    (nets / "net.py").write_text(code, encoding="utf-8")
    return Recipe.of(python={"file": "nets/net.py", "name": "net", "tokens": 3, "folder": folder})


@pytest.mark.parametrize("sizes", [".sizes", "sizes"])
def test_a_file_imports_its_neighbours(tmp_path: Path, sizes: str) -> None:
    recipe = in_folder(tmp_path, f"from {sizes} import WIDTH, fail")
    with Builder().variant(recipe, None) as variant:
        assert sum(one.numel() for one in variant.model.parameters()) == 6
    failing = recipe.with_change({"python": {"arguments": {"fails": "true"}}})
    with pytest.raises(BuildError, match=r"^nets/sizes.py:5: ValueError: too wide$"), Builder().variant(failing, None):
        pass
