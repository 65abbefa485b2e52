"""Counting a model: its ledger of operations, its parameters, its memory."""

from imlp_audit.calling import make_callable

make_callable(__name__, "imlp_audit.measure.own:measure_model")
