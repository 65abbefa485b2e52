"""Claims are read without being run; each says what it claims, where, and in which form."""

from __future__ import annotations

import ast
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from imlp_audit.claims.catalogue import AnyClaim, BrokenClaim, ClaimText, read_claims
from imlp_audit.processes.code import bundled_folder
from imlp_audit.spec.load import load
from tests.claims.papers import all_claims

SPECS = bundled_folder()
HEAD = "from imlp_audit.claims import claim\n\n"
GOOD = """@claim(x=None, place="Eq. 1", printed="y = x")
def {name}(x):
    '''Words
    of a claim.'''
    return x
"""


def read(folder: Path, **modules: str) -> tuple[AnyClaim, ...]:
    (folder / "claims").mkdir()
    for name, text in modules.items():
        (folder / "claims" / f"{name}.py").write_text(text)
    return read_claims("mine", folder, "mine")


def problem(folder: Path, text: str) -> str:
    (claim,) = read(folder, sec1=HEAD + text)
    assert isinstance(claim, BrokenClaim)
    return f"{claim.id} {claim.file}:{claim.line}: {claim.problem}"


def test_there_are_claims_of_all_five_papers() -> None:
    assert {claim.paper for claim in all_claims()} == {
        "imlp", "iffn_poster", "mixer_gmlp_coursework", "mlp_mixer_notes", "resmlp"
    }  # fmt: skip
    assert len(all_claims()) >= 270


def test_ids_are_slugs_and_each_is_taken_once() -> None:
    ids = [claim.id for claim in all_claims()]
    assert len(set(ids)) == len(ids)
    assert all(claim.name == claim.name.lower() and claim.name.isidentifier() for claim in all_claims())


def test_statements_are_sentences() -> None:
    assert [claim.id for claim in all_claims() if not claim.statement.endswith((".", '"', ")"))] == []


def test_claims_lie_where_they_say() -> None:
    for claim in all_claims():
        lines = (SPECS.parent / claim.file).read_text().splitlines()
        assert claim.name in lines[claim.line - 1], claim.id


def test_the_nearest_form_of_a_literal_one_is_another_claim_of_the_paper() -> None:
    for claim in all_claims():
        names = {other.name for other in all_claims() if other.paper == claim.paper} - {claim.name}
        assert claim.nearest is None or (claim.literal and claim.nearest in names), claim.id


@pytest.mark.slow
def test_listing_claims_imports_neither_torch_nor_hypothesis_nor_the_claims() -> None:
    program = (
        "import sys; from imlp_audit.spec.load import load, select_equations; n = len(select_equations(load())); "
        "print(n, [m for m in sys.modules if m.partition('.')[0] in ('torch', 'hypothesis') or 'audit_paper_' in m])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=SPECS.parent)
    assert done.stdout.split(maxsplit=1) == [str(len(all_claims())), "[]\n"]


def test_no_claim_draws_random_numbers_outside_its_strategy() -> None:
    """Randomness outside the strategy could not be shrunk, nor shown; a seed may be an example."""
    for path in SPECS.glob("*/claims/*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        called = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        assert not called & {"rand", "randn", "randint", "default_rng"}, path


def test_every_claim_is_in_the_coverage_of_its_paper() -> None:
    for paper in load([str(path.parent) for path in SPECS.glob("*/paper.yaml")]).papers:
        globs = [glob for located in paper.coverage for entry in located.value.entries for glob in entry.checks or ()]
        own = [claim.id for claim in all_claims() if claim.paper == paper.id]
        assert [name for name in own if not any(fnmatchcase(name, glob) for glob in globs)] == []


def test_claims_are_in_the_order_of_their_names_whatever_module_they_are_in(tmp_path: Path) -> None:
    found = read(
        tmp_path, a=HEAD + GOOD.format(name="z"), b=HEAD + GOOD.format(name="y"), _c=HEAD + GOOD.format(name="x")
    )
    assert [(claim.id, claim.file, claim.line) for claim in found] == [
        ("mine/equations/y", "mine/claims/b.py", 4),
        ("mine/equations/z", "mine/claims/a.py", 4),
    ]
    assert isinstance(found[0], ClaimText)
    assert (found[0].statement, found[0].place, found[0].form, found[0].tolerance) == (
        "Words of a claim.", "Eq. 1", "y = x", None,
    )  # fmt: skip


def test_only_decorated_functions_are_claims(tmp_path: Path) -> None:
    assert read(tmp_path, sec1="def helper():\n    pass\n\nclaim = 1\n") == ()


def test_texts_of_several_lines_and_a_tolerance_with_its_reason(tmp_path: Path) -> None:
    more = 'printed="y"\n    " = x", needs="a solver", tolerance=1e-6, because="x is large"'
    (claim,) = read(tmp_path, sec1=HEAD + GOOD.format(name="eq1").replace('printed="y = x"', more))
    assert isinstance(claim, ClaimText)
    assert (claim.form, claim.needs, claim.tolerance, claim.literal) == ("y = x", "a solver", "1e-06: x is large", True)


@pytest.mark.parametrize(("symbols", "fault"), [("x=None, y=None", None), ("y=None", "has no strategy for it")])
def test_symbols_of_a_section_are_drawn_for_all_its_claims(tmp_path: Path, symbols: str, fault: str | None) -> None:
    text = GOOD.format(name="eq1").replace("x=None, ", "")
    (found,) = read(tmp_path, sec1=f"claim = claim_about({symbols})\n\n{text}")
    assert isinstance(found, BrokenClaim if fault else ClaimText)
    assert fault is None or (isinstance(found, BrokenClaim) and fault in found.problem)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("    '''Words\n    of a claim.'''", "    pass", "has no docstring; state the claim there, in words"),
        ('place="Eq. 1", ', "", "lacks `place`, where in the paper it stands"),
        ('place="Eq. 1"', "place=PLACE", "has no text in `place`; write it there as a plain string"),
        ('place="Eq. 1"', 'place=""', "has no text in `place`; write it there as a plain string"),
        ('place="Eq. 1"', 'place=f"Eq. {1}"', "has no text in `place`; write it there as a plain string"),
        (', printed="y = x"', "", "needs either `printed` or `corrected`"),
        (', printed="y = x"', ', printed="y", corrected="x"', "needs either `printed` or `corrected`"),
        (', printed="y = x"', ', printed="y", tolerance=1e-3', "needs both `tolerance` and `because`, or neither"),
        (', printed="y = x"', ', printed="y", because="of x"', "needs both `tolerance` and `because`, or neither"),
        (
            ', printed="y = x"',
            ', printed="y", tolerance=2 * x, because="of x"',
            "needs a number between 0 and 1 as its `tolerance`",
        ),
        (
            ', printed="y = x"',
            ', printed="y", tolerance=1e999, because="of x"',
            "needs a number between 0 and 1 as its `tolerance`",
        ),
        ("x=None, ", "", "takes x, but its decorator has no strategy for it"),
        ("x=None, ", "x=None, y=None, ", "does not take y, which its decorator draws"),
        ("return x", "return True", "takes x and does not use it"),
    ],
)
def test_what_a_claim_lacks_is_said_where_it_stands(tmp_path: Path, old: str, new: str, message: str) -> None:
    text = GOOD.format(name="eq1")
    assert old in text
    assert problem(tmp_path, text.replace(old, new)) == (
        f"mine/equations/eq1 mine/claims/sec1.py:4: the claim eq1 {message}"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            GOOD.format(name="eq1").replace(")\n", ', nearest="eq2")\n', 1),
            "mine/equations/eq1 mine/claims/sec1.py:4: its text `nearest` names eq2, but the paper has no such claim",
        ),
        (
            GOOD.format(name="eq1") * 2,
            "mine/equations/eq1 mine/claims/sec1.py:4: the claim eq1 is defined again in mine/claims/sec1.py:9; "
            "give each a name of its own",
        ),
        ("def\n", "mine/equations/sec1 mine/claims/sec1.py:3: is not Python: invalid syntax"),
    ],
)
def test_a_claim_that_cannot_be_read_says_where_and_why(tmp_path: Path, text: str, message: str) -> None:
    assert problem(tmp_path, text) == message
