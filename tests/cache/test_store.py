"""The store: what comes out is what went in, or nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imlp_audit.cache.store import Store
from imlp_audit.records.base import Record


class Kept(Record):
    """A record of a test."""

    text: str
    numbers: tuple[int, ...] = ()


keys = st.text(st.characters(codec="utf-8"), max_size=20)
records = st.builds(Kept, text=st.text(st.characters(codec="utf-8")), numbers=st.tuples(st.integers()))


@contextmanager
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def file_of(store: Store) -> Path:
    assert store.folder is not None
    (path,) = store.folder.glob("*.json")
    return path


@given(st.dictionaries(keys, records, max_size=4), keys)
def test_a_key_gives_the_record_that_was_kept_under_it(kept: dict[str, Kept], other: str) -> None:
    with folder() as at:
        for key, record in kept.items():
            Store(at).keep(key, record)
        store = Store(at)
        assert {key: store.read(key, Kept) for key in kept} == kept
        assert store.read(other, Kept) == kept.get(other)
        assert len(list(at.iterdir())) == len(kept)


@given(st.data())
def test_a_file_that_was_changed_counts_as_none(data: st.DataObject) -> None:
    with folder() as at:
        store = Store(at)
        store.keep("key", Kept(text="5.00", numbers=(1, 2)))
        path = file_of(store)
        whole = path.read_bytes()
        place = data.draw(st.integers(0, len(whole) - 1))
        cut = data.draw(st.booleans())
        changed = whole[:place] if cut else whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :]
        path.write_bytes(changed)
        assert store.read("key", Kept) is None


def test_a_file_under_the_name_of_another_counts_as_none(tmp_path: Path) -> None:
    first, second = Store(tmp_path / "a"), Store(tmp_path / "b")
    first.keep("one", Kept(text="1"))
    second.keep("two", Kept(text="2"))
    file_of(second).write_bytes(file_of(first).read_bytes())
    assert second.read("two", Kept) is None


def test_a_record_of_another_kind_counts_as_none(tmp_path: Path) -> None:
    class Other(Record):
        """Another record."""

        amount: int

    store = Store(tmp_path)
    store.keep("key", Kept(text="1"))
    assert store.read("key", Other) is None


def test_without_a_folder_nothing_is_kept() -> None:
    store = Store()
    store.keep("key", Kept(text="1"))
    store.trim()
    assert store.read("key", Kept) is None
    assert store.problem is None


def test_a_folder_that_cannot_be_written_to_is_told_and_costs_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    store = Store(tmp_path / "file")
    store.keep("key", Kept(text="1"))
    assert store.problem is not None
    assert str(tmp_path / "file") in store.problem
    assert store.read("key", Kept) is None
    assert (tmp_path / "file").read_text() == "mine"


def test_what_was_not_used_for_longest_goes_first(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for at, key in enumerate("abc"):
        store.keep(key, Kept(text=key * 100))
        path = next(p for p in tmp_path.glob("*.json") if key.encode() * 100 in p.read_bytes())
        os.utime(path, (at + 1, at + 1))
    assert store.read("a", Kept) is not None  # and is the one that was used last
    store.trim(most=2 * sum(path.stat().st_size for path in tmp_path.iterdir()) // 3)
    assert {key: store.read(key, Kept) is not None for key in "abc"} == {"a": True, "b": False, "c": True}


def test_what_a_killed_run_left_is_removed_and_files_of_others_stay(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.keep("key", Kept(text="1"))
    left, fresh = tmp_path / "imlp-audit-1.part", tmp_path / "imlp-audit-2.part"
    mine = [tmp_path / name for name in ("notes.txt", "mine.json", f"{'a' * 64}.json", "imlp-audit-notes.json")]
    for path in (left, fresh, *mine):
        path.write_text("{}")
    os.utime(left, (time.time() - 7200,) * 2)
    store.trim()
    assert not left.exists()
    assert fresh.exists()
    assert [path.read_text() for path in mine] == ["{}"] * 4


WRITE = """
import sys
from pathlib import Path
from imlp_audit.cache.store import Store
from tests.cache.test_store import Kept
store = Store(Path(sys.argv[1]))
print("ready", flush=True)
while True:
    for key in range(50):
        store.keep(str(key), Kept(text=str(key) * 10_000))
"""


@pytest.mark.slow
def test_two_that_write_the_same_keys_and_are_killed_leave_only_whole_records(tmp_path: Path) -> None:
    def start() -> subprocess.Popen[str]:
        return subprocess.Popen((sys.executable, "-c", WRITE, str(tmp_path)), stdout=subprocess.PIPE, text=True)

    for delay in (0.001, 0.01, 0.02, 0.05):
        both = [start(), start()]
        for process in both:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        time.sleep(delay)  # the longer, the more has been written: nothing depends on how much
        for process in both:
            process.send_signal(signal.SIGKILL)
            process.communicate()
        store = Store(tmp_path)
        whole = {key: store.read(str(key), Kept) for key in range(50)}
        assert all(record is None or record == Kept(text=str(key) * 10_000) for key, record in whole.items())
        assert len(list(tmp_path.glob("*.json"))) == sum(record is not None for record in whole.values())


@pytest.mark.parametrize("to", ["copy", "/dev/zero", None])
def test_an_entry_that_is_a_link_or_a_pipe_counts_as_none_and_is_replaced(tmp_path: Path, to: str | None) -> None:
    store = Store(tmp_path)
    store.keep("key", Kept(text="1"))
    entry = file_of(store)
    entry.rename(tmp_path / "copy")
    if to is None:
        os.mkfifo(entry)
    else:
        entry.symlink_to(tmp_path / to)
    assert store.read("key", Kept) is None
    store.keep("key", Kept(text="1"))
    assert store.read("key", Kept) == Kept(text="1")
    assert not entry.is_symlink()


@pytest.mark.skipif(os.name != "posix", reason="looks at permissions")
@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o775])
def test_a_folder_that_others_may_write_to_is_not_used(tmp_path: Path, mode: int) -> None:
    folder = tmp_path / "cache"
    Store(folder).keep("key", Kept(text="1"))
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(mode)
    store = Store(folder)
    assert store.read("key", Kept) is None
    store.keep("another", Kept(text="2"))
    assert len(list(folder.glob("*.json"))) == 1
    assert "may be written by other users; run `chmod go-w " in str(store.problem)
    folder.chmod(0o755)
    assert Store(folder).read("key", Kept) == Kept(text="1")
