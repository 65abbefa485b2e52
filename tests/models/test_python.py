"""Rows whose model is a user's own: counted if the code is trusted, in a process of their own, within a time limit."""

from __future__ import annotations

import json
import re
import shutil
import sys
from copy import deepcopy
from pathlib import Path

import pytest
from pydantic import ValidationError

from imlp_audit.count.build_and_count import measure_models
from imlp_audit.count.conventions import FLOPS_CONVENTIONS, total
from imlp_audit.count.facts import Failure, ModelFacts, ModelKey, Need
from imlp_audit.count.fvcore import count_with_fvcore
from imlp_audit.count.measuring import measure_outside
from imlp_audit.errors import BuildError, SpecError, UntrustedError
from imlp_audit.models.build import Builder, build_host
from imlp_audit.models.recipe import Recipe
from imlp_audit.models.settings import example_inputs
from imlp_audit.pipeline import Options, audit
from imlp_audit.records.check import Check, Verdict
from imlp_audit.spec.load import load
from tests.cli.running import call

HERE = Path(__file__).parent
IMAGE = (3, 16, 16)
SPEC = """\
paper: own
about: {{title: A net, authors: A. Author, version: v1, flops: [macs]}}
tables:
  - table: "1"
    title: One net
    source: {{section: "4"}}
    columns:
      params: {{measure: parameters, unit: "", heading: Parameters}}
      flops: {{measure: flops, unit: "", heading: MACs}}
    rows:
      - {{id: net, label: Net, model: {model}, printed: {{params: {params}, flops: {flops}}}}}
"""
WIDTH = 16
# a 3x3 convolution of 3 channels with a bias, and a classifier of ten classes
PARAMETERS = WIDTH * (27 + 1) + 10 * (WIDTH + 1)
MACS = 16 * 16 * 27 * WIDTH + 10 * WIDTH
MODEL = f"{{python: {{file: own_nets.py, name: SmallNet, arguments: {{width: {WIDTH}}}, input: [3, 16, 16]}}}}"


def own(name: str, **fields: object) -> Recipe:
    given = {"file": "own_nets.py", "name": name, "input": IMAGE, "folder": HERE, **fields}
    return Recipe.of(python={key: value for key, value in given.items() if value is not None})


def written(folder: Path, model: str = MODEL) -> str:
    shutil.copy(HERE / "own_nets.py", folder)
    path = folder / "own.yaml"
    path.write_text(SPEC.format(model=model, params=PARAMETERS, flops=MACS), encoding="utf-8")
    return str(path)


def checks(path: str, *, trust_code: bool) -> dict[str, Check]:
    selection = load([path], trust_code=trust_code)
    result = audit(selection, Options(trust_code=trust_code), lambda _: lambda name: None)
    return {check.id: check for check in result.checks}


@pytest.mark.slow
def test_a_trusted_model_is_counted(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    found = checks(written(tmp_path), trust_code=True)
    assert {found[f"own/1/net/{name}"].verdict for name in ("params", "flops")} == {Verdict.REPRODUCED}
    assert capfd.readouterr().out == ""  # what the code prints is not part of the result


def test_an_untrusted_model_is_not_built(tmp_path: Path) -> None:
    path = written(tmp_path)
    (tmp_path / "own_nets.py").write_text("raise SystemExit(5)\n", encoding="utf-8")
    check = checks(path, trust_code=False)["own/1/net/params"]
    assert check.verdict is Verdict.UNVERIFIABLE
    assert check.reason.endswith("was not built, because its code is not trusted; pass --trust-code")


def test_no_spec_can_say_where_the_code_is(tmp_path: Path) -> None:
    elsewhere = MODEL.replace("{file", f"{{folder: {HERE}, file")
    for trusted in (True, False):
        with pytest.raises(SpecError, match="the file is looked for beside the spec"):
            load([written(tmp_path, elsewhere)], trust_code=trusted)
    with pytest.raises(ValidationError, match="folder"):  # nor can a footnote that changes a recipe
        own("SmallNet").with_change({"python": {"folder": str(tmp_path)}})


@pytest.mark.parametrize("file", ["../own_nets.py", "/etc/own_nets.py", "own_nets.txt", "absent.py"])
def test_files_elsewhere_are_refused(tmp_path: Path, file: str) -> None:
    with pytest.raises(SpecError, match="file"):
        load([written(tmp_path, MODEL.replace("own_nets.py", file))], trust_code=True)


def test_a_link_to_a_file_elsewhere_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path)
    (tmp_path / "own_nets.py").unlink()
    (tmp_path / "own_nets.py").symlink_to(HERE / "own_nets.py")
    with pytest.raises(SpecError, match=r"own_nets\.py: it leads out of the folder of the spec"):
        load([path], trust_code=True)


def test_arguments_are_numbers_words_lists_and_mappings() -> None:
    given = {"a": "3", "b": "0.5", "c": "true", "d": "null", "e": "gelu", "f": ["1", "x"], "g": {"h": "1e-6"}}
    recipe = own("SmallNet", arguments=given)
    assert recipe.host.model_dump()["arguments"] == {
        "a": 3, "b": 0.5, "c": True, "d": None, "e": "gelu", "f": [1, "x"], "g": {"h": 1e-6},
    }  # fmt: skip
    assert "arguments: {a: 3, b: 0.5, c: true, d: None, e: gelu, f: [1, x], g: {h: 1e-06}}" in str(recipe)
    changed = recipe.with_change({"python": {"arguments": {"a": "4"}}})
    assert changed.host.model_dump()["arguments"] == {**recipe.host.model_dump()["arguments"], "a": 4}


@pytest.mark.parametrize(("one", "other"), [("1", "true"), ("1", "1.0"), ("0", "false")])
def test_arguments_that_python_takes_for_equal_are_two_models(one: str, other: str) -> None:
    assert own("SmallNet", arguments={"width": one}) != own("SmallNet", arguments={"width": other})
    assert own("SmallNet", arguments={"width": one}) == own("SmallNet", arguments={"width": one})


def test_it_reads_an_image_or_tokens() -> None:
    for given in ({"input": None}, {"tokens": 7}, {"inputs": {"x": {"shape": [3]}}}):
        with pytest.raises(ValidationError, match="give exactly one of input"):
            own("Embedding", **given)
    with pytest.raises(ValidationError, match="this host has its input next to its name"):
        Recipe.of(python=own("SmallNet").host, image=32)


def test_a_parameter_that_two_modules_share_counts_once() -> None:
    key = ModelKey(own("Tied", input=None, tokens=7), None)
    facts = dict(measure_models({key: Need()}, lambda _: None))[key]
    assert isinstance(facts, ModelFacts)
    assert facts.parameters["all"] == 100 * 5  # type: ignore[index]


def test_several_inputs_are_given_by_name() -> None:
    ids, mask = {"shape": [7], "dtype": "int64"}, {"shape": [7], "dtype": "bool"}
    inputs = {"image": {"shape": [3, 2, 2]}, "ids": ids, "mask": mask}
    key = ModelKey(own("TwoTowers", input=None, inputs=inputs), None)
    facts = dict(measure_models({key: Need(work=True, batches=frozenset({2}))}, lambda _: None))[key]
    assert isinstance(facts, ModelFacts)
    assert facts.ledger is not None
    assert facts.parameters["all"] == 600 + 12 * 6 + 6  # type: ignore[index]
    assert total(facts.ledger, FLOPS_CONVENTIONS["macs"]) == 12 * 6 + 7 * 6
    with Builder("cpu").variant(key.recipe, None) as variant:
        given = example_inputs(variant.model, 2)
        assert variant.model(*given).shape == (2, 7, 1)
        assert deepcopy(variant.model)(*given).shape == (2, 7, 1)
        assert count_with_fvcore(variant.model, *example_inputs(variant.model)) == 12 * 6 + 7 * 6


@pytest.mark.parametrize(
    ("name", "fields", "message"),
    [
        ("SmalNet", {}, "own_nets.py: LookupError: it defines no 'SmalNet'; did you mean 'SmallNet'?"),
        ("number", {}, "own_nets.py: number returns int, not a torch.nn.Module"),
        ("SmallNet", {"arguments": {"wide": 3}}, r"own_nets.py: TypeError: .* unexpected keyword argument 'wide'"),
        ("SmallNet", {"arguments": {"width": -1}}, r"own_nets.py:\d+: RuntimeError"),
    ],
)
def test_code_that_makes_no_module_is_named(name: str, fields: dict[str, object], message: str) -> None:
    with pytest.raises(BuildError, match=message), Builder().variant(own(name, **fields), None):
        pass


def test_code_without_a_folder_is_not_run() -> None:
    with pytest.raises(UntrustedError), Builder().variant(own("SmallNet", folder=None), None):
        pass


def test_a_model_that_fails_in_forward_is_told_with_the_line_of_its_file_first(tmp_path: Path) -> None:
    code = (HERE / "own_nets.py").read_text(encoding="utf-8").replace("self.fc(self.conv", "self.head(self.conv")
    (tmp_path / "net.py").write_text(code, encoding="utf-8")
    line = 1 + code.split("\n").index("        scores: Tensor = self.head(self.conv(images).mean((2, 3)))")
    key = ModelKey(own("SmallNet", file="net.py", folder=tmp_path), None)
    failure = dict(measure_models({key: Need(work=True)}, lambda _: None))[key]
    assert isinstance(failure, Failure)
    assert failure.message == f"net.py:{line}: AttributeError: 'SmallNet' object has no attribute 'head'"


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("text", r"own_nets\.py: TypeError: forward of Odd returns str, without a tensor"),
        ("nothing", r"own_nets\.py: TypeError: forward of Odd returns NoneType, without a tensor"),
        ("empty", r"own_nets\.py: TypeError: forward of Odd returns dict, without a tensor"),
        ("values", r"own_nets\.py:\d+: the work depends on the values that the model reads, .*meta tensors\)"),
        ("nonzero", r"own_nets\.py:\d+: the work depends .*nonzero\(\) raises unimplemented by default\)"),
        ("exits", r"own_nets\.py:\d+: its code ended the process \(SystemExit: no weights\)"),
        ("wordy", r"own_nets\.py:\d+: ValueError: A first sentence\. (word ){40}end\. .{0,90}\.\.\."),
        ("long", r"own_nets\.py:\d+: ValueError: x \?\[31mx .{0,300}\.\.\."),
        ("mute", r"own_nets\.py:\d+: MuteError: \(without a message\)"),
    ],
)
def test_what_a_forward_pass_does_wrong_is_said_on_a_line(what: str, message: str) -> None:
    key = ModelKey(own("Odd", arguments={"what": what}), None)
    failure = dict(measure_models({key: Need(work=True)}, lambda _: None))[key]
    assert isinstance(failure, Failure)
    assert re.fullmatch(message, failure.message)


def test_an_output_may_hold_its_tensors_in_a_record() -> None:
    key = ModelKey(own("Odd", arguments={"what": "record"}), None)
    assert isinstance(dict(measure_models({key: Need(work=True)}, lambda _: None))[key], ModelFacts)


def test_what_a_model_prints_is_no_part_of_a_result(capfd: pytest.CaptureFixture[str]) -> None:
    print("before")
    dict(measure_models({ModelKey(own("Loud"), None): Need(work=True)}, lambda _: None))
    print("after")
    printed = capfd.readouterr()
    assert printed.out == "before\nafter\n"
    assert all(word in printed.err for word in ("said", "written", "echoed"))


@pytest.mark.slow
def test_a_model_that_fails_leaves_the_others_alone() -> None:
    """Each kind of failure, with models before and after it."""
    wanted = {
        "SmallNet": own("SmallNet"),
        "leave": own("leave"),
        "never_end": own("never_end"),
        "Embedding": own("Embedding", input=None, tokens=7),
        "computed_width": own("computed_width", input=(1, 1, 6)),
        "wrong input": own("SmallNet", input=(4, 16, 16)),
    }
    keys = {name: ModelKey(recipe, None) for name, recipe in wanted.items()}
    facts = dict(measure_outside({key: Need(work=True) for key in keys.values()}, lambda _: None, patience=10))
    found = {name: facts[key] for name, key in keys.items()}
    failed = {name: fact.message for name, fact in found.items() if isinstance(fact, Failure)}
    assert failed.keys() == {"leave", "never_end", "wrong input"}
    assert failed["leave"].endswith("its code ended the process (exit code 7)")
    assert re.fullmatch(r"own_nets\.py:\d+: its code did not end within 10 s", failed["never_end"])
    assert re.match(r"own_nets\.py:\d+: RuntimeError: ", failed["wrong input"])
    sizes = {name: fact.parameters["all"] for name, fact in found.items() if isinstance(fact, ModelFacts)}  # type: ignore[index]
    assert sizes == {"SmallNet": 8 * 28 + 90, "Embedding": 500, "computed_width": 14}


@pytest.mark.slow
def test_solve_takes_a_trusted_model_and_prints_the_result_alone(tmp_path: Path) -> None:
    path = written(tmp_path, MODEL.replace("SmallNet", "Loud").replace(f", arguments: {{width: {WIDTH}}}", ""))
    refused = call("solve", path, "--no-progress")
    assert "is not trusted; pass --trust-code" in refused.err
    done = call("solve", path, "--trust-code", "--no-progress", "-f", "json")
    assert json.loads(done.out)["selection"] == ["own"]


def in_folder(folder: Path, imported: str) -> Recipe:
    nets = folder / "nets"
    nets.mkdir()
    (nets / "sizes.py").write_text("WIDTH = 5\n\n\ndef fail():\n    raise ValueError('too wide')\n", encoding="utf-8")
    made = "fail() if fails else nn.Linear(WIDTH, 1)"
    code = f"from torch import nn\n{imported}\n\n\ndef net(fails=False):\n    return {made}\n"
    (nets / "net.py").write_text(code, encoding="utf-8")
    return Recipe.of(python={"file": "nets/net.py", "name": "net", "tokens": 3, "folder": folder})


@pytest.mark.parametrize("sizes", [".sizes", "sizes"])
def test_a_file_imports_its_neighbours(tmp_path: Path, sizes: str) -> None:
    recipe = in_folder(tmp_path, f"from {sizes} import WIDTH, fail")
    with Builder().variant(recipe, None) as variant:
        assert sum(one.numel() for one in variant.model.parameters()) == 6
    failing = recipe.with_change({"python": {"arguments": {"fails": "true"}}})
    with pytest.raises(BuildError, match=r"^nets/sizes.py:5: ValueError: too wide$"), Builder().variant(failing, None):
        pass


SCRIPT = """
import lmdb
from torch import nn
from layers import part
from shared import WIDTH
{line}
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = part(WIDTH)
        {inside}
    def forward(self, x):
        return self.part(x)
"""


def script(folder: Path, line: str = "", inside: str = "", **fields: object) -> Recipe:
    """A model whose file imports its neighbours as a script does, and a package that is missing."""
    (folder / "nets").mkdir(parents=True)
    (folder / "lib").mkdir()
    (folder / "nets" / "net.py").write_text(SCRIPT.format(line=line, inside=inside))
    (folder / "nets" / "layers.py").write_text("from torch import nn\ndef part(n):\n    return nn.Conv2d(3, n, 1)\n")
    (folder / "lib" / "shared.py").write_text("WIDTH = 5\n")
    return own("Net", file="nets/net.py", folder=folder, **fields)


def test_a_model_imports_its_neighbours_as_a_script_does(tmp_path: Path) -> None:
    before = list(sys.path)
    for name, width in (("one", 5), ("other", 7)):
        recipe = script(tmp_path / name, path=["lib"], stubs=["lmdb"])
        (tmp_path / name / "lib" / "shared.py").write_text(f"WIDTH = {width}\n")
        model = build_host(recipe, None)
        assert sum(one.numel() for one in model.parameters()) == 4 * width
    assert sys.path == before
    assert not list(tmp_path.rglob("__pycache__"))


@pytest.mark.parametrize(
    ("line", "inside", "fields", "words"),
    [
        ("", "", {"path": ["lib"]}, r"^nets/net.py:2: .*'lmdb'; install it, or .* need it: stubs: \[lmdb\]"),
        ("", "", {"stubs": ["lmdb"]}, r"^nets/net.py:5: .*'shared'"),
        ("", "lmdb.open(1)", {"path": ["lib"], "stubs": ["lmdb"]}, r"needs lmdb.open, which is missing"),
        ("", "self.x = lmdb.Net(1)", {"path": ["lib"], "stubs": ["lmdb"]}, r"instances of lmdb.Net"),
        ("from torch.nn import Gone", "", {"path": ["lib"], "stubs": ["lmdb"]}, r"^nets/net.py:6: .*'Gone'"),
    ],
)
def test_what_a_script_lacks_is_not_guessed(
    tmp_path: Path, line: str, inside: str, fields: dict[str, object], words: str
) -> None:
    with pytest.raises(BuildError, match=words):
        build_host(script(tmp_path, line, inside, **fields), None)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"path": ["nowhere"]}, "there is no folder nowhere beside the spec"),
        ({"path": ["../lib"]}, "pattern"),
        ({"stubs": ["lm db"]}, "pattern"),
        ({"try": {"width": []}}, "at least 1"),
    ],
)
def test_folders_stubs_and_values_that_cannot_be(tmp_path: Path, fields: dict[str, object], words: str) -> None:
    script(tmp_path)
    with pytest.raises(ValidationError, match=words):
        own("Net", **{"file": "nets/net.py", "folder": tmp_path, **fields})
