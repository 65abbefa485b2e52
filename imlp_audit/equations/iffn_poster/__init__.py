"""Claims of the poster of "Enhancing Vision Transformer: Amplifying Non-Linearity in Feedforward Network Module"."""
