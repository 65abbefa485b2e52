"""The paper against itself: interval arithmetic over printed numbers, without a model."""
