"""Claims of "ResMLP: Feedforward networks for image classification with data-efficient training"."""
