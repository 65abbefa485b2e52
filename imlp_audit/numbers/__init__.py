"""Printed numbers and the exact intervals they stand for."""
