"""The names that publishers' code gives to a model's tensors, and ours for them: a table for each code base."""
