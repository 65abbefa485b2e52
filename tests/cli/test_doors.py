"""Whatever a command reads, a file that never ends, is too large or too deep is refused at once, and says which."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from .papers import DEIT, PARAMS, TOP1, write
from .running import Outcome, call, run_apart, spawn

ROW = (
    "{id: a, label: A, model: {timm: deit_tiny_patch16_224, mlp: {python: {file: b.py, name: B}}}, printed: {top1: 1}}"
)
LINT = ("lint", "specs/p")
DOORS = {
    "specs/p/findings.yaml": LINT,
    "specs/p/table2.yaml": ("lint", "specs/p/table2.yaml"),
    "specs/p/findings.lock": LINT,
    "specs/p/claims/sec1.py": LINT,
    "specs/p/b.py": LINT,
    "a.json": ("diff", "a.json", "b.json"),
    "from.json": ("report", "--from", "from.json"),
    "with.json": ("report", "p", "--with", "with.json"),
    "source.tex": ("init", "source.tex"),
    "document.txt": ("coverage", "document.txt", "specs/p"),
    "weights.pth": ("inspect", "weights.pth"),
}
DEEP = {".py": "x = " + "-" * 20_000 + "1", ".yaml": "[" * 20_000, ".lock": "[" * 20_000, ".json": "[" * 20_000}
NO_UTF_8 = {"source.tex", "document.txt", "weights.pth"}  # text of other encodings, or no text


def _large(path: Path) -> None:
    path.touch()
    os.truncate(path, 2**40)  # takes no room on the disk


KINDS: dict[str, tuple[Callable[[Path], object], str, set[str]]] = {
    "a pipe": (os.mkfifo, "pipe", set()),
    "a device": (lambda path: path.symlink_to("/dev/zero"), "device", set()),
    "a folder": (Path.mkdir, "folder", {"specs/p/table2.yaml"}),  # which may be one of papers
    "1 TiB": (_large, "larger than", {"weights.pth"}),
    "no text": (lambda path: path.write_bytes(b"{\n\xff"), "is not UTF-8", NO_UTF_8),
    "nested": (lambda path: path.write_text(DEEP[path.suffix]), "nest|recursion|levels", NO_UTF_8),
}
KILLED = '''
import os
from imlp_audit.claims import claim

os.kill(os.getpid(), 9)

@claim(place="Section 1", printed="x")
def ends():
    """It ends its process."""
'''


def _call_in_each(folders: Sequence[Path], arguments: Sequence[str]) -> list[Outcome]:
    """Run the command line in folders, with 2 GiB more of memory than this process has."""
    import resource

    most = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() + 2**31
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    outcomes = []
    for folder in folders:
        os.chdir(folder)
        outcomes.append(call(*arguments))
    return outcomes


@pytest.mark.skipif(sys.platform != "linux", reason="has pipes, devices and limits of memory")
@pytest.mark.parametrize("file", DOORS)
def test_a_file_that_cannot_be_read_is_refused_at_once(tmp_path: Path, file: str) -> None:
    """All kinds of files at one door, in a process of their own: one that waits for ever fails."""
    words = {}
    for kind, (make, told, elsewhere) in KINDS.items():
        if file not in elsewhere:
            here = tmp_path / kind
            write(here, "p", TOP1, ROW)
            (here / "specs" / "p" / "b.py").write_text("class B: pass\n")
            path = here / file
            path.parent.mkdir(exist_ok=True)
            path.unlink(missing_ok=True)
            make(path)
            words[here] = told
            if path.name == "b.py" and not path.is_file():
                words[here] = "there is no such file|leads out of the folder"
    outcomes = run_apart(_call_in_each, list(words), DOORS[file])
    for (place, told), done in zip(words.items(), outcomes, strict=True):
        assert (place, done.code, done.out) == (place, 2, "")
        assert Path(file).name in done.err
        assert "bug" not in done.err
        assert re.search(told, done.err), (place, done.err)


def test_python_that_takes_too_long_to_parse_is_a_broken_claim(tmp_path: Path) -> None:
    """What no limit of bytes catches: deep trees, one name of many parts, and too many files."""
    write(tmp_path, "p", TOP1, "{id: a, label: A, printed: {top1: 1}}")
    folder = tmp_path / "specs" / "p" / "claims"
    folder.mkdir()
    texts = {
        "calls": ("f" + "()" * 14_000, "is nested too deeply to be parsed"),
        "dots": ("import a" + ".a" * 5000, "a name of more than 100 parts begins here"),
        "lines": ("x\n" * 40_000, "has more than 60000 words and signs"),
        "digits": ("x = " + "9" * 100_000, "has a word or number of more than 10000 characters"),
        "hexadecimal": ("x = 0x" + "f" * 100_000, "has a word or number of more than 10000 characters"),
    }
    for name, (text, _) in texts.items():
        (folder / f"{name}.py").write_text(text)
    done = call("lint", str(folder.parent))
    assert done.code == 2
    for name, (_, message) in texts.items():
        assert f"/{name}.py:1:1: {message}" in done.err.replace("is not read: ", "")
    for at in range(100):
        (folder / f"z{at}.py").touch()
    assert "or more than 100, which are not read" in call("lint", str(folder.parent)).err
    for at in range(90):
        (folder / f"z{at}.py").unlink()
    for at in range(90, 100):
        (folder / f"z{at}.py").write_text("x = 1\n" * 10_000 + "# " * 25_000)
    assert "holds files of claims of more than 1 MiB together" in call("lint", str(folder.parent)).err


@pytest.mark.parametrize("door", [one for one in DOORS if one.endswith(".json")])
def test_a_result_of_endless_values_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, door: str) -> None:
    write(tmp_path, "p", TOP1, "{id: a, label: A, printed: {top1: 1}}")
    monkeypatch.chdir(tmp_path)
    (tmp_path / door).write_text('{"format": "imlp-audit/3", "checks": [' + "{}," * 300_000 + "{}]}")
    done = call(*DOORS[door])
    assert (done.code, done.out) == (2, "")
    assert f"{door}: more than 400000 values" in done.err


CLAIM = "{id: c%s, text: t, source: {section: '1'}, conditions: [{value: top1, above: 1}], rows: [%s]}"
ENTRY = "{id: f%s, title: T, kind: note, why: W, checks: [%s]}"
GLOBS = {
    "claims.yaml": ("claims", [CLAIM % (at, ", ".join(["p/1/*"] * 103)) for at in range(10)]),
    "one claim": ("claims", [CLAIM % (0, ", ".join(["p/1/*"] * 1030))]),
    "findings.yaml": ("findings", [ENTRY % (0, ", ".join(f"'*r{at % 5}*'" for at in range(1030)))]),
}


@pytest.mark.parametrize("kind", GLOBS)
def test_globs_of_endless_work_are_refused(tmp_path: Path, kind: str) -> None:
    write(tmp_path, "p", TOP1, *(f"{{id: r{at}, label: A, printed: {{top1: 1}}}}" for at in range(500)))
    key, entries = GLOBS[kind]
    (tmp_path / "specs" / "p" / "more.yaml").write_text("\n- ".join([f"paper: p\n{key}:", *entries]))
    done = call("lint", str(tmp_path / "specs" / "p"))
    assert (done.code, done.out) == (2, "")
    assert "globs of 'p' are compared with more than 500000 ids in all" in done.err
    assert len(done.err) < 500


def test_a_paper_of_endless_files_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "p", TOP1, "{id: a, label: A, printed: {top1: 1}}")
    for at in range(3):
        (tmp_path / "specs" / "p" / f"more{at}.yaml").write_text("paper: p\n" + "# more\n" * 130_000)
    done = call("lint", str(tmp_path / "specs" / "p"))
    assert (done.code, done.out) == (2, "")
    assert "the files of this paper have more than 2 MiB together" in done.err


def test_a_name_of_endless_length_is_not_written_out(tmp_path: Path) -> None:
    write(tmp_path, "p", TOP1, "{id: a, label: A, printed: {top1: 1}}")
    (tmp_path / "specs" / "p" / "findings.yaml").write_text(f"paper: p\nfindings:\n- {ENTRY % (0, 'x' * 50_000)}\n")
    done = call("lint", str(tmp_path / "specs" / "p"))
    assert done.code == 2
    assert len(done.err) < 2000


@pytest.mark.skipif(sys.platform == "win32", reason="has no pipes")
def test_nothing_runs_that_merely_lies_in_the_current_folder_or_on_pythonpath(tmp_path: Path) -> None:
    write(tmp_path, "p", PARAMS, f"{{id: a, label: A, model: {DEIT}, printed: {{params: 5.72}}}}")
    folder = tmp_path / "specs" / "p" / "claims"
    folder.mkdir()
    (folder / "sec1.py").write_text(KILLED)
    evil = f"open({str(tmp_path / 'ran')!r}, 'a').write(__name__)\n"
    for name in ("multiprocessing", "pickle", "resource"):  # processes of our own import them first
        (tmp_path / f"{name}.py").write_text(evil)
    added = tmp_path / "added"
    for name in ("evil.egg-info", "pipe.egg-info"):
        (added / name).mkdir(parents=True)
        (added / name / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n")
    groups = ("torch.backends", "pydantic")
    points = "".join(f"[{group}]\nevil = evil:run\n" for group in groups)
    (added / "evil.egg-info" / "entry_points.txt").write_text(points)
    os.mkfifo(added / "pipe.egg-info" / "entry_points.txt")
    (added / "evil.py").write_text(evil)
    done = spawn("verify", "specs/p", "--trust-code", "--no-cache", cwd=tmp_path, PYTHONPATH=str(added))
    assert done.code == 3
    assert "its process ended (exit code -9)" in done.out  # so it had begun
    assert "1 holds" in done.out
    assert not (tmp_path / "ran").exists()


WRITTEN = {
    "findings.lock": ("acknowledge", "specs/p"),
    "index.html": ("report", "specs/p", "--dir", "specs/p"),
    "p.md": ("report", "specs/p", "--dir", "specs/p"),
}


@pytest.mark.skipif(sys.platform == "win32", reason="makes links for administrators alone")
@pytest.mark.parametrize("name", WRITTEN)
def test_no_file_is_written_through_a_link_that_lies_in_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    rows = (
        "{id: a, label: A, printed: {top1: 1.0}}",
        "{id: b, label: B, baseline: a, printed: {top1: 2.0}, delta: {top1: 9%}}",
    )
    write(tmp_path, "p", TOP1, *rows)
    path, target = tmp_path / "specs" / "p" / name, tmp_path / "target"
    if name == "findings.lock":
        finding = "{id: f, title: T, kind: ask, why: W, checks: [p/1/b/top1.delta]}"
        (path.parent / "findings.yaml").write_text(f"paper: p\nfindings:\n- {finding}\n")
    path.symlink_to(target)
    monkeypatch.chdir(tmp_path)
    before = target.read_bytes() if target.exists() else None
    done = call(*WRITTEN[name], "--no-progress")
    assert (done.code, done.err.count("\n")) == (2, 1), done.err
    assert f"specs/p/{name} is a link, which is not written through" in done.err
    assert (target.read_bytes() if target.exists() else None) == before
    assert path.is_symlink()


def test_no_paper_is_called_as_the_overview(tmp_path: Path) -> None:
    write(tmp_path, "index", TOP1, "{id: a, label: A, printed: {top1: 1}}")
    done = call("report", str(tmp_path / "specs"), "--dir", str(tmp_path / "out"))
    assert done.code == 2
    assert "'index' cannot be a paper's id: reports have an overview of that name" in done.err


def test_quiet_says_why_a_check_was_not_completed(tmp_path: Path) -> None:
    write(tmp_path, "p", TOP1, "{id: a, label: A, printed: {top1: 1}}")
    folder = tmp_path / "specs" / "p" / "claims"
    folder.mkdir()
    (folder / "sec1.py").write_text(KILLED)
    done = call("verify", str(folder.parent), "-q", "--trust-code")
    assert (done.code, done.out) == (3, "")
    assert "imlp-audit: p/equations/ends: " in done.err
    assert "its process ended (exit code -9)" in done.err
