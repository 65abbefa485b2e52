"""Results made by hand for reports: every kind and verdict, with any text where a paper's text stands."""

from __future__ import annotations

from pydantic import TypeAdapter

from imlp_audit.records.check import Caught, Check, CheckKind, Measurement, Power, Source, Verdict
from imlp_audit.records.finding import Finding, FindingKind, StaleEntry
from imlp_audit.records.result import (
    AuditResult,
    AxisHead,
    ColumnHead,
    ColumnScore,
    CounterHead,
    GroupScore,
    PaperHead,
    PaperHypothesis,
    ReadingHead,
    RowHead,
    TableHead,
)

HOSTILE = (
    "a | b",
    "a \\| b",
    "ends with \\",
    "`code` and ``more``",
    "<script>alert(1)</script>",
    "<b>",
    "# heading",
    "line one\nline two",
    "line one\r\n\r\n# line two",
    "- item",
    "1. item",
    "+ IMLP",
    "***",
    "_under_ *star* ~~struck~~",
    "[link](https://example.org)",
    "![image](x.png)",
    "[/bold] [red]rich[/] [",
    ":fire: :warning:",
    "<!-- comment -->",
    "&lt;b&gt; &amp; &copy;",
    "| --- |",
    "$x_1$ \\alpha",
    "https://example.org/a_b",
    "a text that is far longer than a narrow terminal is wide, and must not be broken up or cut short there",
    "Ünïcödé 中文 “quotes”",
)
BENIGN = "plain words"
_CHECK: TypeAdapter[Check] = TypeAdapter(Check)


def check(name: str, kind: CheckKind, verdict: Verdict, text: str = BENIGN, **more: object) -> Check:
    document = {
        "id": f"p/{name}",
        "kind": kind,
        "verdict": verdict,
        "reason": text,
        "source": Source(file="specs/p/paper.yaml", line=7),
        **more,
    }
    return _CHECK.validate_python(document)


def head(text: str = BENIGN, paper: str = "p") -> PaperHead:
    return PaperHead(
        id=paper,
        title=text,
        authors=text,
        version=text,
        url="https://example.org/p",
        rounding=("half_up",),
        parameters=("all",),
        flops=("fvcore", "macs"),
        readings=(ReadingHead(name="as_written", axes=(AxisHead(axis="fc1_bias", value="yes", because=text),)),),
        tables=(
            TableHead(
                id="1",
                title=text,
                columns=(ColumnHead(id="params", heading=text, unit="M"), ColumnHead(id="top1", heading="T", unit="%")),
                rows=tuple(RowHead(id=f"r{i}", label=text) for i in range(len(Verdict))),
            ),
        ),
    )


def result(text: str = BENIGN) -> AuditResult:
    """A result that has each verdict in a cell, a cell's changes, and a check of each other kind."""
    also = (Measurement(reading="released", convention="all", measured="5000000", verdict=Verdict.DIFFERS),)
    numbers = {"printed": "5.72", "unit": "M", "measured": "5717416", "gap": "-0.3", "also": also, "hints": (text,)}
    checks = [
        check(f"1/r{i}/params", CheckKind.CELL, verdict, text, **(numbers if verdict is not Verdict.ERROR else {}))
        for i, verdict in enumerate(Verdict)
    ]
    checks += [
        check("1/r0/params.delta", CheckKind.DELTA, Verdict.INCONSISTENT, text, printed="-12.6%"),
        check("1/r0/params.delta.measured", CheckKind.DELTA, Verdict.REPRODUCED_UNDER, text, printed="-12.6%"),
        check("1/r1/top1", CheckKind.CELL, Verdict.UNVERIFIABLE, text, printed="72.2", unit="%"),
    ]
    others = [kind for kind in CheckKind if kind not in (CheckKind.CELL, CheckKind.DELTA)]
    for kind in others:
        for name, verdict in (
            ("reproduced", Verdict.REPRODUCED),
            ("differs", Verdict.DIFFERS),
            ("acknowledged", Verdict.DIFFERS),
        ):
            more: dict[str, object] = {"printed": text}
            if kind in (CheckKind.CLAIM, CheckKind.EQUATION):
                more |= {"statement": text}
            if kind is CheckKind.EQUATION:
                more |= {"place": text, "examples": 20}
            if kind is CheckKind.EQUATION and verdict is not Verdict.REPRODUCED:
                more |= {"counterexample": (text, "y = 1"), "hints": (text,)}
            if name == "acknowledged":
                more |= {"finding": "known", "acknowledged": True}
            middle = "1/" if kind in (CheckKind.REPEAT, CheckKind.MARK, CheckKind.COLUMN) else ""
            checks.append(check(f"{kind.value}s/{middle}{name}", kind, verdict, text, **more))
    known = Finding(
        id="known",
        paper="p",
        title=text,
        kind=FindingKind.NOTE,
        why=text,
        checks=tuple(one.id for one in checks if one.finding == "known"),
        acknowledged=True,
    )
    stale = StaleEntry(check="p/1/gone/params", problem="gone", reason=text, source=Source(file="p.lock", line=3))
    return AuditResult(
        papers=(head(text),), versions={"torch": "2.6"}, checks=tuple(checks), findings=(known,), stale=(stale,)
    )


def mixed(text: str = BENIGN) -> AuditResult:
    """A column whose three rows state counters of their own: one fvcore, two macs."""
    table, *_ = head(text).tables
    own = [CounterHead(measure="flops", convention=name, because=text) for name in ("fvcore", "macs", "macs")]
    rows = tuple(RowHead(id=f"r{at}", label=text, counters=(one,)) for at, one in enumerate(own))
    columns = (ColumnHead(id="f", heading=text, unit="G", measure="flops"),)
    paper = head(text).model_copy(update={"tables": (table.model_copy(update={"columns": columns, "rows": rows}),)})
    cells = tuple(check(f"1/r{at}/f", CheckKind.CELL, Verdict.REPRODUCED, text, printed="1.0") for at in range(3))
    return AuditResult(papers=(paper,), versions={}, checks=cells)


def full(text: str = BENIGN) -> AuditResult:
    """The same with a hypothesis, a fitted and weak pass, and evidence of every field that a cell can have."""
    plain = result(text)
    caught = Power(one=Caught(caught=40, tried=40), ten=Caught(caught=395, tried=400))
    scores = {"macs": 22, "fvcore": 3}
    flops = GroupScore(name="1/params", winner="macs", votes=22, scores=scores, chance=4, choice="clear")
    reading = GroupScore(
        name="p", winner="as_written", votes=22, scores={"as_written": 20, text: 3}, chance=4, choice="weak"
    )
    column = ColumnScore(group=flops, passing=20, by_chance="2.4", power=caught)
    judged = PaperHypothesis(rounding="half_up", explained=22, votes=22, readings=(reading,), columns=(column,))
    more = {"reading": "as_written", "convention": text, "rounding": "half_up", "power": caught}
    marked = {"p/1/r0/params": more, "p/1/r1/params": {**more, "weak": True, "fitted": True, "under": (text,)}}
    checks = tuple(one.model_copy(update=marked.get(one.id, {})) for one in plain.checks)
    return plain.model_copy(update={"checks": checks, "hypotheses": {"p": judged}})


def _known(one: Check, values: dict[str, object]) -> dict[str, object]:
    """Return the values that a check of its kind has."""
    return {name: value for name, value in values.items() if name in type(one).model_fields}


def everywhere(text: str) -> AuditResult:
    """The same with the text in every field of a check that may hold one, in a file's name and in an id."""
    more: dict[str, object] = {"unit": text, "measured": text, "gap": text, "printed": text, "place": text}
    more["source"] = Source(file=text, line=7)
    whole = full(text)
    named = check(f"claims/{text}", CheckKind.CLAIM, Verdict.DIFFERS, text)
    checks = (*(one.model_copy(update=_known(one, more)) for one in whole.checks), named)
    stale = tuple(one.model_copy(update={"check": text, "source": Source(file=text, line=3)}) for one in whole.stale)
    return whole.model_copy(update={"checks": checks, "stale": stale})
