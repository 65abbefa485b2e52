"""Claims of "Improving MLP Module in Vision Transformer" (IMLP)."""
