"""Code that does not end is left by an error at its line; if it does not let itself be left, its process is ended."""

from __future__ import annotations

import signal

import pytest

from imlp_audit.processes import workers
from imlp_audit.processes.workers import StoppedError, yield_apart
from tests.processes.apart_work import work

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no signal ends what takes too long here")


def test_code_that_does_not_end_gets_an_error_where_it_is_and_the_rest_goes_on() -> None:
    assert [*yield_apart(work, "never", 0.5)] == ["first", "work: its code did not end within 0.5 s", "last"]


def test_each_thing_that_is_yielded_has_its_own_time() -> None:
    assert [*yield_apart(work, "nothing", 0.5)] == ["first", "last"]


def test_code_that_goes_on_after_the_error_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_GRACE", 0.5)
    found = yield_apart(work, "stubborn", 0.5)
    assert next(found) == "first"
    with pytest.raises(StoppedError, match=r"^its code did not end within 0\.5 s$"):
        next(found)
