"""Holds every number that a document prints against the specs of its paper."""
