"""Processes of our own, and how this one ends."""
