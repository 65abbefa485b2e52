"""A pytest plugin: each check of a `*.audit.yaml` file is a test.

It fails with the check's explanation, passes where a finding acknowledges what is wrong, and is skipped where the check
is unverifiable. Nothing of the audit is imported before such a file is collected.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import cached_property
from os.path import relpath
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from imlp_audit.records.result import AuditResult
    from imlp_audit.spec.load import Selection
    from imlp_audit.spec.plan import Plan

ENDINGS = (".audit.yaml", ".audit.yml")
TRUST = "imlp_audit_trust_code"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the setting that lets a paper's Python run."""
    parser.addini(TRUST, "Run the Python beside *.audit.yaml files, such as models of your own.", "bool", default=False)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect specs whose names end in `.audit.yaml`."""
    return AuditFile.from_parent(parent, path=file_path) if file_path.name.endswith(ENDINGS) else None


class AuditFile(pytest.File):
    """A spec; it is audited once, when its first check is asked for."""

    def collect(self) -> Iterator[CheckItem]:
        """Yield an item for each check. Raises CollectError with every problem of the spec."""
        from imlp_audit.errors import AuditError
        from imlp_audit.spec.load import select_checks

        try:
            plans = select_checks(self.selection)
        except AuditError as error:
            raise self.CollectError(str(error)) from error
        yield from (CheckItem.from_parent(self, name=plan.id, plan=plan) for plan in plans)

    @cached_property
    def selection(self) -> Selection:
        """The spec as it was read."""
        from imlp_audit.spec.load import load

        return load([relpath(self.path)], trust_code=bool(self.config.getini(TRUST)))

    @cached_property
    def result(self) -> AuditResult:
        """The audit of the whole file: its numbers are judged together."""
        from imlp_audit.cache.store import Store, cache_folder
        from imlp_audit.pipeline import Options, audit

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what libraries tell their developers
            options = Options(trust_code=bool(self.config.getini(TRUST)), store=Store(cache_folder()))
            return audit(self.selection, options, lambda _: lambda _: None)

    def explain(self, plan: Plan) -> str:
        """Return the explanation of a check, as `imlp-audit explain` prints it."""
        from imlp_audit.explain.explain import explain
        from imlp_audit.explain.explanation_document import explanation_document
        from imlp_audit.report.terminal import Surface, render_terminal

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return render_terminal(explanation_document(explain(plan, self.result)), Surface(100))


class CheckItem(pytest.Item):
    """One check of a spec."""

    def __init__(self, *, plan: Plan, parent: AuditFile, **known: object) -> None:
        super().__init__(parent=parent, **known)  # type: ignore[arg-type]  # pytest's own keywords
        self.plan, self.file = plan, parent

    def runtest(self) -> None:
        """Judge the check: fail with its explanation or what is wrong with the input, skip what is unverifiable."""
        from imlp_audit.errors import AuditError
        from imlp_audit.records.check import FAILS, Verdict

        try:
            check = next(check for check in self.file.result.checks if check.id == self.plan.id)
        except AuditError as error:
            pytest.fail(str(error), pytrace=False)
        if check.verdict is Verdict.UNVERIFIABLE:
            pytest.skip(check.reason)
        if check.verdict is Verdict.ERROR or (check.verdict in FAILS and not check.acknowledged):
            pytest.fail(self.file.explain(self.plan), pytrace=False)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return the place of the number in the spec, and the check's id."""
        return self.path, self.plan.source.line - 1, self.name
