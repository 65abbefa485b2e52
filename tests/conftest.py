"""What every test process needs: one thread, interrupts, and no test that fails because the machine is busy."""

import gc
import multiprocessing
import os
import shutil
import signal
import tempfile
from collections import Counter
from importlib import import_module
from pkgutil import iter_modules

import pytest
from hypothesis import HealthCheck, settings

from imlp_audit.cache.store import VARIABLE
from imlp_audit.processes import workers

pytest_plugins = ["pytester"]
# a shell's background job ignores interrupts, and so would every process that a test starts
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# how long examples take to be drawn says more about the machine than about a test; where 40 are few, a test says so
settings.register_profile("untimed", deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


def pytest_configure(config: pytest.Config) -> None:
    """Let all processes of a run share what they measure, and nothing with other runs unless the caller says so."""
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
        prepare()  # the process that only hands out tests needs no torch
    if VARIABLE not in os.environ:
        os.environ[VARIABLE] = tempfile.mkdtemp(prefix="imlp-audit-tests-")
        config.add_cleanup(lambda: shutil.rmtree(os.environ.pop(VARIABLE)))


def prepare() -> None:
    """Import what tests need, once: where a copy can be made of this process, none has to import it again."""
    import torch

    import imlp_audit.count.changed_models
    import imlp_audit.models

    for module in iter_modules(imlp_audit.models.__path__, "imlp_audit.models."):
        import_module(module.name)  # a copy that is made while another thread imports one waits for it for ever
    torch.set_num_threads(1)  # pytest-xdist gives every core a process, and more threads than cores wait on each other
    if "fork" in multiprocessing.get_all_start_methods():
        workers.start = multiprocessing.get_context("fork")  # type: ignore[assignment]  # it starts them too


def pytest_collection_finish() -> None:
    """Leave what was imported out of the search for garbage; search less often."""
    gc.freeze()
    gc.set_threshold(100_000)


# begun first, so that no process is left alone with one of them in the end
LONGEST = ("test_audit", "test_against_counters", "test_properties", "test_docs", "test_claims")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest files; mark as slow all but the first cases of a test that says how many are daily."""
    items.sort(key=lambda item: LONGEST.index(item.path.stem) if item.path.stem in LONGEST else len(LONGEST))
    seen: Counter[str] = Counter()
    for item in items:
        daily = item.get_closest_marker("daily")
        if daily is not None and item.get_closest_marker("slow") is None:
            test = item.nodeid.partition("[")[0]
            seen[test] += 1
            if seen[test] > daily.args[0]:
                item.add_marker(pytest.mark.slow)
