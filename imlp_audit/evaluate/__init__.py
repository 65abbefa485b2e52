"""Running checkpoints over images, and what that says about printed accuracy."""
