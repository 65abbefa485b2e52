"""`imlp-audit doctor`."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from imlp_audit.evaluate.data.imagenet import imagenet_classes
from tests.evaluate.folders import picture, sorted_like_imagenet

from .running import call, spawn


@pytest.fixture
def few(tmp_path: Path) -> Path:
    """Three images in a class folder, and one in none."""
    folder = tmp_path / "few" / "n01440764"
    folder.mkdir(parents=True)
    for number in range(1, 4):
        picture(number).save(folder / f"ILSVRC2012_val_{number:08d}.JPEG")
    picture(4).save(folder.parent / "ILSVRC2012_val_00000004.JPEG")
    return tmp_path / "few"


@pytest.mark.slow
def test_a_whole_validation_folder(tmp_path: Path) -> None:
    """All names and numbers are right; the images are 20 small ones by 50 000 names."""
    for seed in range(20):
        picture(seed, (20 + seed, 30)).save(tmp_path / f"{seed}.JPEG")
    names = imagenet_classes()
    for name in names:
        (tmp_path / "val" / name).mkdir(parents=True)
    for number, label in sorted_like_imagenet().items():
        os.link(f"{tmp_path}/{number % 20}.JPEG", f"{tmp_path}/val/{names[label]}/ILSVRC2012_val_{number:08d}.JPEG")
    done = call("doctor", "imagenet", str(tmp_path))
    assert (done.code, done.err) == (0, "")
    assert [line for line in done.out.splitlines() if line] == [
        "val: 50 000 images in 1 000 class folders",
        "- note: looked at both ends of 50 000 of 50 000 files, and decoded 500",
        "- note: 49 980 files have the same bytes as another file",
        "- note: a single image in the folder of another class cannot be detected; only whole folders are compared",
        "nothing wrong found",
    ]


def test_every_finding_says_what_to_do(few: Path) -> None:
    done = call("doctor", "imagenet", str(few))
    assert (done.code, done.err) == (1, "")
    first, *rest = done.out.splitlines()
    assert first == ".: 4 images in 1 class folder"
    found = [line.removeprefix("- ").partition(": ")[0] for line in rest if line.startswith("- ")]
    assert found == ["flat", "classes", "images_per_class", "images", *["note"] * found.count("note")]
    assert sum(line.startswith("  - next: ") for line in rest) == 4


def test_json(few: Path) -> None:
    done = call("doctor", "imagenet", str(few), "-f", "json")
    assert done.code == 1
    told = json.loads(done.out)
    assert told["format"] == "imlp-audit/doctor/1"
    assert (told["folder"], told["images"], told["classes"]) == (".", 4, 1)
    assert [sorted(one) for one in told["findings"]] == [["kind", "names", "next", "what"]] * 4
    assert told["findings"][0]["names"] == ["ILSVRC2012_val_00000004.JPEG"]
    assert str(few) not in done.out
    assert call("doctor", "imagenet", str(few), "-f", "json").out == done.out


@pytest.mark.slow
def test_all_images_are_decoded(few: Path) -> None:
    path = few / "n01440764" / "ILSVRC2012_val_00000002.JPEG"
    path.write_bytes(b"\xff\xd8\xff" + bytes(500) + b"\xff\xd9")
    done = spawn("doctor", "imagenet", "few", "--all", cwd=few.parent)
    assert (done.code, done.err) == (1, "")
    assert "unreadable: 1 image cannot be read: n01440764/ILSVRC2012_val_00000002.JPEG (" in done.out


def test_names_cannot_write_to_the_terminal(few: Path) -> None:
    (few / "\x1b[2Jcat").mkdir()
    picture(1).save(few / "\x1b[2Jcat" / "\x1b]0;x\x07.JPEG")
    done = call("doctor", "imagenet", str(few))
    assert "\x1b" not in done.out
    assert "\\x1b[2Jcat" in done.out


@pytest.mark.parametrize("name", ["nowhere", "few/ILSVRC2012_val_00000004.JPEG"])
def test_a_path_that_is_not_a_folder(few: Path, name: str) -> None:
    done = call("doctor", "imagenet", str(few.parent / name))
    assert (done.code, done.out) == (2, "")
    assert "is not a folder; give the folder of ImageNet's validation images" in done.err


@pytest.mark.parametrize("arguments", [(), ("cifar10", "x"), ("imagenet",), ("imagenet", "x", "-f", "pdf")])
def test_command_lines_that_cannot_be_used(arguments: tuple[str, ...]) -> None:
    done = call("doctor", *arguments)
    assert (done.code, done.out) == (2, "")


@pytest.mark.slow
def test_it_starts_without_torch(few: Path) -> None:
    done = spawn(
        "doctor", "imagenet", str(few), cwd=few, command=(sys.executable, "-X", "importtime", "-m", "imlp_audit")
    )
    assert done.code == 1
    assert "| PIL.Image" in done.err.replace("|   ", "| ").replace("  ", "")
    assert not [line for line in done.err.splitlines() if line.rpartition("|")[2].strip() in ("torch", "timm")]
