"""What code from outside prints, from one thread and from several."""

from __future__ import annotations

import os
import sys
import threading

import pytest

from imlp_audit.processes.streams import print_to_stderr


def test_the_last_of_overlapping_threads_puts_standard_output_back(capfd: pytest.CaptureFixture[str]) -> None:
    """The first thread to begin ends first: it must not give standard output back while the second one runs."""
    began, ended = threading.Event(), threading.Event()

    def second() -> None:
        with print_to_stderr():
            began.set()
            ended.wait()
            print("of the second")
            os.write(1, b"of its C code\n")

    before = sys.stdout
    with print_to_stderr():
        thread = threading.Thread(target=second)
        thread.start()
        began.wait()
        print("of the first")
    ended.set()
    thread.join()
    assert sys.stdout is before
    print("ours")
    out, err = capfd.readouterr()
    assert (out, sorted(err.splitlines())) == ("ours\n", ["of its C code", "of the first", "of the second"])


def test_an_error_puts_standard_output_back(capfd: pytest.CaptureFixture[str]) -> None:
    @print_to_stderr()
    def fails() -> None:
        os.write(1, b"code\n")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    print("ours")
    assert capfd.readouterr() == ("ours\n", "code\n")
