"""Looking into checkpoints: which row they fit, and what their weights show."""
