"""Which reading and which counting explain the printed numbers: an exact search, and how sure its answer is."""
