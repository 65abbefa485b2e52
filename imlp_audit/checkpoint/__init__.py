"""Files of weights: what they hold, and whether that fits a model. Nothing in them is ever run."""
