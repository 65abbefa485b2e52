"""One check in words and numbers: what was compared with what, and where a gap comes from."""
