from pathlib import Path
from typing import Any

import pytest

from imlp_audit.models.host import Setting
from imlp_audit.records.check import Verdict
from tests.checks.papers import Count, Counts, Spec, checked

COLUMNS = tuple(
    f'{name}: {{measure: setting, of: {name}, unit: "{unit}", heading: {name}}}'
    for name, unit in (("layers", ""), ("width", ""), ("channels_hidden", "K"))
)
ROW = "{id: a, label: A, model: {timm: host}, printed: {layers: 12, width: 192, channels_hidden: 0.8}}"
BLOCK = ROW.replace("timm: host", "timm: host, mlp: {imlp: {kernel: 3}}")
FOUND = {Setting.LAYERS: 12, Setting.WIDTH: 192, Setting.CHANNELS_HIDDEN: 768}


def settings(root: Path, counts: Counts, row: str = ROW) -> dict[str, Any]:
    checks = checked(root, counts, Spec((row,), columns=COLUMNS))
    return {one.removeprefix("p/1/a/"): check for one, check in checks.items() if one.startswith("p/1/a/")}


def test_a_setting_is_read_off_the_model(tmp_path: Path) -> None:
    found = settings(tmp_path, {"host": Count(1, settings=FOUND)})
    assert {name: (check.verdict, check.measured) for name, check in found.items()} == {
        "layers": (Verdict.REPRODUCED, "12"),
        "width": (Verdict.REPRODUCED, "192"),
        "channels_hidden": (Verdict.REPRODUCED, "768"),
    }
    assert found["layers"].convention is None
    assert found["layers"].interval == ("11.5", "12.5")


@pytest.mark.parametrize(
    ("layers", "verdict"), [(11, Verdict.DIFFERS), (13, Verdict.DIFFERS), (12, Verdict.REPRODUCED)]
)
def test_one_layer_decides(tmp_path: Path, layers: int, verdict: Verdict) -> None:
    check = settings(tmp_path, {"host": Count(1, settings={**FOUND, Setting.LAYERS: layers})})["layers"]
    assert (check.verdict, check.measured, check.hint_texts) == (verdict, str(layers), ())


def test_a_setting_that_the_model_lacks_cannot_be_verified(tmp_path: Path) -> None:
    found = settings(tmp_path, {"host": Count(1, settings={Setting.LAYERS: 12})})
    assert {name: check.verdict for name, check in found.items()} == {
        "layers": Verdict.REPRODUCED,
        "width": Verdict.UNVERIFIABLE,
        "channels_hidden": Verdict.UNVERIFIABLE,
    }
    assert found["width"].reason == "host has no equal blocks to read width off"


def test_settings_are_those_of_any_declared_reading(tmp_path: Path) -> None:
    counts = {"host+3": Count(1, settings={Setting.LAYERS: 11}), "host+3@skip": Count(1, settings={Setting.LAYERS: 12})}
    check = settings(tmp_path, counts, BLOCK)["layers"]
    assert (check.verdict, check.under) == (Verdict.REPRODUCED_UNDER, ("reading skip",))


@pytest.mark.parametrize(("plain", "skip"), [(24, 24), (30, 13), (12_000, 12_000)])
def test_a_setting_has_none_of_the_hints_of_totals(tmp_path: Path, plain: int, skip: int) -> None:
    """Twice as many suggest no other model, a reading that is nearer is not named, and K is no slip of a unit."""
    found = {Setting.LAYERS: plain}, {Setting.LAYERS: skip}
    counts = {"host+3": Count(1, settings=found[0]), "host+3@skip": Count(1, settings=found[1])}
    check = settings(tmp_path, counts, BLOCK)["layers"]
    assert (check.verdict, check.hint_texts) == (Verdict.DIFFERS, ())


def test_a_setting_of_one_reading_and_a_total_of_the_other_have_no_hint(tmp_path: Path) -> None:
    row = BLOCK.replace("layers: 12,", "layers: 12, params: 5.00,")
    counts = {
        "host+3": Count(5_000_000, settings=FOUND),
        "host+3@skip": Count(6_000_000, settings={**FOUND, Setting.LAYERS: 11}),
    }
    found = settings(tmp_path, counts, row)
    assert [(found[name].verdict, found[name].hint_texts) for name in ("layers", "params")] == [
        (Verdict.REPRODUCED, ())
    ] * 2
