"""Measuring a model: the operation ledger, parameters, and the real fvcore for comparison."""
