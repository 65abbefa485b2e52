from __future__ import annotations

import subprocess
import sys

import pytest

from tests.cli.running import MODULE

BEGIN = """
import sys
from imlp_audit.processes.compiler import leave_compiler_out
leave_compiler_out()
import timm, torch
def compiler_is_imported():
    return "torch._dynamo.eval_frame" in sys.modules
assert not compiler_is_imported()
"""


def _run(code: str) -> None:
    done = subprocess.run([sys.executable, "-c", BEGIN + code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "asking",
    [
        "import torch._dynamo.config as asked; assert asked is torch._dynamo.config",
        "from torch._dynamo import config as asked; assert asked is torch._dynamo.config",
        "import torch._dynamo; asked = torch._dynamo.config",
        "import torch._dynamo.backends.registry as asked; assert asked is torch._dynamo.backends.registry",
        "from torch._dynamo.utils import counters as asked; assert asked is torch._dynamo.utils.counters",
        "from transformers.masking_utils import TransformGetItemToIndex; assert not compiler_is_imported();"
        " TransformGetItemToIndex().__enter__()",
    ],
)
@pytest.mark.slow
def test_who_asks_for_more_gets_the_compiler(asking: str) -> None:
    """Every module of it is loaded once: two of one name would have two classes of each error."""
    _run(f"""
{asking}
assert compiler_is_imported()
import torch._dynamo.exc as exc
from torch._dynamo.symbolic_convert import Unsupported
assert exc is sys.modules["torch._dynamo.exc"] and exc.Unsupported is Unsupported
model, x = torch.nn.Linear(3, 2), torch.ones(1, 3)
compiled = torch.compile(model, backend="eager")
torch.testing.assert_close(compiled(x), model(x))
assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1
""")


@pytest.mark.slow
def test_torchvisions_layers_compute_as_they_do() -> None:
    """Where a grid may be compiled, torchvision asks the compiler, and gets its own answer."""
    _run("""
from torchvision.ops import roi_align
x, boxes = torch.arange(64.).reshape(1, 1, 8, 8), torch.tensor([[0, 0, 0, 4, 4.]])
found = roi_align(x, boxes, 2)
import torch._dynamo.utils
assert torch._dynamo.utils.is_compile_supported("cpu") in (True, False)
torch.testing.assert_close(found, roi_align(x, boxes, 2))
""")


@pytest.mark.slow
def test_an_audit_imports_no_compiler() -> None:
    """Although it counts the detectors of the paper, whose heads are those of transformers."""
    audit = ("verify", "--no-cache", "--quiet", "imlp/1")
    done = subprocess.run([MODULE[0], "-X", "importtime", *MODULE[1:], *audit], capture_output=True, text=True)
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert {"torch", "timm", "transformers"} <= imported
    assert not {"torch._dynamo.eval_frame", "torch._inductor"} & imported
