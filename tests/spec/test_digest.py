"""A digest of a selection changes with everything that a result may depend on, and with nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from imlp_audit.spec.load import digest_selection, load

from .papers import TABLE, about


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two papers, each in a file of its own."""
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        table = "\n".join(f"    {line}" for line in TABLE.format(paper=name, table="1", more="").splitlines()[1:])
        (tmp_path / f"{name}.yaml").write_text(f"{about(name)}tables:\n  -\n{table}\n", encoding="utf-8")
    return tmp_path


def digest(*asked: object) -> str | None:
    return digest_selection(load(["one.yaml"]), *asked)


@pytest.mark.parametrize(
    ("file", "changes"), [("one.yaml", True), ("one.lock", True), ("two.yaml", False), ("two.lock", False)]
)
def test_a_paper_in_a_file_of_its_own_is_its_file_and_its_lock(here: Path, file: str, changes: bool) -> None:
    before = digest()
    assert before == digest()
    text = (here / file).read_text(encoding="utf-8") if (here / file).exists() else ""
    (here / file).write_text(text.replace("5.72", "5.73") or "{}", encoding="utf-8")
    assert (digest() != before) is changes


def test_what_is_asked_is_part_of_it(here: Path) -> None:
    assert len({digest(), digest("x"), digest("y"), digest("x", "y")}) == 4
