"""Files of a validation folder of ImageNet-1k, and the examination of the whole folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from imlp_audit.errors import DatasetError
from imlp_audit.evaluate.data.folder import list_images
from imlp_audit.evaluate.data.imagenet import imagenet_classes
from imlp_audit.evaluate.doctor.examine import examine
from imlp_audit.evaluate.doctor.files import FileLimits, look_into_files
from imlp_audit.evaluate.doctor.problems import FolderProblem, ProblemKind
from tests.evaluate.folders import picture

from .problems import by_kind

FEW = FileLimits(opened=100, decoded=5)


PUBLISHED = imagenet_classes()


def files(root: Path, count: int) -> list[Path]:
    """Write so many JPEG files of different sizes into one class folder."""
    folder = root / PUBLISHED[0]
    folder.mkdir(parents=True)
    paths = [folder / f"ILSVRC2012_val_{number:08d}.JPEG" for number in range(1, count + 1)]
    for number, path in enumerate(paths):
        picture(number, (30 + number % 7, 24 + number % 5)).save(path)
    return paths


def looked(
    root: Path, *, decode_all: bool = False, limits: FileLimits | None = None
) -> dict[ProblemKind, FolderProblem]:
    return by_kind(look_into_files(root, list_images(root), decode_all=decode_all, limits=limits).findings)


def test_files_in_order(tmp_path: Path) -> None:
    files(tmp_path, 30)
    found = look_into_files(tmp_path, list_images(tmp_path), decode_all=False)
    assert found.findings == ()
    assert found.notes == ("looked at both ends of 30 of 30 files, and decoded 30",)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    paths = files(tmp_path, 12)
    held = paths[0].read_bytes()
    paths[0].write_bytes(held[: len(held) // 2])
    paths[1].write_bytes(b"")
    paths[2].write_bytes(held[:300] + bytes(len(held) - 302) + held[-2:])  # both ends are in order
    found = looked(tmp_path)
    assert set(found) == {ProblemKind.UNREADABLE}
    told = found[ProblemKind.UNREADABLE]
    assert {name.rpartition("/")[2] for name in told.names} >= {path.name for path in paths[:2]}
    assert told.what.startswith(f"{len(told.names)} images cannot be read: ")


@pytest.mark.parametrize(("target", "reason"), [("pipe", "not a regular file"), ("gone", "No such file or directory")])
def test_links_that_lead_to_no_image(tmp_path: Path, target: str, reason: str) -> None:
    (path,) = files(tmp_path / "set", 1)
    os.mkfifo(tmp_path / "pipe")
    path.unlink()
    path.symlink_to(tmp_path / target)
    assert looked(tmp_path / "set")[ProblemKind.UNREADABLE].what.endswith(f"_00000001.JPEG ({reason})")


def test_a_file_with_sound_ends_is_found_in_the_sample(tmp_path: Path) -> None:
    paths = files(tmp_path, 12)
    for path in paths:
        path.write_bytes(b"\xff\xd8\xff" + bytes(9) + b"\xff\xd9")
    assert len(looked(tmp_path, limits=FEW)[ProblemKind.UNREADABLE].names) == 5
    assert len(looked(tmp_path, decode_all=True, limits=FEW)[ProblemKind.UNREADABLE].names) == 12


def test_some_of_many_files_that_look_truncated_are_decoded(tmp_path: Path) -> None:
    for path in files(tmp_path, 12):
        path.write_bytes(path.read_bytes()[:-2])
    found = look_into_files(tmp_path, list_images(tmp_path), decode_all=False, limits=FEW)
    assert found.notes[1] == "7 more files look truncated or not like JPEG files; --all decodes them"
    assert len(by_kind(found.findings)[ProblemKind.UNREADABLE].names) == 5


def test_bytes_after_the_image_do_no_harm(tmp_path: Path) -> None:
    first, second = files(tmp_path, 2)
    first.write_bytes(first.read_bytes() + bytes(100))
    second.write_bytes(second.read_bytes() + b"made by a camera")
    assert looked(tmp_path) == {}


def test_files_of_other_types(tmp_path: Path) -> None:
    paths = files(tmp_path, 9)
    picture(1).save(paths[0], "PNG")
    paths[1].write_text("<html>404 not found")
    paths[2].write_bytes(b"\x1f\x8b rest")
    found = look_into_files(tmp_path, list_images(tmp_path), decode_all=False).findings
    assert [one.kind for one in found] == [ProblemKind.WRONG_TYPE] * 3
    assert [one.what.partition(":")[0] for one in found] == [
        "1 file is HTML or XML, not JPEG",
        "1 file is PNG, not JPEG",
        "1 file is gzip, not JPEG",
    ]


def test_resized_images(tmp_path: Path) -> None:
    folder = tmp_path / PUBLISHED[0]
    folder.mkdir()
    for number in range(100):
        picture(number, (24, 24 + number % 9)).save(folder / f"{number}.JPEG")
    assert "100 of 100 decoded images have a shorter side of 24 pixels" in looked(tmp_path)[ProblemKind.RESIZED].what
    for number in range(6):
        picture(number, (23, 40)).save(folder / f"{number}.JPEG")
    assert looked(tmp_path) == {}


def test_files_with_the_same_bytes_are_counted(tmp_path: Path) -> None:
    paths = files(tmp_path, 5)
    paths[3].write_bytes(paths[0].read_bytes())
    paths[4].write_bytes(paths[0].read_bytes())
    paths[1].write_bytes(paths[0].read_bytes()[:-70] + b"\0" + paths[0].read_bytes()[-69:])  # equal ends alone
    assert (
        "2 files have the same bytes as another file"
        in look_into_files(tmp_path, list_images(tmp_path), decode_all=False).notes
    )


def test_only_a_sample_of_too_many_files_is_opened(tmp_path: Path) -> None:
    files(tmp_path, 12)
    found = look_into_files(tmp_path, list_images(tmp_path), decode_all=False, limits=FileLimits(opened=11, decoded=4))
    assert found.notes == ("looked at both ends of 4 of 12 files, and decoded 4",)


def test_the_folder_of_the_split_is_examined(tmp_path: Path) -> None:
    files(tmp_path / "val", 2)
    (tmp_path / "train").mkdir()
    (tmp_path / "val" / ".hidden").touch()
    found = examine(tmp_path)
    assert (found.folder, found.images, found.classes) == ("val", 2, 1)
    assert {ProblemKind.CLASSES, ProblemKind.IMAGES, ProblemKind.IMAGES_PER_CLASS} <= {
        one.kind for one in found.findings
    }
    assert "1 skipped: hidden" in found.notes
    assert examine(tmp_path / "val").folder == "."


def test_what_cannot_be_examined(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "loop").mkdir()
    (tmp_path / "loop" / "again").symlink_to(".")
    for name, told in {"nowhere": "is not a folder", "file": "is not a folder", "loop": "is a link to"}.items():
        with pytest.raises(DatasetError, match=told):
            examine(tmp_path / name)


@pytest.mark.slow
def test_several_processes_decode_all_images(tmp_path: Path) -> None:
    files(tmp_path, 3)[1].write_bytes(b"\xff\xd8\xff\xff\xd9")
    assert len(looked(tmp_path, decode_all=True)[ProblemKind.UNREADABLE].names) == 1
