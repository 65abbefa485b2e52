"""Turns planned checks and measured facts into verdicts."""
