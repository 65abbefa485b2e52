"""Formats: pure functions from a result to text."""
