"""The page on data: what it lists is what is read, and its example runs from end to end."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from PIL import Image
from torchvision.datasets import ImageFolder
from torchvision.transforms.functional import normalize, to_tensor

from imlp_audit.spec.load import load
from tests.cli.running import call

PAGE = (Path(__file__).parents[2] / "docs" / "data.md").read_text(encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files that the page shows: a block of code after a line with a file's name and a colon."""
    shown = re.findall(r"`(mydigits/\w+\.\w+)`[^`]*:\n\n```\w+\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert [name for name, _ in shown] == ["mydigits/net.py", "mydigits/digits.yaml", "mydigits/train.py"]
    (tmp_path / "mydigits").mkdir()
    for name, text in shown:
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "mydigits"


def test_the_spec_on_the_page_has_no_mistakes(folder: Path) -> None:
    assert [paper.id for paper in load([str(folder)]).papers] == ["mydigits"]


@pytest.mark.slow
def test_a_model_and_images_of_ones_own(folder: Path) -> None:
    """The example, against a plain loop over torchvision's reader of the same folder."""
    subprocess.run([sys.executable, str(folder / "train.py")], check=True)
    state = torch.load(folder / "small.pth", weights_only=True)
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3072, 64), torch.nn.GELU(), torch.nn.Linear(64, 10))
    model.load_state_dict(state)
    images = ImageFolder(str(folder / "digits" / "val"))
    with torch.inference_mode():
        right = sum(
            int(model(normalize(to_tensor(image), [0.5] * 3, [0.5] * 3)[None]).argmax()) == label
            for image, label in images
        )
    spec = folder / "digits.yaml"
    tenths = (2000 * right + 360) // 720
    spec.write_text(
        spec.read_text(encoding="utf-8").replace("91.1}", f"{tenths // 10}.{tenths % 10}}}"), encoding="utf-8"
    )
    asked = ("mydigits/small.pth", "mydigits", "--row", "mydigits/1/small", "--data", "mydigits/digits", "--trust-code")
    done = call("eval", *asked, "-f", "json", "--workers", "0")
    assert done.code == 0, done.err
    (check,) = json.loads(done.out)["checks"]
    assert (check["verdict"], check["evidence"][0]["correct"], check["evidence"][0]["images"]) == (
        "reproduced",
        right,
        360,
    )


KEEPS = """
import time
from torch import nn

class Keeps(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(1, 2)

    def forward(self, images):
        self.images = images
        time.sleep(0.02)
        return self.head(self.images.mean((1, 2, 3))[:, None])
"""
KEEPING = """
paper: keeping
about: {title: A model that keeps its images, authors: A. Author, version: v1}
tables:
  - table: "1"
    title: Models
    source: {section: "1"}
    columns: {top1: {measure: score, unit: "%", metric: top1, data: two, heading: Top-1, needs: trained weights}}
    rows:
      - id: keeps
        label: Keeps
        model: {python: {file: net.py, name: Keeps, input: [3, 8, 8]}}
        printed: {top1: 100.0}
"""


def test_a_model_that_keeps_its_images_gets_one_batch_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It tells black from white. Threads would hand it white images while it computes with black ones."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("imlp_audit.cli.eval.cores", lambda: 4)
    for shade, name in ((0, "black"), (255, "white")):
        (tmp_path / "two" / "val" / name).mkdir(parents=True)
        for number in range(8):
            Image.new("RGB", (8, 8), (shade,) * 3).save(tmp_path / "two" / "val" / name / f"{number}.png")
    (tmp_path / "net.py").write_text(KEEPS, encoding="utf-8")
    (tmp_path / "keeping.yaml").write_text(KEEPING, encoding="utf-8")
    torch.save({"head.weight": torch.tensor([[-1.0], [1.0]]), "head.bias": torch.zeros(2)}, tmp_path / "w.pth")
    asked = ("w.pth", "keeping.yaml", "--row", "keeping/1/keeps", "--data", "two", "--trust-code", "--workers", "0")
    done = call("eval", *asked, "-f", "json", "--batch-size", "1")
    (check,) = json.loads(done.out)["checks"]
    assert (check["evidence"][0]["correct"], check["evidence"][0]["images"]) == (16, 16)
