"""Counting a model: its ledger of operations, its parameters, its memory."""
