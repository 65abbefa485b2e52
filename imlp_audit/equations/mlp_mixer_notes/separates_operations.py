"""Mixer separates the two operations: its channel-mixing MLP works per location, its token-mixing MLP across locations.

Read as: the operations are the MLPs, as the next sentence says. In the token-mixing MLP some output depends on an input
of another token and none on one of another channel; in the channel-mixing MLP it is the other way round. Numbers are
positive, where no slope of GELU is near 0 and no two paths cancel. (The LayerNorm before token mixing does link
channels.)

Place: paragraph after the lists
Printed: The Mixer architecture clearly separates the per-location (channel-mixing) operations (i) and cross-location
    (token-mixing) operations (ii). Both operations are implemented with MLPs.
Bound: none: derivatives are exactly zero where no path leads
"""

from __future__ import annotations

from imlp_audit.equations.mixer_gmlp_coursework import mixer_in_turn

CLAIM = mixer_in_turn.CLAIM
