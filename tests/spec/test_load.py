"""Finding papers: by id, folder or file; which checks that selects, and how their places are shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from imlp_audit.claims.catalogue import ClaimText
from imlp_audit.errors import SpecError, UsageError
from imlp_audit.processes import code as installed
from imlp_audit.spec.load import Selection, load, select_checks
from imlp_audit.spec.plan import EquationPlan
from imlp_audit.spec.targets import target_of

from .papers import about, write_paper

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to stand in, with the papers `alpha` and `beta` under `specs`."""
    monkeypatch.chdir(tmp_path)
    write_paper(tmp_path / "specs", "alpha", tables=("1", "2"))
    write_paper(tmp_path / "specs", "beta")
    return tmp_path


def ids(selection: Selection) -> list[str]:
    return [paper.id for paper in selection.papers]


def checks(*arguments: str) -> list[str]:
    return [check.id for check in select_checks(load(arguments))]


ALPHA_1, ALPHA_2, BETA_1 = "alpha/1/deit_ti/params", "alpha/2/deit_ti/params", "beta/1/deit_ti/params"


def test_no_argument_takes_all_papers_of_the_folder_specs(here: Path) -> None:
    assert checks() == [ALPHA_1, ALPHA_2, BETA_1]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("beta",), [BETA_1]),
        (("beta/",), [BETA_1]),
        (("beta", "alpha"), [BETA_1, ALPHA_1, ALPHA_2]),
        (("specs",), [ALPHA_1, ALPHA_2, BETA_1]),
        (("specs/alpha",), [ALPHA_1, ALPHA_2]),
        (("./specs/alpha/",), [ALPHA_1, ALPHA_2]),
        (("specs/alpha/table2.yaml",), [ALPHA_2]),
        (("specs/alpha/paper.yaml",), [ALPHA_1, ALPHA_2]),
        (("specs/alpha/table2.yaml", "beta"), [ALPHA_2, BETA_1]),
        (("specs/alpha/table2.yaml", "specs/alpha/table1.yaml"), [ALPHA_1, ALPHA_2]),
        (("specs/alpha/table2.yaml", "alpha"), [ALPHA_1, ALPHA_2]),
        (("alpha", "specs/alpha/table2.yaml"), [ALPHA_1, ALPHA_2]),
        (("alpha", "alpha"), [ALPHA_1, ALPHA_2]),
        (("alpha/2",), [ALPHA_2]),
        (("alpha/2/",), [ALPHA_2]),
        (("alpha/2/deit_ti",), [ALPHA_2]),
        ((ALPHA_2,), [ALPHA_2]),
        (("alpha/2", "beta"), [ALPHA_2, BETA_1]),
        (("alpha/2", "alpha"), [ALPHA_1, ALPHA_2]),
        (("alpha/2", "specs/alpha/table1.yaml"), [ALPHA_1, ALPHA_2]),
        (("*/1",), [ALPHA_1, BETA_1]),
        (("*a/*/deit*/params",), [ALPHA_1, ALPHA_2, BETA_1]),
        (("specs/alpha/2",), [ALPHA_2]),
        (("specs/alpha/paper.yaml/2",), [ALPHA_2]),
        (("specs/alpha/table2.yaml/2/deit_ti/params",), [ALPHA_2]),
        (("specs/*/1",), [ALPHA_1, BETA_1]),
        (("specs/beta/1",), [BETA_1]),
    ],
)
def test_ids_folders_and_files_select_their_checks(here: Path, arguments: tuple[str, ...], expected: list[str]) -> None:
    assert checks(*arguments) == expected


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        ("group", ["gamma/1/deit_ti/params", "delta/1/deit_ti/params"]),
        ("group/", ["gamma/1/deit_ti/params", "delta/1/deit_ti/params"]),
        ("group/gamma", ["gamma/1/deit_ti/params"]),
        ("group/gamma/1/deit_ti", ["gamma/1/deit_ti/params"]),
        ("specs/group/delta", ["delta/1/deit_ti/params"]),
    ],
)
def test_a_group_is_a_folder_of_papers_that_only_its_name_selects(
    here: Path, argument: str, expected: list[str]
) -> None:
    for paper in ("gamma", "delta"):
        write_paper(here / "specs" / "group", paper)
    assert sorted(checks(argument)) == sorted(expected)
    assert ids(load()) == ["alpha", "beta"]
    with pytest.raises(UsageError, match="no spec file, folder or paper of that name"):
        load(["group/alpha"])


def test_one_paper_asked_for_in_two_spellings_is_one_paper(here: Path) -> None:
    assert checks("alpha", str(here / "specs" / "alpha")) == [ALPHA_1, ALPHA_2]


def test_what_needs_a_solver_is_selected_only_for_it() -> None:
    usual, solving = (
        [plan for plan in select_checks(load(["imlp"]), solving=asked) if isinstance(plan, EquationPlan)]
        for asked in (False, True)
    )
    assert usual == [plan for plan in select_checks(load(["imlp"])) if isinstance(plan, EquationPlan)]
    needs = [plan for plan in solving if isinstance(plan.claim, ClaimText) and plan.claim.needs is not None]
    assert needs
    assert usual == [plan for plan in solving if plan not in needs]


@pytest.mark.parametrize("folder", ["/a/paper", "/zz/paper"])
def test_a_paper_of_another_folder_is_named_by_its_path(folder: str) -> None:
    assert target_of(Path(folder)) == folder
    assert target_of(REPOSITORY / "specs" / "imlp") == "imlp"
    assert target_of(REPOSITORY / "specs" / "atlas" / "deit") == "atlas/deit"


def test_a_file_is_read_with_those_of_its_paper_beside_it(here: Path) -> None:
    table = here / "specs" / "alpha" / "table2.yaml"
    table.write_text(table.read_text(encoding="utf-8").replace("5.72", "5.7two"), encoding="utf-8")
    for argument in ("specs/alpha", "specs/alpha/table1.yaml"):
        with pytest.raises(SpecError) as caught:
            load([argument])
        assert {problem.file for problem in caught.value.problems} == {"specs/alpha/table2.yaml"}


def test_of_several_descriptions_beside_a_file_all_but_one_are_refused(here: Path) -> None:
    folder = here / "specs" / "alpha"
    (folder / "version2.yaml").write_text((folder / "paper.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    with pytest.raises(SpecError, match=r"version2.yaml:2:8: alpha is described in specs/alpha/paper.yaml already"):
        load(["specs/alpha/table1.yaml"])


def test_findings_that_name_no_paper_are_of_the_file_beside_them(here: Path) -> None:
    """A file of any other name that names no paper is not of it."""
    others = dict.fromkeys(("facts.yaml", "notes.yaml"), "about: {title: T}\n")
    for name, text in {"findings.yaml": "findings: []\n", **others}.items():
        (here / "specs" / "alpha" / name).write_text(text, encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        load(["specs/alpha/table2.yaml"])
    assert {problem.file for problem in caught.value.problems} == {"specs/alpha/findings.yaml"}


def test_names_of_claims_in_a_module_that_cannot_be_read_are_not_judged(here: Path) -> None:
    """Its check says what is wrong; names of anything else are judged as ever."""
    folder = here / "specs" / "alpha"
    (folder / "claims").mkdir()
    (folder / "claims" / "sec1.py").write_text("x = (", encoding="utf-8")
    (folder / "findings.yaml").write_text(
        "paper: alpha\nfindings:\n"
        "  - {id: one, title: T, kind: ask, why: W., checks: [alpha/equations/first]}\n"
        "  - {id: two, title: T, kind: ask, why: W., checks: [alpha/claims/first]}\n",
        encoding="utf-8",
    )
    (folder / "coverage.yaml").write_text(
        "paper: alpha\ncoverage:\n  equations: 1\n  tables: 0\n  figures: 0\n  entries:\n"
        "    - {item: Equation 1, checks: [alpha/equations/second]}\n"
        "    - {item: Table 1, checks: [alpha/1/*]}\n"
        "    - {item: Table 2, checks: [alpha/2/*]}\n"
        "  numbers:\n    - {near: [is 5], checks: [alpha/equations/third]}\n",
        encoding="utf-8",
    )
    with pytest.raises(SpecError) as caught:
        load(["alpha"])
    assert [problem.message.partition(";")[0] for problem in caught.value.problems] == ["no check 'alpha/claims/first'"]


def test_without_its_description_a_table_is_no_paper_and_what_is_wrong_with_that_is_said(here: Path) -> None:
    (here / "specs" / "alpha" / "paper.yaml").write_text(about("alpha").replace("title", "titel"), encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        load(["specs/alpha/table1.yaml"])
    assert {problem.file for problem in caught.value.problems} == {"specs/alpha/paper.yaml"}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("# nothing\n", "other.yaml:1:1: the file is empty"),
        ("- paper: p\n", "other.yaml:1:1: the file must be a mapping of keys to values, not a list"),
        ("paper\n", "other.yaml:1:1: the file must be a mapping of keys to values, not 'paper'"),
        ("services: {web: {image: a}}\n", "other.yaml:1:1: paper is missing"),
    ],
)
def test_yaml_of_another_kind_is_skipped_in_a_folder_and_judged_where_it_is_named(
    here: Path, monkeypatch: pytest.MonkeyPatch, text: str, problem: str
) -> None:
    monkeypatch.chdir(here / "specs" / "alpha")
    for name in ("a.yaml", "other.yaml"):
        Path(name).write_text(text, encoding="utf-8")
    selection = load(["."])
    assert [check.id for check in select_checks(selection)] == [ALPHA_1, ALPHA_2]
    assert selection.skipped == ("a.yaml", "other.yaml")
    with pytest.raises(SpecError) as caught:
        load(["other.yaml"])
    assert any(str(one).startswith(problem) for one in caught.value.problems)


def test_in_a_shared_folder_the_lock_lies_beside_the_file_that_describes_the_paper(here: Path) -> None:
    shared = here / "shared"
    shared.mkdir()
    for paper in ("alpha", "beta"):
        for path in (here / "specs" / paper).iterdir():
            name = f"{paper}-z.yaml" if path.name == "paper.yaml" else f"{paper}-{path.name}"
            (shared / name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    assert [paper.findings_file.lock_path.name for paper in load(["shared"]).papers] == ["alpha-z.lock", "beta-z.lock"]


def test_globs_that_select_nothing_are_named(here: Path) -> None:
    with pytest.raises(UsageError, match=r"no check is selected by --only zzz --skip \*; a glob must match"):
        select_checks(load(["beta"]), only=("zzz",), skip=("*",))


def test_a_file_leaves_files_of_other_papers_alone(here: Path) -> None:
    stray = here / "specs" / "alpha" / "stray.yaml"
    stray.write_text("paper: gamma\nnonsense: yes\n", encoding="utf-8")
    assert checks("specs/alpha/table1.yaml") == [ALPHA_1]


def test_a_file_with_tables_and_a_description_has_siblings_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    single = (write_paper(tmp_path, "p", tables=()) / "paper.yaml").read_text(encoding="utf-8")
    table = 'tables:\n  - {table: "1", title: T, source: {section: "1"}, columns: {params: {measure: parameters, unit: M, heading: P}}, rows: [{id: a, label: A, printed: {params: 5.72}}]}\n'  # noqa: E501
    (tmp_path / "p" / "paper.yaml").write_text(single + table, encoding="utf-8")
    (tmp_path / "p" / "claims.yaml").write_text(
        "paper: p\nclaims:\n"
        '  - {id: c, text: T, source: {section: "1"}, reference: {table: "1", holds: [p/1/a/params]}}\n',
        encoding="utf-8",
    )
    assert checks("p") == checks("p/paper.yaml") == ["p/1/a/params", "p/claims/c"]


def test_hidden_files_and_files_of_other_kinds_are_left_alone(here: Path) -> None:
    for name in (".table1.yaml.swp", ".hidden.yaml", "notes.txt", "table1.yaml~"):
        (here / "specs" / "beta" / name).write_text("nonsense: [", encoding="utf-8")
    assert checks("beta") == [BETA_1]


@pytest.mark.parametrize(
    ("argument", "hint"),
    [
        ("alhpa", "did you mean 'alpha'?"),
        ("zzz", "papers here: alpha, beta"),
        ("specs/alpha/table3.yaml", "did you mean 'specs/alpha/table2.yaml'?"),
        ("specs/alpha/x.yaml", "did you mean 'specs/alpha/"),
    ],
)
def test_an_unknown_name_suggests_a_near_one(here: Path, argument: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        load([argument])
    assert str(caught.value).startswith(f"{argument}: no spec file, folder or paper of that name")
    assert hint in str(caught.value)


@pytest.mark.parametrize("argument", ["empty", "specs/empty", "a" * 300, "", "specs/alpha\n"])
def test_an_argument_that_is_not_a_paper_is_refused(here: Path, argument: str) -> None:
    (here / "specs" / "empty").mkdir()
    with pytest.raises((UsageError, SpecError)):
        load([argument])


@pytest.mark.slow
def test_a_specs_folder_without_papers_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "specs").mkdir()
    assert "imlp" in [paper.id for paper in load().papers]


@pytest.mark.slow
def test_without_a_folder_specs_the_installed_papers_are_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert set(ids(load())) >= {"imlp", "iffn_poster"}
    assert ids(load(["imlp"])) == ["imlp"]


@pytest.mark.slow
def test_the_places_of_installed_specs_name_no_folder_of_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files = {check.source.file for check in select_checks(load())}
    assert "specs/imlp/table1.yaml" in files
    assert all(file.startswith("specs/") for file in files)


def test_installed_specs_are_shown_alike_in_a_wheel_and_a_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installed, "PACKAGE", tmp_path / "site" / "imlp_audit")
    write_paper(tmp_path / "site" / "imlp_audit" / "_specs", "alpha")
    monkeypatch.chdir(write_paper(tmp_path / "elsewhere", "unrelated"))
    assert {check.source.file for check in select_checks(load())} == {"specs/alpha/table1.yaml"}
    with pytest.raises(UsageError) as caught:
        load(["alfa"])
    assert str(tmp_path) not in str(caught.value)


def test_a_problem_in_an_installed_spec_names_no_folder_of_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installed, "PACKAGE", tmp_path / "site" / "imlp_audit")
    write_paper(tmp_path / "site" / "imlp_audit" / "_specs", "alpha", more=", baseline: none_such")
    monkeypatch.chdir(write_paper(tmp_path / "elsewhere", "unrelated"))
    with pytest.raises(SpecError) as caught:
        load()
    assert [problem.file for problem in caught.value.problems] == ["specs/alpha/table1.yaml"]


def test_a_file_is_shown_as_it_was_given(here: Path) -> None:
    given = here / "specs" / "beta" / "table1.yaml"
    assert [check.source.file for check in select_checks(load([str(given)]))] == [str(given)]


def test_a_paper_that_is_referred_to_is_known_but_not_selected(here: Path) -> None:
    write_paper(here / "specs", "gamma", more=", repeats: alpha/1/deit_ti")
    selection = load(["gamma"])
    assert ids(selection) == ["gamma"]
    assert [paper.id for paper in selection.referred] == ["alpha"]
    assert checks("gamma") == ["gamma/1/deit_ti/params", "gamma/repeats/1/deit_ti/params"]


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("gamma/1", ["gamma/1/deit_ti/params", "gamma/repeats/1/deit_ti/params"]),
        ("gamma/1/deit_ti", ["gamma/1/deit_ti/params", "gamma/repeats/1/deit_ti/params"]),
        ("gamma/*/deit_ti", ["gamma/1/deit_ti/params", "gamma/repeats/1/deit_ti/params"]),
        ("gamma/1/deit_ti/params", ["gamma/1/deit_ti/params"]),  # the number itself
        ("gamma/repeats", ["gamma/repeats/1/deit_ti/params"]),
        ("gamma/repeats/1/deit_ti", ["gamma/repeats/1/deit_ti/params"]),
    ],
)
def test_a_table_and_a_row_stand_for_what_is_checked_of_them_otherwise(
    here: Path, target: str, expected: list[str]
) -> None:
    write_paper(here / "specs", "gamma", more=", repeats: alpha/1/deit_ti")
    assert checks(target) == expected


def test_a_paper_is_held_to_what_others_repeat_of_it(here: Path) -> None:
    write_paper(here / "specs", "gamma", more=", repeats: alpha/1/deit_ti")
    assert checks("alpha/1") == ["alpha/1/deit_ti/params", "gamma/repeats/1/deit_ti/params"]
    assert checks("alpha/2") == ["alpha/2/deit_ti/params"]


@pytest.mark.parametrize("argument", [".", "table1.yaml", "../gamma"])
def test_a_paper_is_found_beside_the_one_that_refers_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, argument: str
) -> None:
    write_paper(tmp_path, "alpha")
    monkeypatch.chdir(write_paper(tmp_path, "gamma", more=", repeats: alpha/1/deit_ti"))
    assert [paper.id for paper in load([argument]).referred] == ["alpha"]


def test_a_broken_referenced_paper_is_reported_as_broken(here: Path) -> None:
    write_paper(here / "specs", "gamma", more=", repeats: alpha/1/deit_ti")
    table = here / "specs" / "alpha" / "table1.yaml"
    table.write_text(table.read_text(encoding="utf-8").replace("title", "titel"), encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        load(["gamma"])
    assert {problem.file for problem in caught.value.problems} == {"specs/alpha/table1.yaml"}


def test_a_bad_number_in_a_referenced_paper_is_reported_there(here: Path) -> None:
    write_paper(here / "specs", "gamma", more=", repeats: alpha/1/deit_ti")
    table = here / "specs" / "alpha" / "table1.yaml"
    table.write_text(table.read_text(encoding="utf-8").replace("5.72", "5.7x"), encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        load(["gamma"])
    assert {problem.file for problem in caught.value.problems} == {"specs/alpha/table1.yaml"}


@pytest.mark.parametrize("reference", ["empty/1/deit_ti", "nowhere/1/deit_ti"])
def test_a_reference_to_a_missing_paper_is_a_problem_at_its_place(here: Path, reference: str) -> None:
    (here / "specs" / "empty").mkdir()
    write_paper(here / "specs", "gamma", more=f", repeats: {reference}")
    with pytest.raises(SpecError) as caught:
        load(["gamma"])
    assert [(p.file, p.line) for p in caught.value.problems] == [("specs/gamma/table1.yaml", 8)]


@pytest.mark.parametrize("glob", ["/1/deit_ti", "../gamma/1/deit_ti", "[/1/deit_ti"])
def test_a_glob_without_a_paper_in_it_is_a_problem_at_its_place(here: Path, glob: str) -> None:
    claims = f'claims: [{{id: c, text: T, source: {{section: "1"}}, rows: ["{glob}"], conditions: [{{value: params, above: 1}}]}}]\n'  # noqa: E501
    (here / "specs" / "beta" / "claims.yaml").write_text(f"paper: beta\n{claims}", encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        load(["beta"])
    assert [(p.file, p.line) for p in caught.value.problems] == [("specs/beta/claims.yaml", 2)]


def test_problems_of_several_papers_are_reported_at_once(here: Path) -> None:
    for paper in ("alpha", "beta"):
        (here / "specs" / paper / "paper.yaml").write_text(about(paper).replace("title", "titel"), encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        load()
    assert {problem.file for problem in caught.value.problems} == {"specs/alpha/paper.yaml", "specs/beta/paper.yaml"}


@pytest.mark.daily(1)
@pytest.mark.parametrize("paper", sorted(path.name for path in (REPOSITORY / "specs").iterdir() if path.is_dir()))
def test_every_shipped_paper_is_sound(paper: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(REPOSITORY)
    assert checks(paper)
