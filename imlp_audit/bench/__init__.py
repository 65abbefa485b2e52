"""Timing models against each other, and what that says about printed throughput."""
