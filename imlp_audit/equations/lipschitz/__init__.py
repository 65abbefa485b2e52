"""Bounds on the Lipschitz constant of the AMLP module (IMLP, Sec. 4.2): proven upper bounds, and a lower bound."""
