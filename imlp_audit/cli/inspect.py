"""`imlp-audit inspect`."""

from __future__ import annotations

from functools import partial

from imlp_audit.checkpoint.contents import Checkpoint, hash_file, parse_states
from imlp_audit.cli.loading import load_specs
from imlp_audit.cli.options import CheckpointFile, Formatted, NoProgress, Prefix, Specs, State, TrustCode
from imlp_audit.cli.output import ExitCode, emit_document
from imlp_audit.cli.progress import show_progress
from imlp_audit.records.checkpoint import Inspection
from imlp_audit.report.formats import Format
from imlp_audit.spec.load import Selection


def inspect(
    checkpoint: CheckpointFile,
    specs: Specs = None,
    state: State = None,
    prefix: Prefix = "",
    format_: Formatted = Format.RICH,
    trust_code: TrustCode = False,
    no_progress: NoProgress = False,
) -> int:
    """Identify a checkpoint: which rows and readings of the papers its shapes fit, and what its weights show."""
    states = parse_states(checkpoint, state, prefix)  # bad files are refused before torch is imported
    selection = load_specs(specs, trust_code=trust_code)
    from imlp_audit.inspect.document import checkpoint_document
    from imlp_audit.inspect.matching_rows import choose_candidates, report_checkpoint

    sha256 = hash_file(states[0])
    with show_progress(shown=not no_progress) as announce:
        number, candidates = choose_candidates([one.shapes for one in states], selection, announce)
    parsed = states[number]
    weights = _judge_weights(parsed, selection, trust_code=trust_code)
    report = report_checkpoint(parsed, sha256, candidates, weights)
    emit_document(checkpoint_document(report, str(checkpoint)), format_, report)
    return ExitCode.CLEAN if candidates.exact else ExitCode.FINDINGS


def _judge_weights(checkpoint: Checkpoint, selection: Selection, *, trust_code: bool) -> Inspection:
    """Return what papers say about learned weights, judged by these."""
    from imlp_audit.checkpoint.loading import read_tensors
    from imlp_audit.inspect.learned_weights import WeightsToJudge, explain_untrained, judge_claims, list_claims

    tensors = read_tensors(checkpoint)
    untrained = explain_untrained(tensors)
    weights = WeightsToJudge(tensors, partial(read_tensors, checkpoint), untrained)
    statements = tuple(judge_claims(list_claims(selection), weights, trust_code=trust_code))
    return Inspection(statements=statements, untrained=untrained)
