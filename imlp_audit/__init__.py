"""Audits the numbers that machine-learning papers print."""

__version__ = "0.1.0"
