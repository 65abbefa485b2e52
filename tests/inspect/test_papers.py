"""A paper's claims about learned weights: found without being run, run only if trusted, and never in the way."""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from imlp_audit.claims.catalogue import read_claims, read_weight_claims
from imlp_audit.inspect.learned_weights import WeightsToJudge, find_layers, judge_claims
from imlp_audit.models.imlp import amlp
from imlp_audit.records.checkpoint import Statement

from .judging import bundled

HEAD = """from pathlib import Path
from imlp_audit.claims import claim
from imlp_audit.inspect.learned_weights import Judgement
Path(__file__).with_name("ran").write_text("x")
LAYERS = [{"W": "fc1.weight", "b": "fc1.bias?", "V": "fc2.weight"}]
"""
ONE = """
@claim(
    learned=LAYERS, place="Sec. 1", printed="Its AGeLUs differ.", measured="how many "
    "differ", judged="any does",
)
def differ(layers):
    '''They differ.'''
    {body}
"""
TRUE = 'return Judgement(True, "yes", {"rows": [len(one["W"]) for one in layers]})'
STATE = dict(amlp(3, 4).state_dict())


def write(folder: Path, text: str) -> Path:
    (folder / "claims").mkdir()
    (folder / "claims" / "sec1.py").write_text(text, encoding="utf-8")
    return folder


def judge(folder: Path, *, trust_code: bool = True) -> list[Statement]:
    weights = WeightsToJudge(STATE, partial(dict, STATE), draws=0)
    claims = read_weight_claims("mine", folder, "mine")
    return list(judge_claims(claims, weights, trust_code=trust_code, patience=2))


def judge_one(folder: Path, *, trust_code: bool = True) -> Statement:
    (one,) = judge(folder, trust_code=trust_code)
    return one


def test_the_claims_of_the_bundled_papers_are_read() -> None:
    assert Counter(one.paper for one in bundled()) == {"imlp": 1, "mixer_gmlp_coursework": 1, "resmlp": 9}


def test_a_claim_is_found_without_being_run(tmp_path: Path) -> None:
    folder = write(tmp_path, HEAD + ONE.replace("{body}", TRUE))
    (found,) = read_weight_claims("mine", folder, "mine")
    assert (found.name, found.printed, found.place, found.measured) == (
        "differ", "Its AGeLUs differ.", "Sec. 1", "how many differ"
    )  # fmt: skip
    assert read_claims("mine", folder, "mine") == ()
    statement = judge_one(folder, trust_code=False)
    assert statement.verdict == "unverifiable"
    assert (
        statement.reason
        == "the Python in mine was not run, because the folder is not trusted; pass --trust-code to run it"
    )
    assert not (tmp_path / "claims" / "ran").exists()


def test_claims_about_layers_that_a_checkpoint_lacks_are_not_run(tmp_path: Path) -> None:
    assert judge(write(tmp_path, (HEAD + ONE.replace("{body}", TRUE)).replace("fc2.weight", "fc3.weight"))) == []
    assert not (tmp_path / "claims" / "ran").exists()


def test_a_trusted_claim_is_judged_in_a_process_of_its_own(tmp_path: Path) -> None:
    statement = judge_one(write(tmp_path, HEAD + ONE.replace("{body}", TRUE)))
    assert (statement.id, statement.paper, statement.verdict) == ("differ", "mine", "reproduced")
    assert (statement.layers, statement.values) == (("the module",), {"rows": (4.0,)})
    assert (tmp_path / "claims" / "ran").exists()


WHOLE = ONE.replace("{body}", TRUE)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (WHOLE.replace("measured", "seen"), "needs a text in `measured`, as a plain string"),
        (WHOLE.replace('"any does"', 'f"{1}"'), "needs a text in `judged`, as a plain string"),
        (WHOLE.replace("    '''They differ.'''\n", ""), "has no docstring"),
        (WHOLE.replace("differ(layers)", "differ(rows)"), "must take `layers` alone"),
        (2 * WHOLE, "is defined again in mine/claims/sec1.py:19"),
        *(
            (WHOLE.replace("learned=LAYERS", f"learned={tables}"), "needs in `learned` tables of names, written out")
            for tables in (
                "[]",
                "1",
                "[1]",
                "[{1: 'a'}]",
                "[{'a': 'b?'}]",
                "[{}]",
                "[{'a': f'{1}'}]",
                "open('x')",
                "no",
            )
        ),
    ],
)
def test_what_is_wrong_in_a_file_is_seen_without_running_it(tmp_path: Path, text: str, told: str) -> None:
    folder = write(tmp_path, HEAD + text)
    (broken,) = read_claims("mine", folder, "mine")
    assert told in getattr(broken, "problem", "")
    assert judge(folder) == []
    assert not (tmp_path / "claims" / "ran").exists()


def test_what_is_raised_is_an_error_with_its_place(tmp_path: Path) -> None:
    bodies = ("return 1 / 0", 'return Judgement(True, "yes", {"a": []})', "import nowhere", "return True")
    claims = [ONE.replace("{body}", body).replace("differ(", f"s{at}(") for at, body in enumerate(bodies)]
    assert [one.reason[:57] for one in judge(write(tmp_path, HEAD + "".join(claims)))] == [
        "mine/claims/sec1.py:13: ZeroDivisionError: division by ze",
        "mine/claims/sec1.py: ValueError: its values are not those",
        "mine/claims/sec1.py:29: ModuleNotFoundError: No module na",
        "mine/claims/sec1.py: TypeError: it returns bool, not a Ju",
    ]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("import os; os._exit(3)", "mine/claims/sec1.py: its code ended the process (exit code 3)"),
        (
            "while True: __import__('time').sleep(0.1)",
            "mine/claims/sec1.py:13: StoppedError: its code did not end within 2 s",
        ),
    ],
)
def test_a_claim_that_ends_its_process_or_never_ends(tmp_path: Path, body: str, told: str) -> None:
    one = judge_one(write(tmp_path, HEAD + ONE.replace("{body}", body)))
    assert (one.verdict, one.reason) == ("error", told)


def test_layers_are_in_their_order_and_have_all_names_but_those_that_may_be_missing() -> None:
    tables = [{"a": "x.weight", "b": "x.bias?"}, {"a": "y.weight"}]
    names = {f"m.{at}.{name}": 0 for at in (10, 2, 1) for name in ("x.weight", "y.weight")}
    found = find_layers({**names, **dict.fromkeys(("m.2.x.bias", "y.weight", "xx.weight", "²x.weight"))}, tables)
    assert found == {
        "m.1.": {"a": "m.1.x.weight"},
        "m.2.": {"a": "m.2.x.weight", "b": "m.2.x.bias"},
        "m.10.": {"a": "m.10.x.weight"},
        "": {"a": "y.weight"},
    }
    assert list(found)[1:] == ["m.1.", "m.2.", "m.10."]
