"""Tables in LaTeX: a reader of tabulars, not of all of TeX."""
