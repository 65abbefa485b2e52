"""Small papers written to a folder, and counts in place of models, so that checks run without a framework."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from imlp_audit.checks.context import Context
from imlp_audit.checks.judged_under import with_hypotheses
from imlp_audit.checks.run import models_needed, papers_to_judge, run_check
from imlp_audit.count.call import Operation
from imlp_audit.count.conventions import ParameterConvention
from imlp_audit.count.facts import Failure, ModelFacts, ModelKey, Need
from imlp_audit.count.record import Ledger, Peak
from imlp_audit.models.host import Setting
from imlp_audit.models.readings import Reading, ResMlpForm, ResMlpReading
from imlp_audit.spec.load import Selection, load
from imlp_audit.spec.paper import Paper
from imlp_audit.spec.plan import Plan, plan

SomeCheck: TypeAlias = Any
"""A check of the kind that a test is about: it reads what its kind has."""

ABOUT = """\
paper: {id}
about:
  title: A paper
  authors: An author
  version: v1
"""
AXES = """\
      agelu_parameters: {{value: per_channel, because: the text}}
      fc1_bias: {{value: yes, because: the text}}
      fc2_bias: {{value: yes, because: the text}}
      concat_norm: {{value: none, because: the text}}
      output_norm: {{value: none, because: the text}}
      depthwise_bias: {{value: yes, because: the text}}
      depthwise_norm: {{value: batch, because: the text}}
      depthwise_activation: {{value: gelu, because: the text}}
      depthwise_skip: {{value: {skip}, because: the text}}
      class_token: {{value: kept, because: the text}}
      resmlp_form: {{value: {form}, because: the text}}
"""
PLAIN, SKIP = AXES.format(skip="no", form="equations"), AXES.format(skip="yes", form="algorithm")
READINGS = f"  readings:\n    plain:\n{PLAIN}    skip:\n{SKIP}"
TABLE = """\
  - table: "{name}"
    title: Table {name}
    source: {{section: "1"}}
    columns:
      params: {{measure: parameters, unit: M, heading: Parameters (M)}}
      flops: {{measure: flops, unit: G, heading: FLOPs (G)}}
      top1: {{measure: score, unit: "%", heading: Top-1 (%), needs: trained weights and images}}
"""


@dataclass(frozen=True)
class Spec:
    """A paper in one file. Rows, further columns, and lines for `about`, the tables and the file's end are YAML."""

    rows: tuple[str, ...]
    more_rows: tuple[str, ...] = ()
    about: str = ""
    table: str = ""
    columns: tuple[str, ...] = ()
    end: str = ""
    id: str = "p"

    def text(self) -> str:
        """Write it, with the rows in Table 1 and `more_rows` in Table 2."""
        lines = [ABOUT.format(id=self.id), f"  {self.about}\n" if self.about else "", READINGS, "tables:\n"]
        for name, rows, more in (("1", self.rows, self.table), ("2", self.more_rows, "")):
            if rows:
                lines += [TABLE.format(name=name), *(f"      {column}\n" for column in self.columns)]
                lines += [f"    {more}\n" if more else "", "    rows:\n"]
                lines += [f"      - {row}\n" for row in rows]
        return "".join([*lines, self.end])


def write(root: Path, *specs: Spec) -> Selection:
    """Write papers, and load them as the command line does."""
    for spec in specs:
        folder = root / spec.id
        folder.mkdir(parents=True)
        (folder / "paper.yaml").write_text(spec.text(), encoding="utf-8")
    return load([str(root / spec.id) for spec in specs])


MLP = "blocks.0.mlp"


@dataclass(frozen=True)
class Count:
    """What is counted of a model; `mlp_*` is the part in its MLPs, `norms` counts by fvcore's weights alone.

    A model whose `head` is None is no classifier.
    """

    params: int
    macs: int = 0
    head: int | None = 0
    norms: int = 0
    mlp_params: int = 0
    mlp_macs: int = 0
    mlps: tuple[str, ...] = (MLP,)
    unknown: tuple[str, ...] = ()
    settings: Mapping[Setting, int] = field(default_factory=dict)
    peaks: Mapping[int, Peak] = field(default_factory=dict)

    def facts(self, need: Need) -> ModelFacts:
        """Return the facts, with a ledger and with peaks only where they were asked for."""
        ledger = Ledger(
            work={
                (MLP, Operation.LINEAR): self.mlp_macs,
                ("blocks.0.attn", Operation.LINEAR): self.macs - self.mlp_macs,
                ("blocks.0.norm1", Operation.LAYER_NORM): self.norms,
            },
            unknown=dict.fromkeys(self.unknown, 1),
        )
        parameters = {ParameterConvention.ALL: self.params}
        if self.head is not None:
            parameters[ParameterConvention.NO_HEAD] = self.params - self.head
        return ModelFacts(
            parameters, self.mlps, self.mlp_params,
            ledger=ledger if need.work else None,
            settings=self.settings,
            peaks={batch: self.peaks[batch] for batch in need.batches},
        )  # fmt: skip


Counts = Mapping[str, Count | None]  # None and models without an entry fail


def name(key: ModelKey) -> str:
    """Return a model's name in the counts: its host, ":32" for images of that side, "+3" for a block of kernel 3,
    "@skip" for that reading.
    """
    size = f":{key.recipe.image[0]}" if key.recipe.image else ""
    block = f"+{key.recipe.imlp.kernel}" if key.recipe.imlp else ""
    match key.reading:
        case Reading(depthwise_skip=skip):
            other = bool(skip)
        case ResMlpReading(resmlp_form=form):
            other = form is ResMlpForm.ALGORITHM
        case _:
            other = False
    return f"{key.recipe.host.value()}{size}{block}{'@skip' if other else ''}"


def counted(counts: Counts, key: ModelKey, need: Need) -> ModelFacts | Failure:
    """Return what is counted of a model, as far as it is needed."""
    named = name(key)
    count = counts[named] if named in counts else counts.get(named.removesuffix("@skip"))
    return Failure(f"no model {named}") if count is None else count.facts(need)


def made(plans: Sequence[Plan], papers: Sequence[Paper], counts: Counts, reading: str | None = None) -> list[SomeCheck]:
    """Make checks from the counts of those models that they say they need, and of no others."""
    needed = models_needed(plans, Context({}, reading))
    facts = {key: counted(counts, key, need) for key, need in needed.items()}
    context = with_hypotheses(Context(facts, reading), papers_to_judge(plans))
    return [run_check(one, context) for one in plans]


def run(selection: Selection, counts: Counts, reading: str | None = None) -> dict[str, SomeCheck]:
    """Make all checks of the papers."""
    plans = [one for paper in selection.papers for one in plan(paper, selection.known)]
    return {check.id: check for check in made(plans, selection.known, counts, reading)}


def checked(root: Path, counts: Counts, *specs: Spec, reading: str | None = None) -> dict[str, SomeCheck]:
    """Write papers and make their checks."""
    return run(write(root, *specs), counts, reading)
