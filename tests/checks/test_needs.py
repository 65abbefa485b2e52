"""What each check needs measured: enough to be made alone, and for some kinds exactly how much."""

from __future__ import annotations

from pathlib import Path

import pytest

from imlp_audit.checks.context import Context
from imlp_audit.checks.run import models_needed
from imlp_audit.count.facts import Need
from imlp_audit.count.record import Peak
from imlp_audit.models.host import Setting
from imlp_audit.records.check import Check, Verdict
from imlp_audit.spec.plan import plan
from tests.checks.papers import Count, Counts, Spec, made, name, write

COLUMNS = (
    'layers: {measure: setting, of: layers, unit: "", heading: Layers}',
    "mem: {measure: memory, unit: MB, batch: 4, heading: Peak (MB), needs: the authors' GPU}",
    "more: {measure: memory, unit: MB, batch: 32, heading: Peak (MB), needs: the authors' GPU}",
)
BLOCK = "{timm: host, mlp: {imlp: {kernel: 5}}}"
ROWS = (
    "{id: a, label: A, model: {timm: host}, printed: {params: 5.00, flops: 1.00, layers: 12, mem: 100.0, top1: 70.0}}",
    f'{{id: b, label: B, mark: "*", baseline: a, model: {BLOCK}, printed: {{params: 4.00, flops: 0.90, top1: 71.0}},'
    " delta: {params: -20%, flops: -10%}}",
    "{id: c, label: C, baseline: b, model: {timm: other}, printed: {layers: 24, mem: 90.0, more: 800.0}}",
    "{id: d, label: D, model: {timm: broken}, baseline: a, printed: {flops: 9.00, layers: 8, mem: 1.0, top1: 70.0}}",
    "{id: e, label: E, baseline: d, model: {timm: other}, printed: {params: 1.00, flops: 1.00}, delta: {flops: 0%}}",
    "{id: f, label: F, model: {timm: never_built}, printed: {top1: 70.0}}",
)
CHANGES = "marked: {mlp: {imlp: {kernel: 5}}}, otherwise: {mlp: {imlp: {kernel: 3}}}"
FOOTNOTE = f'footnote: {{mark: "*", meaning: kernel 5, {CHANGES}, decided_by: params}}'
END = """\
claims:
  - {id: share, text: t, source: {section: "1"}, rows: [p/1/a, p/1/b], order: {mlp_share: flops, direction: decreasing}}
  - {id: ratio, text: t, source: {section: "1"}, rows: [p/1/a], conditions: [{ratio: flops, against: p/1/d, below: 1}]}
  - id: input
    text: t
    source: {section: "1"}
    rows: [p/1/a, p/1/e]
    input: {size: 64, decided_by: flops, tried: {a: [32, 96]}}
  - {id: average, text: t, source: {section: "1"}, average: {cell: p/1/a/top1, of: [p/1/d/top1], count: 2}}
"""
PAPER = Spec(
    ROWS,
    ("{id: a, label: A, repeats: p/1/a, printed: {params: 5.00}}",),
    "flops: [macs, fvcore]",
    FOOTNOTE,
    COLUMNS,
    END,
)


def count(millions: int, layers: int = 12) -> Count:
    peaks = {4: Peak(100 * 2**20, 0), 32: Peak(800 * 2**20, 0)}
    return Count(
        millions * 10**6, macs=millions * 2 * 10**8, mlp_macs=10**8, settings={Setting.LAYERS: layers}, peaks=peaks
    )


COUNTS: Counts = {
    "host": count(5),
    "host+3": count(6),
    "host+5": count(4),
    "other": count(1, 24),
    "host:64": count(5),
    "host:32": count(5),
    "host:96": count(5),
    "other:64": count(5),
    "broken": None,
}


def needed(root: Path, spec: Spec, *ids: str) -> dict[str, Need]:
    """What some checks of a paper need together."""
    selection = write(root, spec)
    chosen = [one for one in plan(selection.papers[0], selection.known) if one.id in ids]
    assert len(chosen) == len(ids)
    return {name(key): need for key, need in models_needed(chosen, Context({})).items()}


def told(check: Check) -> tuple[object, ...]:
    return tuple(getattr(check, name, None) for name in ("id", "verdict", "reason", "measured", "hints", "also"))


def test_every_check_can_be_made_alone(tmp_path: Path) -> None:
    """From no more than what it says it needs, with the result that it has among all others."""
    selection = write(tmp_path, PAPER)
    plans = plan(selection.papers[0], selection.known)
    together = [told(check) for check in made(plans, selection.known, COUNTS)]
    alone = [told(check) for one in plans for check in made([one], selection.known, COUNTS)]
    assert alone == together
    verdicts = {verdict for _, verdict, *_ in together}
    assert verdicts == {Verdict.REPRODUCED, Verdict.DIFFERS, Verdict.ERROR, Verdict.UNVERIFIABLE, Verdict.INCONSISTENT}


PARAMETERS, WORK = Need(), Need(work=True)
# A cell is judged together with the others that can be counted, so their models are needed too.
VOTERS = dict.fromkeys(["host", "host+5", "host+5@skip", "broken", "other"], WORK)


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (["1/a/params"], VOTERS),
        (["1/a/layers"], {"host": PARAMETERS}),
        (["1/a/layers", "1/a/flops"], VOTERS),
        (["1/a/mem"], {"host": Need(batches=frozenset({4}))}),
        (["1/c/layers", "1/c/mem", "1/c/more"], {"other": Need(batches=frozenset({4, 32}))}),
        (["1/a/flops", "1/a/mem"], {**VOTERS, "host": Need(work=True, batches=frozenset({4}))}),
        (["1/a/top1"], {}),
        (["1/b/flops.delta"], {}),
        (["1/b/flops.delta.measured"], VOTERS),
        (["marks/1/b"], {**dict.fromkeys(["host+3", "host+3@skip"], PARAMETERS), **VOTERS}),
        (["repeats/2/a/params"], {}),
        (["columns/1"], VOTERS),
        (["claims/share"], VOTERS),
        (["claims/ratio"], {}),
        (["claims/average"], {}),
        (["claims/input"], {**dict.fromkeys(["host:64", "host:32", "host:96", "other:64"], WORK), **VOTERS}),
    ],
)
def test_what_a_check_needs(tmp_path: Path, ids: list[str], expected: dict[str, Need]) -> None:
    assert needed(tmp_path, PAPER, *(f"p/{one}" for one in ids)) == expected


def test_needs_add_up() -> None:
    four, more = Need(batches=frozenset({4})), Need(work=True, batches=frozenset({4, 32}))
    assert four | more == more | four == more
    assert Need() | four == four
    assert four | Need(batches=frozenset({32})) == Need(batches=frozenset({4, 32}))
    assert Need() | Need(work=True) == Need(work=True)
