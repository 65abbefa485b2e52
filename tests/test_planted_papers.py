"""Small papers printed from measured models, with planted faults: the faults are found and no right row is blamed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from imlp_audit.count.conventions import FLOPS_CONVENTIONS, ParameterConvention, total
from imlp_audit.count.facts import ModelFacts, ModelKey, Need
from imlp_audit.models.readings import PaperReading
from imlp_audit.models.recipe import Recipe
from imlp_audit.numbers.interval import decimal_text
from imlp_audit.records.check import Verdict
from tests.measured import audit_file, facts_of

MODELS = (
    "resnet18", "resnet34", "resnet26", "resnet50", "deit_tiny_patch16_224", "deit_small_patch16_224",
    "mixer_s32_224", "mixer_s16_224", "convnext_atto", "convnext_femto", "mobilenetv3_large_100", "mobilenetv2_100",
)  # fmt: skip
HEAD = """paper: p
about: {{title: T, authors: A, version: v1, flops: [{flops}], rounding: [{rounding}], conventions: {{twice: {{linear: 2, conv: 2, product: 2}}}}}}
tables:
  - table: "1"
    title: T
    source: {{section: "1"}}
    columns:
      params: {{measure: parameters, unit: M, heading: Params}}
      flops: {{measure: flops, unit: G, heading: FLOPs}}
    rows:
"""  # noqa: E501


@dataclass(frozen=True)
class Planted:
    """A table of these models: each row's counter, side and digits that it is off, by place; cut off or rounded."""

    counter: Callable[[int], str] = lambda _: "fvcore"
    declared: str = "fvcore, macs, twice"
    sides: Mapping[int, int] | None = None
    off: Mapping[int, int] | None = None
    elsewhere: Mapping[int, str] | None = None  # numbers that were copied from other papers
    cut: bool = False
    rules: str = "half_up"
    blamed: tuple[int, ...] = ()
    mark: str = ""

    def digits(self, place: int) -> str:
        """Return what the FLOPs column prints in a row."""
        if self.elsewhere and place in self.elsewhere:
            return self.elsewhere[place]
        facts = measured(MODELS[place], (self.sides or {}).get(place))
        assert facts.ledger is not None
        name = self.counter(place)
        macs = total(facts.ledger, FLOPS_CONVENTIONS["macs" if name == "twice" else name])
        return _print(macs * (2 if name == "twice" else 1), 10**9, (self.off or {}).get(place, 0), cut=self.cut)


def measured(name: str, side: int | None = None) -> ModelFacts:
    key = ModelKey.of(Recipe.of(timm=name, **({"image": side} if side else {})), PaperReading())
    facts = facts_of({key: Need(work=True)})[key]
    assert isinstance(facts, ModelFacts)
    return facts


def _print(count: int, unit: int, off: int = 0, *, cut: bool = False) -> str:
    hundredths = Fraction(100 * count, unit)
    last = int(hundredths) if cut else int(hundredths + Fraction(1, 2))
    return f"{float(decimal_text(Fraction(last + off, 100), 2)):.2f}"


def checks(folder: Path, planted: Planted) -> dict[int, Any]:
    """Write the paper, audit it and return the checks of its FLOPs by the rows' places."""
    lines = [
        f"      - {{id: r{n}, label: {name}, model: {{timm: {name}}}, printed: {{params: "
        f'"{_print(measured(name).parameters[ParameterConvention.ALL], 10**6, cut=planted.cut)}", '
        f'flops: "{planted.digits(n)}"}}}}\n'
        for n, name in enumerate(MODELS)
    ]
    text = HEAD.format(flops=planted.declared, rounding=planted.rules) + "".join(lines)
    (folder / "p.yaml").write_text(text, encoding="utf-8")
    found = {check.id: check for check in audit_file(folder / "p.yaml").checks}
    assert all(found[f"p/1/r{n}/params"].verdict in (Verdict.REPRODUCED, Verdict.REPRODUCED_UNDER) for n in range(12))
    return {n: found[f"p/1/r{n}/flops"] for n in range(12)}


PAPERS = {
    "plain": Planted(),
    "one digit": Planted(off={4: 9}, blamed=(4,)),
    "two digits": Planted(off={4: 9, 9: -7}, blamed=(4, 9)),
    "half fvcore and half twice": Planted(counter=lambda n: "fvcore" if n % 2 else "twice", mark="mixed"),
    "seven to five": Planted(counter=lambda n: "fvcore" if n < 7 else "twice", mark="mixed"),
    "nine to three": Planted(counter=lambda n: "fvcore" if n < 9 else "twice", mark="mixed"),
    "two counters and an error": Planted(
        counter=lambda n: "fvcore" if n % 2 else "twice", off={3: 13}, blamed=(3,), mark="mixed"
    ),
    # two of twelve: the counter of ten is truly ahead
    "ten to two": Planted(counter=lambda n: "fvcore" if n < 10 else "twice", blamed=(10, 11)),
    "another size": Planted(sides={4: 240}, blamed=(4,)),
    "four rows copied": Planted(
        elsewhere={0: "1.70", 3: "4.40", 5: "4.90", 7: "4.10"}, blamed=(0, 3, 5, 7)
    ),
    "cut off": Planted(cut=True, rules="half_up, truncation"),
    "cut off with an error": Planted(cut=True, rules="half_up, truncation", off={5: 6}, blamed=(5,)),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", PAPERS)
def test_planted_faults_are_found_and_right_rows_are_not_blamed(tmp_path: Path, name: str) -> None:
    planted = PAPERS[name]
    found = checks(tmp_path, planted)
    assert tuple(n for n, check in found.items() if check.verdict is Verdict.DIFFERS) == planted.blamed
    passing = [check for n, check in found.items() if n not in planted.blamed]
    assert {check.mixed for check in passing} == {planted.mark == "mixed"}
    assert not any("ceiling" in hint for check in found.values() for hint in check.hint_texts)
    if name == "another size":
        assert any("deit_tiny_patch16_224, image: 240" in hint for hint in found[4].hint_texts)
    if name == "half fvcore and half twice":
        for n, check in found.items():
            assert check.under == (f"convention {'fvcore' if n % 2 else 'twice'}",)
