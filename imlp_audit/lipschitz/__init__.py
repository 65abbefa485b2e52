"""Bounds on the Lipschitz constant of the AMLP module (IMLP, Sec. 4.2): certified from above, found from below."""
