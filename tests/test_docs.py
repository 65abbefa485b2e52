"""What the documents say is what the program does."""

from __future__ import annotations

import json
import re
from enum import StrEnum
from pathlib import Path
from typing import get_args

import pytest
import timm
import torch
from fvcore.nn import FlopCountAnalysis
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from typer.core import TyperGroup
from typer.main import get_command

from docs.update import help_of, replaced_mlps
from imlp_audit import claims
from imlp_audit.claims.catalogue import SETTINGS, TEXTS, ClaimText
from imlp_audit.claims.settings import Settings
from imlp_audit.claims.testing import run_claim
from imlp_audit.cli.main import make_app
from imlp_audit.count.call import Operation
from imlp_audit.count.record import Site
from imlp_audit.models import blocks, recipe
from imlp_audit.models.available_hosts import HOSTS
from imlp_audit.models.host import Host, TensorInput
from imlp_audit.models.own import OwnBlock, OwnCode
from imlp_audit.models.readings import Axis, Family, axes_of
from imlp_audit.records.check import Verdict
from imlp_audit.records.finding import Quote
from imlp_audit.spec import claim_entries, columns, fields, schema
from imlp_audit.spec.load import load
from imlp_audit.spec.reader import read_spec
from tests.cli.running import call
from tests.count.test_against_counters import AUDITED, OTHERS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCS = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("*.md")}
GROUP = get_command(make_app())
assert isinstance(GROUP, TyperGroup)
COMMANDS = [
    f"{name} {inner}".strip()
    for name, command in sorted(GROUP.commands.items())
    for inner in sorted(getattr(command, "commands", {"": None}))
]

SECTIONS: dict[type[BaseModel], str] = {
    schema.PaperFile: "Files",
    schema.About: "The paper",
    schema.ConventionFit: "Fitted conventions",
    schema.Choice: "Readings",
    fields.Place: "Sources",
    schema.PrintedTable: "Tables",
    schema.TableFile: "Tables",
    **dict.fromkeys((columns.AnyColumn, columns.TotalColumn, *get_args(columns.Column)), "Columns"),
    schema.Row: "Rows",
    schema.Footnote: "Footnotes",
    recipe.Recipe: "Recipes",
    recipe.Replacement: "Replaced MLPs",
    blocks.ImlpRecipe: "The IMLP block",
    OwnCode: "Blocks of your own",
    OwnBlock: "Blocks of your own",
    TensorInput: "Inputs",
    schema.System: "Systems",
    schema.Preprocessing: "Preprocessing",
    claim_entries.ClaimEntry: "Claims",
    claim_entries.MeaningEntry: "Claims",
    claim_entries.LeftOut: "Rows left out",
    schema.CountedBy: "Counters of a row",
    claim_entries.QuantityEntry: "Quantities",
    claim_entries.ConditionEntry: "Conditions",
    claim_entries.OrderEntry: "Orders",
    claim_entries.ReferenceEntry: "References",
    claim_entries.AverageEntry: "Averages",
    claim_entries.InputEntry: "Input sizes",
    schema.EquationEntry: "Shared statements",
    schema.FindingEntry: "Findings",
    Quote: "Quotes",
    schema.Coverage: "Coverage",
    schema.CoverageEntry: "Covered parts",
    schema.NumbersEntry: "Numbers elsewhere",
}
"""The section of spec-format.md whose table has the keys of a record."""
ELSEWHERE = (schema.NamedReading, schema.Choices)
"""Records that readings.md documents."""


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_its_help_in_the_documentation(command: str) -> None:
    assert f"## {command}\n" in DOCS["commands.md"]
    assert f"```text\n{help_of(command)}\n```" in DOCS["commands.md"], "python docs/update.py writes it"


def test_readme_fits_three_screens() -> None:
    assert README.count("\n") <= 200


def test_every_record_of_a_spec_has_a_section() -> None:
    modules = (schema, columns, claim_entries, blocks, recipe)
    values = [value for module in modules for value in vars(module).values() if isinstance(value, type)]
    records = [one for one in values if issubclass(one, BaseModel) and one.model_fields and not issubclass(one, Host)]
    lacking = {one.__name__ for one in records if one not in SECTIONS and one not in ELSEWHERE}
    assert {name for name in lacking if not name.startswith("_")} == set()


@pytest.mark.parametrize("record", SECTIONS, ids=lambda record: record.__name__)
def test_every_key_of_a_spec_has_a_row_with_its_default(record: type[BaseModel]) -> None:
    rows = _keys_of(SECTIONS[record])
    inherited = {name for base in record.__mro__[1:] for name in getattr(base, "model_fields", ())}
    written = {name: field for name, field in record.model_fields.items() if field.repr}  # others no spec can write
    own = {name: field for name, field in written.items() if name not in inherited and name != "host"}
    assert {name: rows.get(name) for name, field in own.items() if not _states(rows.get(name, ""), field)} == {}


@pytest.mark.parametrize("section", sorted(set(SECTIONS.values())))
def test_every_key_in_the_documentation_exists(section: str) -> None:
    records = [record for record, name in SECTIONS.items() if name == section]
    assert _keys_of(section).keys() <= {name for record in records for name in record.model_fields}


@pytest.mark.parametrize("key", HOSTS)
def test_every_host_has_a_row_with_its_keys(key: str) -> None:
    host = HOSTS[key]
    required, optional = next(row[1:3] for row in _rows("spec-format.md", "Hosts") if row[0] == f"`{key}`")
    assert set(_code(required)) == {name for name, field in host.model_fields.items() if field.is_required()}
    written = {field.alias or name: field for name, field in host.model_fields.items() if field.repr}
    given = {name: f.get_default(call_default_factory=True) for name, f in written.items() if not f.is_required()}
    assert _code(optional) == [name if value in (None, (), {}) else f"{name}: {value}" for name, value in given.items()]


@pytest.mark.parametrize(
    ("name", "axis"), [(name, axis) for family in Family for name, axis in axes_of(family).items()], ids=str
)
def test_every_axis_has_a_row_with_its_values_and_its_default(name: str, axis: Axis) -> None:
    rows = [row for row in _rows("readings.md") if name in _code(row[0])]
    assert [row[2] for row in rows] == [f"`{axis.default}`"]
    if isinstance(axis.default, StrEnum):
        assert set(map(str, axis.values)) <= set(_code(rows[0][1]))
    else:
        assert [str(value) for value in axis.values] == _code(rows[0][1])


def test_texts_and_settings_of_a_claim_are_documented() -> None:
    rows = _rows("equations.md", "What stands in the decorator")
    assert set(TEXTS) <= {key for row in rows for key in _code(row[0])}
    assert {one for one in SETTINGS if f"`{one}=" not in DOCS["equations.md"]} == set(TEXTS)
    names = {name for name in claims.__all__ if name not in ("Claim", "Side", "Sides", "NUMBERS", "claim")}
    assert {name for name in names if not re.search(rf"`(\w+=)?{name}\b", DOCS["equations.md"])} == set()


@pytest.fixture(scope="module")
def mypaper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The paper with equations that equations.md shows."""
    return _write_files(DOCS["equations.md"], tmp_path_factory.mktemp("docs")) / "mypaper"


def test_the_examples_of_equations_are_false_where_the_page_says_so(mypaper: Path) -> None:
    (paper,) = load([str(mypaper)]).papers
    found = {}
    for claim in paper.equations:
        assert isinstance(claim, ClaimText)
        found[claim.name] = run_claim(claim.code, Settings(20))
    assert all(one.problem is None for one in found.values())
    assert {name: not one.counterexample for name, one in found.items()} == {
        "eq6_output": False, "eq6_output_corrected": True, "slopes": False, "slopes_corrected": True,
        "eq10_is_depthwise": True,
    }  # fmt: skip
    shown = re.search(r"counterexample +(.*); \.\.\.; (.*)\n", DOCS["equations.md"])
    assert shown is not None
    assert all(text in found["eq6_output"].counterexample for text in "; ".join(shown.groups()).split("; "))


@pytest.mark.slow
def test_the_example_of_an_equation_runs_with_trust_alone(mypaper: Path) -> None:
    verify = ("verify", str(mypaper), "--only", "*/eq10*", "-f", "json", "--no-progress")
    found = [json.loads(call(*verify, *trust).out)["checks"] for trust in ((), ("--trust-code",))]
    assert [check["verdict"] for (check,) in found] == ["unverifiable", "reproduced"]


@pytest.mark.parametrize("block", re.findall(r"^```yaml\n(.*?)^```", DOCS["spec-format.md"], re.M | re.S))
def test_every_example_in_the_page_on_specs_is_valid(block: str, tmp_path: Path) -> None:
    path = tmp_path / "example.yaml"
    path.write_text(block if block.startswith("paper:") else f"paper: imlp\n{block}", encoding="utf-8")
    assert read_spec(path, path.name)[1] == []


def test_the_whole_spec_in_the_page_on_specs_has_no_mistakes(tmp_path: Path) -> None:
    path = tmp_path / "small.yaml"
    path.write_text(DOCS["spec-format.md"].split("```yaml\n")[1].split("```")[0], encoding="utf-8")
    assert call("lint", str(path)).code == 0


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", *(f"docs/{name}" for name in DOCS)])
def test_files_that_are_named_exist(page: str) -> None:
    named = re.findall(r"`([a-z_.]+/[\w./]*)`", (ROOT / page).read_text(encoding="utf-8"))
    theirs = ("mypaper", "mydigits")
    ours = {name for name in named if name.endswith(("/", ".py", ".md", ".yaml")) and not name.startswith(theirs)}
    assert {name for name in ours if not any((ROOT / at / name).exists() for at in ("", "imlp_audit", "docs"))} == set()


def test_classes_that_are_named_exist() -> None:
    source = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "imlp_audit").rglob("*.py"))
    named = set(re.findall(r"`([A-Z][a-z]+(?:[A-Z][a-z]+)*)`", DOCS["adding.md"]))
    assert len(named) > 5
    assert {name for name in named if not re.search(rf"^ *(class {name}\b|{name}: TypeAlias)", source, re.M)} == set()


@pytest.fixture
def spec_of_readme(tmp_path: Path) -> str:
    """The file with a paper of one's own that README shows."""
    return str(_write_files(README, tmp_path) / "mypaper.yaml")


def test_the_spec_in_readme_has_no_mistakes(spec_of_readme: str) -> None:
    assert call("lint", spec_of_readme).code == 0


@pytest.mark.slow
def test_the_spec_in_readme_has_the_finding_that_is_said(spec_of_readme: str) -> None:
    done = call("verify", spec_of_readme, "-f", "json", "--no-progress")
    checks = {check["id"]: check for check in json.loads(done.out)["checks"]}
    assert checks["mypaper/1/tiny/params"]["measured"] == "5717416"
    assert [name for name, check in checks.items() if check["verdict"] == "differs"] == ["mypaper/1/tiny/params"]
    assert done.code == 1


@pytest.mark.slow
def test_the_first_screen_in_readme_is_what_the_command_prints(
    spec_of_readme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    *_, excerpt = re.findall(r"^```text\n(Ask the authors .*?)^```", README, re.M | re.S)
    monkeypatch.chdir(Path(spec_of_readme).parent)
    printed = call("verify", "mypaper.yaml", "--no-progress", COLUMNS="80").out.splitlines()
    assert [line for line in excerpt.splitlines() if line != "..." and line not in printed] == []


@pytest.mark.slow
def test_the_finding_in_readme_is_what_the_command_prints() -> None:
    told, command = re.findall(r"^(On a real paper .*?)\(`imlp-audit (explain [^`]+)`\)", README, re.M | re.S)[0]
    printed = call(*command.split(), "--no-progress").out
    rows = {line.split()[0]: line for line in printed.splitlines() if line.startswith(("as_written ", "released "))}
    described, released = re.findall(r"\d\d \d{3} \d{3}", told)
    assert described in rows["as_written"]
    assert f"{released} +0.4 prints as 73.66" in " ".join(rows["released"].split())
    assert "73.66 M" in told
    assert all(
        one in " ".join(printed.split()) for one in ("concat_norm layer", "output_norm layer", "class_token removed")
    )


@pytest.mark.slow
def test_the_demo_in_readme_is_what_the_command_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (excerpt,) = re.findall(r"`imlp-audit demo DIR` writes .*?^```text\n(.*?)^```", README, re.M | re.S)
    printed = call("demo", "--no-progress", COLUMNS="80").out.splitlines()
    assert [line for line in excerpt.splitlines() if line != "..." and line not in printed] == []


def test_readme_names_every_command() -> None:
    table = README.split("| command | does |")[1].split("\n\n")[0]
    named = [name.split()[0] for line in table.splitlines()[2:] for name in _code(line.split("|")[1])]
    assert sorted(named) == sorted({name.split()[0] for name in COMMANDS})


@pytest.mark.parametrize("verdict", Verdict)
def test_every_verdict_is_in_readme(verdict: Verdict) -> None:
    assert f"| `{verdict}` | " in README


def test_readme_says_how_many_models_were_counted_by_others() -> None:
    assert f"on {len([*AUDITED.split(), *OTHERS.split()])} classifiers of timm" in README


@pytest.mark.slow
@pytest.mark.parametrize(("fused", "total"), [(True, "4 250 674 560"), (False, "4 608 338 304")])
def test_fvcore_counts_what_readme_says(fused: bool, total: str) -> None:
    model = timm.create_model("deit_small_patch16_224").eval()
    for block in model.blocks:
        block.attn.fused_attn = fused
    counted = FlopCountAnalysis(model, torch.zeros(1, 3, 224, 224))
    assert f"{int(counted.total()):,}".replace(",", " ") == total
    assert total in README


@pytest.mark.parametrize("word", [*Operation, *Site])
def test_every_class_of_work_is_documented(word: str) -> None:
    assert f"`{word}`" in DOCS["conventions.md"]


@pytest.mark.slow
def test_hosts_that_the_message_recommends_do_work() -> None:
    named = re.findall(r"^\| `\w+` \| `(\w+)` \| (\d+) \|$", DOCS["hosts.md"], re.MULTILINE)
    assert len(named) > 20
    assert [(name, str(replaced_mlps(name))) for name, _ in named] == named


def test_links_of_the_documentation_have_targets() -> None:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]
    for page in pages:
        text = page.read_text(encoding="utf-8")
        for target, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]+))?\)", text):
            file = page.parent / target if target else page
            assert file.exists(), f"{page.name}: {target}"
            assert not anchor or anchor in _anchors(file), f"{page.name}: {target}#{anchor}"


def _write_files(page: str, folder: Path) -> Path:
    """Write the files that a page shows: a block of code after a line that ends with the file's name in backquotes."""
    shown = re.findall(r"`(mypaper[\w/.]*\.(?:yaml|py))`:\n\n```\w+\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert shown
    for name, text in shown:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def _anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {heading.lower().replace(" ", "-") for heading in headings}


def _rows(page: str, section: str = "") -> list[list[str]]:
    """The cells of all rows of tables in a section, or in a whole page, without the tables' heads."""
    text = DOCS[page]
    if section:
        text = re.split(r"^#+ ", text.split(f"# {section}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]
    lines = [line for line in text.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def _keys_of(section: str) -> dict[str, str]:
    """What is said about each key of a section: whether it is required, or its default."""
    rows = [row for row in _rows("spec-format.md", section) if len(row) == 3]
    return {key: row[1] for row in rows for key in _code(row[0])}


def _code(cell: str) -> list[str]:
    return re.findall("`([^`]+)`", cell)


def _states(cell: str, field: FieldInfo) -> bool:
    """Whether a cell says that a field is required, or what it is if left out."""
    if field.is_required():
        return cell == "required" or cell.startswith("required for ")
    default = field.get_default(call_default_factory=True)
    if default in (None, (), "") or default == {}:
        return cell.startswith(("optional", "exactly one of these", "required for ", "required if "))
    if isinstance(default, tuple):
        written = f"[{', '.join(one if one.isidentifier() else json.dumps(one) for one in map(str, default))}]"
    else:
        written = json.dumps(default) if isinstance(default, bool) else str(default)
    return cell == f"`{written}`"
