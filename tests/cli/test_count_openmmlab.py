"""`imlp-audit count` on code as OpenMMLab's: packages that check versions, registries of a scope, and configurations
in Python that inherit from each other. mmengine itself is not installed here; a small one stands in its place.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from .running import call
from .test_count import causes, count

FILES = {
    "mmengine/__init__.py": """
import runpy, pathlib
from . import registry
class Config(dict):
    @staticmethod
    def fromfile(file):
        own = runpy.run_path(str(file))
        base = Config.fromfile(pathlib.Path(file).parent / own["_base_"]) if "_base_" in own else {}
        return Config({**base, **{key: {**base.get(key, {}), **one} for key, one in own.items() if key == "model"}})
    def to_dict(self):
        return dict(self)
""",
    "mmengine/registry.py": """
scopes, known = [], {}
def init_default_scope(scope): scopes.append(scope)
def register(kind): known[kind.__name__] = kind; return kind
def build(cfg): return known[cfg.pop("type")](**cfg) if scopes[-1:] == ["mmthings"] else None
""",
    "mmthings/__init__.py": "assert '2.2' < '2.1', 'install an older mmcv'\n",
    "mmthings/registry.py": "from mmengine.registry import build, register\n",
    "mmthings/models/__init__.py": "from .net import Net\n",
    "mmthings/models/net.py": """
from torch import nn
from mmthings.registry import register
@register
class Net(nn.Module):
    def __init__(self, width, deploy=False):
        super().__init__()
        self.fc = nn.Linear(width, 7, bias=not deploy)
""",
    "mmthings/models/builder.py": """
from mmthings.registry import build
def build_thing(cfg, deploy=None):
    assert deploy is None or "deploy" not in cfg, "given twice"
    return build(cfg)
def build_wide(cfg, width):
    return build({"type": cfg["type"], "width": 2 * width})
""",
    "configs/base.py": "model = dict(type='Net', width=3, deploy=False)\n",
    "configs/wide.py": "_base_ = 'base.py'\nmodel = dict(width=30)\n",
}


@pytest.fixture
def things(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("things")
def test_a_model_of_a_registry() -> None:
    """Only the `__init__.py` that fails is left out: another one registers the model."""
    given = ("mmthings/models/builder.py:build_thing", "--config", "configs/wide.py:model")
    found = count(*given, "--printed", "params=210", code=1)
    assert found["parameters"]["all"] == 30 * 7 + 7
    assert "without a bias in any layer" in causes(found)
    assert any("without the __init__.py of mmthings, where" in note for note in found["notes"])


@pytest.mark.usefixtures("things")
def test_what_a_function_needs_beside_its_configuration() -> None:
    found = count("mmthings/models/builder.py:build_wide", "--config", "configs/wide.py:model")
    assert found["parameters"]["all"] == 60 * 7 + 7


@pytest.mark.usefixtures("things")
def test_only_the_package_that_fails_is_left_out() -> None:
    Path("mmthings/__init__.py").write_text("WIDE = 5\n")
    Path("mmthings/models/__init__.py").write_text("raise OSError('no weights')\n")
    Path("mmthings/models/wide.py").write_text(
        "from torch import nn\nfrom mmthings import WIDE\ndef wide():\n    return nn.Linear(WIDE, 7)\n"
    )
    found = count("mmthings/models/wide.py:wide")
    assert found["parameters"]["all"] == 5 * 7 + 7
    assert any("without the __init__.py of mmthings/models, where" in note for note in found["notes"])


@pytest.mark.usefixtures("things")
def test_a_package_that_fails_within() -> None:
    Path("mmthings/models/__init__.py").write_text("from .net import Net\nraise OSError('no weights')\n")
    found = count("mmthings/models/net.py:Net", "--arg", "width=2")
    assert found["parameters"]["all"] == 2 * 7 + 7
    assert any("without the __init__.py of mmthings and mmthings/models" in note for note in found["notes"])
    Path("mmthings/models/net.py").write_text("raise OSError('nor this')\n")
    done = call("count", "mmthings/models/net.py:Net")
    assert (done.code, done.out) == (3, "")
    assert "mmthings/__init__.py:1: AssertionError: install an older mmcv" in done.err


OLD = {
    "libraries/mmcv/__init__.py": "__version__ = '2.2.0'\n",
    "libraries/mmcv/utils.py": "",
    "libraries/mmcv/cnn.py": "",
    "libraries/mmengine/__init__.py": "from .registry import HOOKS, Registry, build_from_cfg\n",
    "libraries/mmengine/model.py": """
from torch import nn
class BaseModule(nn.Module):
    def __init__(self, init_cfg=None):
        super().__init__()
def constant_init(module, value):
    nn.init.constant_(module.weight, value)
""",
    "libraries/mmengine/registry/__init__.py": "from .registry import HOOKS, Registry, build_from_cfg\n",
    "libraries/mmengine/registry/registry.py": """
MODULE2PACKAGE = {"oldthings": "mmoldthings"}
class Registry:
    def __init__(self, name):
        self._module_dict = {}
    def _register_module(self, module, module_name=None, force=False):
        if module.__name__ in self._module_dict:
            raise KeyError(f"{module.__name__} is already registered in it")
        self._module_dict[module.__name__] = module
    def register_module(self):
        return lambda module: self._register_module(module) or module
HOOKS = Registry("hook")
def build_from_cfg(cfg, registry):
    assert not MODULE2PACKAGE, "register_all_modules is missing"
    return registry._module_dict[cfg.pop("type")](**cfg)
""",
    "repository/oldthings/__init__.py": "import mmcv\nassert mmcv.__version__ < '1.4', 'MMCV is incompatible'\n",
    "repository/oldthings/models/__init__.py": "from .builder import THINGS\nfrom .net import Net\n",
    "repository/oldthings/models/builder.py": """
from mmcv.utils import Registry, build_from_cfg
THINGS = Registry("thing")
def build_thing(cfg):
    return build_from_cfg(cfg, THINGS)
""",
    "repository/oldthings/models/net.py": """
from mmcv.cnn import constant_init
from mmcv.runner import HOOKS, BaseModule, auto_fp16, load_checkpoint
from mmcv.utils import get_logger
from torch import nn
from .builder import THINGS
@HOOKS.register_module()
class Hook:
    pass
from nowhere import something
@THINGS.register_module()
class Net(BaseModule):
    def __init__(self, width):
        super().__init__(init_cfg={})
        self.fc = nn.Linear(width, 7)
        constant_init(self.fc, 1)
        load_checkpoint(self, "pretrained/net.pth", logger=get_logger("oldthings"))
    @auto_fp16(apply_to=("x",))
    def forward(self, x, metas):
        raise AssertionError
    def forward_dummy(self, x):
        return self.fc(x)
""",
    "repository/configs/wide.py": "model = dict(type='Net', width=30)\n",
}


def test_code_of_the_old_mmcv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What today's mmcv has left to mmengine is taken from there; an import that failed is made anew as a whole."""
    for name, text in OLD.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "repository" / ".git").mkdir()
    monkeypatch.chdir(tmp_path / "repository")
    given = ("--path", "../libraries", "--config", "configs/wide.py:model", "--input", "30")
    found = count("oldthings/models/builder.py:build_thing", *given)
    assert (found["parameters"]["all"], found["flops"]["macs"]) == (30 * 7 + 7, 30 * 7)
    for words in (
        "mmcv.utils.Registry was taken from mmengine",
        "mmcv.runner.load_checkpoint is missing; what it sets",
    ):
        assert any(words in note for note in found["notes"]), words
