"""Formulas that a paper's spec writes as plain text, and how a page shows those that are surely understood."""
